// The other processes of a benchmark: programs to compare with, and the memory that processes have.
// A program that cannot be started or answers wrongly ends the benchmark: there is nothing to
// measure then.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "host/base/unique_fd.h"

namespace cellar::bench {

[[noreturn]] void Fail(std::string_view what);

// A program with pipes: what is written is its stdin; its stdout and stderr are read as one. Ended
// when destroyed.
class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void Write(std::string_view text);
  void CloseInput() { input_.reset(); }
  // Until all that was read since the last call ends in `text`.
  void ReadUntil(std::string_view text);
  std::string ReadToEnd();
  pid_t pid() const { return pid_; }

 private:
  bool ReadMore();

  pid_t pid_ = -1;
  UniqueFd input_;
  UniqueFd output_;
  std::string read_;
};

// Seconds from the start of a program to its end; it must succeed. Its stdout goes to /dev/null.
double SecondsOfProgram(const std::vector<std::string>& arguments);

// Children of this process, theirs, and so on.
std::vector<pid_t> ProcessesBelowThis();
std::string NameOf(pid_t pid);

// Bytes. Proportional: a page that n processes share counts for one n-th.
double ProportionalMemory(pid_t pid);

// Bytes this process has now, and the most it has had since ForgetPeak().
double ResidentMemory();
double PeakMemory();
void ForgetPeak();

}  // namespace cellar::bench
