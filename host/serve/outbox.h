// What a client has not read yet, in order. A little of it is in memory, the rest in a file without
// a name, so that a client that reads slowly, or not at all, costs no memory and holds nobody up.
//
// Lives on the loop's thread; the file is written and read on a thread of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "host/base/event_loop.h"
#include "host/base/lifeline.h"
#include "host/base/task_thread.h"
#include "host/base/unique_fd.h"

namespace cellar::host {

struct OutboxLimits {
  size_t memory_bytes = size_t{4} << 20;     // beyond, the file is used
  size_t unsaved_bytes = size_t{256} << 20;  // that wait for the disk
  uint64_t file_bytes = uint64_t{1} << 30;
};

class Outbox {
 public:
  // `on_ready` is called when there is something in front() again that was not there when Pop
  // returned, or when the outbox has failed.
  Outbox(EventLoop& loop, OutboxLimits limits, absl::AnyInvocable<void()> on_ready);
  ~Outbox() { leaving_ = true; }
  Outbox(const Outbox&) = delete;

  void Push(std::string_view bytes);

  // What can be written now; empty when there is nothing, or it is still in the file.
  std::string_view front() const { return std::string_view(ready_).substr(taken_); }
  void Pop(size_t bytes);

  // Nothing is left, neither here nor in the file.
  bool empty() const { return taken_ == ready_.size() && !overflowing_; }
  // Why the client cannot be served any more: a limit was passed, or the disk is full.
  const absl::Status& status() const { return status_; }

 private:
  void Save();
  void OnSaved(size_t bytes, const absl::Status& status);
  void Load();
  void OnLoaded(absl::StatusOr<std::string> bytes);
  void Fail(absl::Status status);

  EventLoop& loop_;
  const OutboxLimits limits_;
  absl::AnyInvocable<void()> on_ready_;

  std::string ready_;
  size_t taken_ = 0;  // of ready_

  // While it overflows, what is pushed goes behind what is in the file.
  bool overflowing_ = false;
  std::string unsaved_;
  bool saving_ = false;
  bool loading_ = false;
  size_t saving_bytes_ = 0;
  uint64_t file_begin_ = 0;
  uint64_t file_end_ = 0;
  absl::Status status_;

  Lifeline lifeline_;
  UniqueFd file_;  // made and used by the thread while a task is under way, else by nobody
  std::atomic<bool> leaving_ = false;  // what is being saved is for nobody
  TaskThread thread_;                  // the last member: it ends before what it uses
};

}  // namespace cellar::host
