// What the machine itself takes for the wake-ups of a cell, without Python and without cellar: the
// limits that the round trip of a cell is measured against.
#pragma once

#include <sys/types.h>

#include <thread>

#include "host/base/unique_fd.h"

namespace cellar::bench {

// Two processes that send each other one byte over a socket pair, each woken by poll. Make it
// before the program has threads: it forks.
class ProcessPingPong {
 public:
  ProcessPingPong();
  ~ProcessPingPong();
  ProcessPingPong(const ProcessPingPong&) = delete;
  ProcessPingPong& operator=(const ProcessPingPong&) = delete;

  void RoundTrip();

 private:
  pid_t child_;
  UniqueFd socket_;
};

// The same, asked for by a thread that hands the work to another one (woken by poll on an eventfd)
// and waits for its word, as a blocking call into a host does.
class HandedOverPingPong {
 public:
  explicit HandedOverPingPong(ProcessPingPong& ping_pong);
  ~HandedOverPingPong();
  HandedOverPingPong(const HandedOverPingPong&) = delete;
  HandedOverPingPong& operator=(const HandedOverPingPong&) = delete;

  void RoundTrip();

 private:
  struct Request;

  void Serve(ProcessPingPong& ping_pong);

  UniqueFd wake_;
  Request* request_ = nullptr;  // written before the wake-up, read after it
  std::thread thread_;
};

}  // namespace cellar::bench
