#include "host/console/block_screen.h"

#include <unistd.h>

#include "gtest/gtest.h"
#include "host/base/fds.h"

namespace cellar::host {
namespace {

class BlockScreenTest : public ::testing::Test {
 protected:
  BlockScreenTest() : pipe_(*MakePipe()), screen_(pipe_.write.get()) {}

  // What was written since the last time.
  std::string Written() {
    char buffer[4096];
    const ssize_t size = read(pipe_.read.get(), buffer, sizeof(buffer));
    return std::string(buffer, size > 0 ? static_cast<size_t>(size) : 0);
  }

  Pipe pipe_;
  BlockScreen screen_;
};

constexpr ScreenSize kSize = {.rows = 3, .columns = 10};

TEST_F(BlockScreenTest, OnlyRowsThatDifferAreWritten) {
  screen_.Show({.rows = {"one", "two"}, .cursor_row = 1, .cursor_column = 3}, kSize);
  EXPECT_EQ(Written(), "\x1b[?25l\rone\x1b[K\r\ntwo\x1b[K\r\x1b[3C\x1b[?25h");
  screen_.Show({.rows = {"one", "twos"}, .cursor_row = 1, .cursor_column = 4}, kSize);
  EXPECT_EQ(Written(), "\x1b[?25l\r\x1b[1A\r\ntwos\x1b[K\r\x1b[4C\x1b[?25h");
}

TEST_F(BlockScreenTest, RowsThatAreNoLongerThereAreErased) {
  screen_.Show({.rows = {"one", "two"}}, kSize);
  Written();
  screen_.Show({.rows = {"one"}}, kSize);
  EXPECT_EQ(Written(), "\x1b[?25l\r\r\n\x1b[J\x1b[1A\r\x1b[?25h");
}

TEST_F(BlockScreenTest, OfABlockThatIsTooHighTheRowsAroundTheCursorAreShown) {
  screen_.Show({.rows = {"a", "b", "c", "d", "e"}, .cursor_row = 3}, kSize);
  EXPECT_EQ(Written(), "\x1b[?25l\rb\x1b[K\r\nc\x1b[K\r\nd\x1b[K\r\x1b[?25h");
}

TEST_F(BlockScreenTest, AfterNarrowingTheBlockBeginsFurtherUp) {
  screen_.Show({.rows = {"12345678", "\x1b[32m123456\x1b[0m"}, .cursor_row = 1, .cursor_column = 6},
               kSize);
  Written();
  screen_.OnResize(4);
  EXPECT_EQ(Written(), "\r\x1b[3A\x1b[J");
}

TEST_F(BlockScreenTest, LeavingGoesBelowTheBlock) {
  screen_.Show({.rows = {"a", "b"}, .cursor_row = 0}, kSize);
  Written();
  screen_.Leave();
  EXPECT_EQ(Written(), "\x1b[1B\r\n");
  screen_.Leave();
  EXPECT_EQ(Written(), "");
}

}  // namespace
}  // namespace cellar::host
