// Tests of inventory.py. Each has a session of its own, in which the module is already imported.
#include "cellar/testing.h"

namespace {

using ::cellar::testing::Fails;
using ::cellar::testing::Prints;
using ::cellar::testing::ResultIs;
using ::cellar::testing::Succeeds;

class InventoryTest : public cellar::testing::CellTest {
 protected:
  cellar::SessionOptions Options() override { return {.sys_path = {PYTHON_DIR}}; }

  void SetUp() override {
    CellTest::SetUp();
    ASSERT_THAT(Run("from inventory import Inventory\nstock = Inventory()"), Succeeds());
  }
};

TEST_F(InventoryTest, CountsWhatIsLeft) {
  Run("stock.add('apple', 3)");
  EXPECT_THAT(Run("stock.take('apple')"), ResultIs("2"));
}

TEST_F(InventoryTest, RefusesWhatIsNotThere) {
  EXPECT_THAT(Run("stock.take('pear')"), Fails("OutOfStock"));
}

TEST_F(InventoryTest, ReportsInOrder) {
  Set("items", {"pear", "apple", "pear"});
  Run("for item in items: stock.add(item)");
  EXPECT_THAT(Run("stock.report()"), Prints("apple: 1\npear: 2\n"));
}

}  // namespace
