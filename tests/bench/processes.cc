#include "tests/bench/processes.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>

#include "absl/strings/numbers.h"
#include "host/base/fds.h"
#include "host/base/process.h"
#include "tests/bench/samples.h"

namespace cellar::bench {
namespace {

namespace fs = std::filesystem;

struct ChildFds {
  int in;
  int out;
  int err;
};

pid_t Start(const std::vector<std::string>& arguments, const ChildFds& fds) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fds.in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fds.out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fds.err, STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  if (posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ) != 0) {
    Fail("starting " + arguments[0]);
  }
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

// Of a line "Pss:   123 kB"; 0 of a process that has ended.
double BytesAfter(const std::string& file, std::string_view label) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(label)) return std::strtod(line.c_str() + label.size(), nullptr) * 1024;
  }
  return 0;
}

}  // namespace

void Fail(std::string_view what) {
  std::fprintf(stderr, "session_bench: %.*s\n", static_cast<int>(what.size()), what.data());
  std::exit(1);
}

Program::Program(const std::vector<std::string>& arguments) {
  absl::StatusOr<Pipe> in = MakePipe();
  absl::StatusOr<Pipe> out = MakePipe();
  if (!in.ok() || !out.ok()) Fail("making pipes");
  if (!SetNonBlocking(in->read.get(), false).ok() || !SetNonBlocking(out->read.get(), false).ok()) {
    Fail("making pipes block");
  }
  pid_ = Start(arguments, {in->read.get(), out->write.get(), out->write.get()});
  input_ = std::move(in->write);
  output_ = std::move(out->read);
}

Program::~Program() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Program::Write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = write(input_.get(), text.data(), text.size());
    if (size < 0) Fail("writing to a program");
    text.remove_prefix(static_cast<size_t>(size));
  }
}

void Program::ReadUntil(std::string_view text) {
  while (!read_.ends_with(text)) {
    if (!ReadMore()) Fail("a program has ended: " + read_);
  }
  read_.clear();
}

std::string Program::ReadToEnd() {
  while (ReadMore()) continue;
  return std::move(read_);
}

bool Program::ReadMore() {
  std::array<char, 65536> buffer;
  const ssize_t size = read(output_.get(), buffer.data(), buffer.size());
  if (size <= 0) return false;
  read_.append(buffer.data(), static_cast<size_t>(size));
  return true;
}

double SecondsOfProgram(const std::vector<std::string>& arguments) {
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  int status = 0;
  const double seconds = SecondsOf([&] {
    const pid_t pid = Start(arguments, {null.get(), null.get(), STDERR_FILENO});
    waitpid(pid, &status, 0);
  });
  if (status != 0) Fail(arguments[0] + " has failed");
  return seconds;
}

std::vector<pid_t> ProcessesBelowThis() {
  std::map<pid_t, pid_t> parents;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    pid_t pid = 0;
    if (absl::SimpleAtoi(entry.path().filename().string(), &pid)) parents[pid] = ParentOf(pid);
  }
  std::vector<pid_t> below;
  for (const auto& [pid, parent] : parents) {
    pid_t ancestor = parent;
    while (ancestor > 1 && ancestor != getpid()) ancestor = parents[ancestor];
    if (ancestor == getpid()) below.push_back(pid);
  }
  return below;
}

std::string NameOf(pid_t pid) {
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/comm"), name);
  return name;
}

double ProportionalMemory(pid_t pid) {
  return BytesAfter("/proc/" + std::to_string(pid) + "/smaps_rollup", "Pss:");
}

double ResidentMemory() { return BytesAfter("/proc/self/status", "VmRSS:"); }

double PeakMemory() { return BytesAfter("/proc/self/status", "VmHWM:"); }

void ForgetPeak() {
  // What earlier measurements left to malloc would hide the growth to come.
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";  // proc(5): resets VmHWM
}

}  // namespace cellar::bench
