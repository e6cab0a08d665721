#include "embed/fork_guard.h"

#include <pthread.h>

#include <cstdio>

namespace cellar::embed {
namespace {

bool g_forked_child = false;

// What C code has left in stdout's buffer would otherwise be written by both processes.
void FlushCOutput() {
  if (ftrylockfile(stdout) != 0) return;
  fflush_unlocked(stdout);
  funlockfile(stdout);
}

}  // namespace

void ArmForkGuard() {
  pthread_atfork(FlushCOutput, nullptr, [] { g_forked_child = true; });
}

bool IsForkedChild() { return g_forked_child; }

void LeaveForkGuard() { g_forked_child = false; }

}  // namespace cellar::embed
