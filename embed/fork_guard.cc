#include "embed/fork_guard.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

namespace cellar::embed {
namespace {

// True in the worker. On a page that the kernel wipes in a child, so that one is known also when it
// was forked behind the back of the C library, by _Fork() or the bare system call.
std::atomic<bool>* g_is_worker = nullptr;
std::atomic<bool> g_unwiped = false;  // where there is no such page

// What C code has left in stdout's buffer would otherwise be written by both processes.
void FlushCOutput() {
  if (ftrylockfile(stdout) != 0) return;
  fflush_unlocked(stdout);
  funlockfile(stdout);
}

std::atomic<bool>* MapWipedPage() {
  const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return &g_unwiped;
  if (madvise(page, size, MADV_WIPEONFORK) == 0) return new (page) std::atomic<bool>(false);
  munmap(page, size);
  return &g_unwiped;
}

}  // namespace

void ArmForkGuard() {
  g_is_worker = MapWipedPage();
  MarkAsWorker();
  pthread_atfork(FlushCOutput, nullptr, [] { *g_is_worker = false; });
}

bool IsForkedChild() {
  return g_is_worker != nullptr && !g_is_worker->load(std::memory_order_relaxed);
}

void MarkAsWorker() { *g_is_worker = true; }

}  // namespace cellar::embed
