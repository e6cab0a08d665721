#include "tests/bench/limits.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/synchronization/notification.h"
#include "host/base/fds.h"
#include "tests/bench/processes.h"

namespace cellar::bench {
namespace {

void WaitFor(int fd) {
  pollfd readable = {fd, POLLIN, 0};
  poll(&readable, 1, -1);
}

}  // namespace

ProcessPingPong::ProcessPingPong() {
  auto sockets = MakeSocketPair(SOCK_STREAM);
  if (!sockets.ok()) Fail("making a socket pair");
  child_ = fork();
  if (child_ < 0) Fail("forking");
  if (child_ == 0) {
    sockets->first.reset();
    const int socket = sockets->second.get();
    char byte;
    while (true) {
      WaitFor(socket);
      if (recv(socket, &byte, 1, 0) != 1) _exit(0);
      if (send(socket, &byte, 1, MSG_NOSIGNAL) != 1) _exit(0);
    }
  }
  socket_ = std::move(sockets->first);
}

ProcessPingPong::~ProcessPingPong() {
  socket_.reset();
  waitpid(child_, nullptr, 0);
}

void ProcessPingPong::RoundTrip() {
  char byte = 'x';
  if (send(socket_.get(), &byte, 1, MSG_NOSIGNAL) != 1) Fail("sending a byte");
  WaitFor(socket_.get());
  if (recv(socket_.get(), &byte, 1, 0) != 1) Fail("receiving a byte");
}

struct HandedOverPingPong::Request {
  absl::Notification done;
};

HandedOverPingPong::HandedOverPingPong(ProcessPingPong& ping_pong)
    : wake_(eventfd(0, EFD_CLOEXEC)), thread_([this, &ping_pong] { Serve(ping_pong); }) {}

HandedOverPingPong::~HandedOverPingPong() {
  eventfd_write(wake_.get(), 1);  // without a request: the end
  thread_.join();
}

void HandedOverPingPong::RoundTrip() {
  Request request;
  request_ = &request;
  eventfd_write(wake_.get(), 1);
  request.done.WaitForNotification();
}

void HandedOverPingPong::Serve(ProcessPingPong& ping_pong) {
  while (true) {
    WaitFor(wake_.get());
    eventfd_t ignored;
    eventfd_read(wake_.get(), &ignored);
    Request* request = std::exchange(request_, nullptr);
    if (request == nullptr) return;
    ping_pong.RoundTrip();
    request->done.Notify();
  }
}

}  // namespace cellar::bench
