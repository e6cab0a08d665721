// How a worker ended: data, not an error of the host.
#pragma once

#include <optional>
#include <string>

namespace cellar::host {

struct WorkerExit {
  std::optional<int> signal;     // that killed it
  std::optional<int> exit_code;  // it left with
  // Why, where the host knows more than the kernel: it could not start, it wrote garbage, its
  // keeper was killed.
  std::string reason;
  // It could not start, for want of memory, processes or descriptors.
  bool exhausted = false;
  // Python frames at the moment of death or of the last rung, as faulthandler wrote them; cellar's
  // own removed.
  std::string python_stack;

  // One line: "died of SIGSEGV", "exited with code 3", with the reason if there is one.
  std::string Describe() const;
};

}  // namespace cellar::host
