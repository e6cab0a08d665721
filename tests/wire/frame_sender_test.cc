#include "host/wire/frame_sender.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "host/base/fds.h"

namespace cellar::wire {
namespace {

TEST(FrameSenderTest, WhatHasNoRoomIsSentInItsOrderWhenThereIs) {
  auto loop = *EventLoop::Create();
  auto [ours, theirs] = *MakeSocketPair(SOCK_STREAM);
  FrameSender sender(*loop, ours.get(), EPOLLIN);
  ASSERT_TRUE(loop->Watch(ours.get(), EPOLLIN,
                          [&](uint32_t events) {
                            if ((events & EPOLLOUT) != 0) sender.Flush();
                          })
                  .ok());
  const std::vector<std::string> frames = {"first", std::string(8u << 20, 'x'), "last"};
  std::string all;
  for (const std::string& frame : frames) {
    all += frame;
    sender.Send(frame);
  }
  EXPECT_FALSE(sender.is_flushed());
  std::string received;
  std::vector<char> buffer(256u << 10);
  const absl::Time deadline = absl::Now() + absl::Seconds(30);
  while (received.size() < all.size() && absl::Now() < deadline) {
    loop->Post([&] { loop->Stop(); });
    loop->Run();
    const ssize_t size = recv(theirs.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size > 0) received.append(buffer.data(), static_cast<size_t>(size));
  }
  EXPECT_TRUE(received == all);
  EXPECT_TRUE(sender.is_flushed());
  loop->Unwatch(ours.get());
}

}  // namespace
}  // namespace cellar::wire
