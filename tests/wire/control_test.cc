#include "host/wire/control.h"

#include <sys/socket.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "host/base/fds.h"
#include "host/wire/keeper_messages.h"
#include "host/wire/template_messages.h"

namespace cellar::wire {
namespace {

class ControlTest : public ::testing::Test {
 protected:
  std::pair<UniqueFd, UniqueFd> sockets_ = *MakeSocketPair(SOCK_SEQPACKET);
  int near() const { return sockets_.first.get(); }
  int far() const { return sockets_.second.get(); }
};

TEST_F(ControlTest, CarriesAMessageWithItsDescriptors) {
  Pipe pipe = *MakePipe();
  ASSERT_TRUE(SendControl(near(), Kill{.worker_pid = 9}, {pipe.write.get()}).ok());
  auto message = ReceiveControl(far());
  ASSERT_TRUE(message.ok() && *message);
  EXPECT_EQ((*message)->type, MessageType::kKill);
  EXPECT_EQ(Decode<Kill>((*message)->payload)->worker_pid, 9);
  ASSERT_EQ((*message)->fds.size(), 1u);
  ASSERT_EQ(write((*message)->fds[0].get(), "x", 1), 1);
  char byte;
  EXPECT_EQ(read(pipe.read.get(), &byte, 1), 1);
}

TEST_F(ControlTest, ReportsThePeersEndAsUnavailable) {
  sockets_.first.reset();
  EXPECT_EQ(ReceiveControl(far()).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(SendControl(far(), Kill{}).code(), absl::StatusCode::kUnavailable) << "and no SIGPIPE";
}

TEST_F(ControlTest, HasNothingWhenANonBlockingSocketIsEmpty) {
  ASSERT_TRUE(SetNonBlocking(far(), true).ok());
  auto message = ReceiveControl(far());
  ASSERT_TRUE(message.ok());
  EXPECT_FALSE(message->has_value());
}

TEST_F(ControlTest, RefusesAPacketTooShortToBeAMessage) {
  ASSERT_EQ(send(near(), "x", 1, 0), 1);
  EXPECT_EQ(ReceiveControl(far()).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(ControlTest, RefusesToSendWhatThePeerWouldNotTake) {
  Start start = {.executable = std::string(kMaxControlMessage + 1, 'x')};
  EXPECT_EQ(SendControl(near(), start).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace cellar::wire
