// Copies of a worker: sleeping ones (snapshots), and those that go on as a worker of their own.
// Made by fork, so every Python object is in them as it was; what a fork cannot carry is found and
// named.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "host/base/unique_fd.h"
#include "host/wire/birth_fds.h"
#include "host/wire/copy_messages.h"

namespace cellar::embed {

struct CopyRequest {
  wire::Copy message;
  std::vector<UniqueFd> fds;  // as in wire::BirthFd
};

// What Python knows and a copy must be told.
struct CopyContext {
  std::vector<std::string> threads;  // names of the threads that will not come along
  int python_threads = 1;            // this one included
  std::set<int> own_fds;             // of the event loop, which makes them anew by itself
};

// What a copy that goes on as a worker finds.
struct Awakening {
  bool reseed = false;
  bool had_children = false;  // the original, when it was copied
  std::vector<std::string> not_carried;
};

// Calls `prepare`, which runs Python. False when that took too long: the host has ended it, and has
// its answer.
bool PrepareCopy(const CopyRequest& request, absl::FunctionRef<void()> prepare);

// Makes the copy and answers the host; returns nothing in the process that was asked. In the copy
// it returns as soon as that is to run: at once, or, through a copy of the copy, after it has
// slept.
std::optional<Awakening> MakeCopy(CopyRequest request, const CopyContext& context);

// Where a branch's keeper finds the libpython that this program was started with, or empty.
void SetLibraryDirectory(const std::string& directory);

}  // namespace cellar::embed
