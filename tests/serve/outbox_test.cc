#include "host/serve/outbox.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "absl/time/clock.h"
#include "tests/testing/own_memory.h"

namespace cellar::host {
namespace {

class OutboxTest : public testing::Test {
 protected:
  void RunUntil(const std::function<bool()>& predicate) {
    const absl::Time deadline = absl::Now() + absl::Seconds(20);
    while (!predicate()) {
      ASSERT_LT(absl::Now(), deadline);
      loop_->After(absl::Milliseconds(1), [this] { loop_->Stop(); });
      loop_->Run();
    }
  }

  // A reader that takes a little at a time.
  std::string ReadAll(Outbox& outbox, size_t step) {
    std::string read;
    RunUntil([&] {
      while (!outbox.front().empty()) {
        const std::string_view part = outbox.front().substr(0, step);
        read += part;
        outbox.Pop(part.size());
      }
      return outbox.empty();
    });
    return read;
  }

  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create();
};

TEST_F(OutboxTest, GivesBackWhatWentThroughTheFileInOrder) {
  Outbox outbox(*loop_, {.memory_bytes = 100}, [] {});
  std::string pushed;
  for (int i = 0; i < 5000; ++i) {
    const std::string line = "line " + std::to_string(i) + std::string(i % 50, 'x') + "\n";
    pushed += line;
    outbox.Push(line);
    if (i % 700 == 0) RunUntil([] { return true; });
  }
  EXPECT_LE(outbox.front().size(), 200u);
  EXPECT_EQ(ReadAll(outbox, 997), pushed);
  outbox.Push("again");
  EXPECT_EQ(outbox.front(), "again");
}

TEST_F(OutboxTest, AReaderThatIsAlwaysALittleBehindTakesNoMemory) {
  Outbox outbox(*loop_, {}, [] {});
  outbox.Push("behind");
  const std::string line(64u << 10, 'x');
  const PeakGrowth growth;
  for (int i = 0; i < 5000; ++i) {
    outbox.Push(line);
    outbox.Pop(line.size());
  }
  EXPECT_EQ(outbox.front(), "xxxxxx");
  EXPECT_LT(growth.bytes(), 16 << 20);  // of the 320 MiB that went through
}

TEST_F(OutboxTest, FailsWhenTheReaderIsTooFarBehind) {
  bool told = false;
  Outbox outbox(*loop_, {.memory_bytes = 10, .file_bytes = 1000}, [&] { told = true; });
  for (int i = 0; i < 50; ++i) outbox.Push(std::string(30, 'x'));
  RunUntil([&] { return told; });
  EXPECT_EQ(outbox.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(OutboxTest, CanBeDestroyedWhileItSaves) {
  Outbox outbox(*loop_, {.memory_bytes = 10}, [] { FAIL(); });
  outbox.Push(std::string(30, 'x'));
  outbox.Push(std::string(1 << 20, 'x'));
}

}  // namespace
}  // namespace cellar::host
