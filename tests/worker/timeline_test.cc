#include "host/worker/timeline.h"

#include <string>

#include "gtest/gtest.h"
#include "host/base/fds.h"

namespace cellar::host {
namespace {

// More than the kernel takes at once, so that a pipe that was read is full again.
const std::string kMuch(1 << 20, 'x');
constexpr int kEndless = 1000;  // times that it is filled again

// A worker whose fd 1 is written to as fast as the host reads.
class TimelineTest : public ::testing::Test {
 protected:
  TimelineTest() {
    EXPECT_TRUE(SetNonBlocking(out_.write.get(), true).ok());
    Fill();
  }

  void Fill() { (void)!write(out_.write.get(), kMuch.data(), kMuch.size()); }

  Pipe out_ = *MakePipe();
  Pipe err_ = *MakePipe();
  UniqueFd memory_ = *MakeSealedMemory("ring", wire::kRingMemorySize);
  wire::RingMemory worker_ring_ = *wire::RingMemory::Map(memory_.get());
  wire::RingWriter writer_{worker_ring_};
  int filled_ = 0;
  Timeline timeline_{*wire::RingMemory::Map(memory_.get()), std::move(out_.read),
                     std::move(err_.read), [this](uint32_t, wire::StreamId, std::string_view) {
                       if (++filled_ < kEndless) Fill();
                     }};
};

TEST_F(TimelineTest, AForgedPositionOfARecordDoesNotKeepTheHostReadingForEver) {
  ASSERT_TRUE(writer_.TryWrite(wire::StreamId::kStdout, 1, "forged",
                               wire::Position{.out = 1ull << 62, .err = 1ull << 62}));
  EXPECT_TRUE(timeline_.Drain([] {}).ok());
  EXPECT_LT(filled_, kEndless);
}

TEST_F(TimelineTest, AForgedPositionOfAFrameDoesNotKeepTheHostReadingForEver) {
  EXPECT_TRUE(timeline_.DrainTo({.out = 1ull << 62, .err = 1ull << 62}).ok());
  EXPECT_LT(filled_, kEndless);
}

}  // namespace
}  // namespace cellar::host
