// What a disk that stands still does to the output of a session.
#include "tests/eval/calls_test.h"
#include "tests/output/spill_testing.h"

namespace cellar::host {
namespace {

using StalledDiskTest = CallsTest;

TEST_F(StalledDiskTest, DoesNotHoldUpTheOutputOfLaterCells) {
  StalledDisk disk;
  // More than may wait for the disk, so that output is paused; what is left fits into the ring, so
  // that the cell ends all the same.
  auto first = Submit({.session = "a",
                       .cells = {{.code = "import os, time\nprint('x' * 100_000)\n"
                                          "while not os.path.exists('go'): time.sleep(0.01)\n"
                                          "for i in range(25): print('x' * 100_000)"}}});
  RunUntil([&] { return disk.has_writer(); });
  std::ofstream(directory_ / "go") << "";
  const absl::StatusOr<CallResult> ended = Finish(*first);
  ASSERT_TRUE(ended.ok()) << ended.status();
  ASSERT_EQ(ended->cells[0].outcome.truncation->error, "not yet written");
  disk.Release();
  EXPECT_EQ(Value("a", "for i in range(100): print('x' * 100_000)\n'printed'"), "'printed'");
}

}  // namespace
}  // namespace cellar::host
