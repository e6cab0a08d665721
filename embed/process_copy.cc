#include "embed/process_copy.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "embed/main.h"
#include "host/wire/template_messages.h"

namespace cellar::embed {
namespace {

// The forks are made by a helper process that shares this one's memory, as the child of a vfork
// does, and is gone when this one goes on. So the copy is the helper's child and not ours, and no
// memory is copied but the copy's own. A helper is cloned without a signal for its end, which hides
// it from waitpid(-1) too (see __WCLONE in waitpid(2)).
constexpr int kHelperFlags = CLONE_VM | CLONE_VFORK;
constexpr size_t kHelperStack = 256u << 10;  // for what libraries do in pthread_atfork handlers

// What the helpers and the copy find in the memory they share or inherit.
struct State {
  ucontext_t original;  // where the copy goes on: on the stack of the original
  bool in_copy;
  pid_t copy;
  pid_t keeper;
  pid_t helper;
  int error;
  const CopyKeeper* keeper_options;
  std::vector<char*> keeper_argv;
  std::vector<char*> keeper_envp;
};
State g_state;

char* g_helper_stacks = nullptr;

// False when there is no memory for them, now.
bool MakeHelperStacks() {
  if (g_helper_stacks != nullptr) return true;
  void* stacks = mmap(nullptr, 2 * kHelperStack, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stacks == MAP_FAILED) return false;
  g_helper_stacks = static_cast<char*>(stacks);
  return true;
}

char* HelperStack(int number) {
  return g_helper_stacks + static_cast<size_t>(number + 1) * kHelperStack;
}

// glibc's fork: it takes the locks of malloc and stdio, and runs what libraries registered. Called
// by a helper in the name of the main thread, which stands still.
void Fork() {
  pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    g_state.in_copy = true;
    setcontext(&g_state.original);
  }
  g_state.copy = pid;
  if (pid < 0) {
    g_state.error = errno;
  } else {
    // Done here as well as there: the original may die, and its group with it, before the copy has
    // run a single instruction.
    setpgid(pid, pid);
  }
}

// The helpers end by returning: before an _exit, AddressSanitizer would clean up their stack, which
// it does not know.
int BeKeeper(void*) {
  // 1. The copy's orphans come here; signals to the original's group do not. And all that the
  // branch will be is known by its session, should this process be killed (KillSession).
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  setsid();
  // 2. The copy.
  Fork();
  if (g_state.copy < 0) return 1;
  // 3. Nothing of the original stays: neither its descriptors nor, through exec, its memory.
  dup2(g_state.keeper_options->host_socket, wire::kControlFd);
  dup2(g_state.keeper_options->host_alive, wire::kHostAliveFd);
  close_range(wire::kHostAliveFd + 1, ~0u, 0);
  std::string option = KeeperOption(g_state.copy);
  g_state.keeper_argv[1] = option.data();
  execve("/proc/self/exe", g_state.keeper_argv.data(), g_state.keeper_envp.data());
  g_state.error = errno;
  kill(g_state.copy, SIGKILL);
  waitpid(g_state.copy, nullptr, 0);
  return 1;
}

int BeMiddle(void*) {
  g_state.helper = getpid();
  if (g_state.keeper_options == nullptr) {
    Fork();
  } else {
    g_state.keeper = clone(BeKeeper, HelperStack(1), kHelperFlags, nullptr);
    if (g_state.keeper < 0) g_state.error = errno;
  }
  return 0;
}

// The kernel no longer writes into this thread's memory which processor it is on: a helper that
// shares the memory is not registered for it, nor is what it forks. glibc registers only threads
// that it starts, and sched_getcpu() would answer for ever what it did last.
void RegisterRseq() {
  constexpr uint32_t kSize = 32;  // of the first version, which every kernel takes
  if (__rseq_size == 0) return;   // switched off, or the kernel has none
  char* area = static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset;
  syscall(SYS_rseq, area, kSize, 0, RSEQ_SIG);
}

}  // namespace

ProcessCopy ForkCopy(const CopyKeeper* keeper) {
  if (!MakeHelperStacks()) return {.pid = -1, .error = errno};
  std::string library_path;
  std::string name = "cellar-worker";
  g_state.in_copy = false;
  g_state.copy = g_state.keeper = -1;
  g_state.error = 0;
  g_state.keeper_options = keeper;
  g_state.keeper_argv = {name.data(), nullptr, nullptr};
  g_state.keeper_envp = {nullptr};
  if (keeper != nullptr && !keeper->library_directory.empty()) {
    library_path = "LD_LIBRARY_PATH=" + keeper->library_directory;
    g_state.keeper_envp = {library_path.data(), nullptr};
  }
  // A handler must not run in a helper.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  getcontext(&g_state.original);
  if (g_state.in_copy) {
    RegisterRseq();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return {.in_copy = true, .helper = g_state.helper};
  }
  pid_t middle = clone(BeMiddle, HelperStack(0), kHelperFlags, nullptr);
  if (middle < 0) {
    g_state.error = errno;
  } else {
    while (waitpid(middle, nullptr, __WCLONE) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return {.pid = g_state.error == 0 ? g_state.copy : -1,
          .keeper = g_state.keeper,
          .error = g_state.error};
}

}  // namespace cellar::embed
