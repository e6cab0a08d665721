// While it lives, this thread takes no signals, and neither does any thread that it starts, ever: a
// program's handlers expect the program's own threads.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace cellar {

class SignalBlock {
 public:
  SignalBlock() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalBlock() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

 private:
  sigset_t before_;
};

}  // namespace cellar
