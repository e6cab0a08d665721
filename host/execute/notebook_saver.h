// Puts a notebook that runs onto the disk again and again, on a thread of its own, so that neither
// the cells nor the loop wait for the disk. Every save is complete and atomic; how often there is
// one depends on what it costs. Does not know what it saves.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "host/base/atomic_file.h"
#include "host/base/event_loop.h"
#include "host/base/lifeline.h"
#include "host/base/task_thread.h"

namespace cellar::host {

struct SaveTarget {
  std::string path;
  // Of a file that must not be overwritten if it has changed; what is written then goes to a file
  // beside it. Nothing: whatever is there is replaced.
  std::optional<FileStamp> expected;
};

// Lives on the loop's thread.
class NotebookSaver {
 public:
  using Content = std::function<std::string()>;

  // `content` is called on the loop's thread when a save begins.
  NotebookSaver(EventLoop& loop, SaveTarget target, Content content);
  // Waits for a save under way.
  ~NotebookSaver();
  NotebookSaver(const NotebookSaver&) = delete;

  // The content has changed: it is saved at once, or when saving has rested long enough.
  void SaveSoon();
  // Saves what is not saved yet and calls `done` from the loop, with the outcome of that save. What
  // changes meanwhile is left to FinishNow().
  void Finish(absl::AnyInvocable<void(absl::Status)> done);
  // Saves it at once, for who cannot go back to the loop.
  absl::Status FinishNow();

  // Of the last save that has ended.
  const absl::Status& status() const { return status_; }
  // The file written: another than the target's, if that was changed by someone else meanwhile.
  const std::string& path() const { return target_.path; }

 private:
  struct Saved {
    absl::Status status;
    SaveTarget target;
    absl::Duration cost;
  };

  static Saved Save(SaveTarget target, std::string content);
  void Pump();
  void Start();
  void TakeSaved();

  EventLoop& loop_;
  SaveTarget target_;
  Content content_;
  bool changed_ = false;
  absl::Status status_;
  std::future<Saved> saving_;
  absl::Time rests_until_ = absl::InfinitePast();
  EventLoop::TimerId rest_timer_ = 0;
  absl::AnyInvocable<void(absl::Status)> on_finished_;
  bool last_has_begun_ = false;  // the save under way began after Finish()
  Lifeline lifeline_;
  TaskThread thread_;  // the last member: it ends before what it uses
};

}  // namespace cellar::host
