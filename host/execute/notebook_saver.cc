#include "host/execute/notebook_saver.h"

#include <climits>
#include <filesystem>
#include <utility>

#include "host/base/clock.h"
#include "host/base/utf8.h"
#include "notebook/document.h"

namespace cellar::host {
namespace {

// After a save the disk rests this many times as long as the save took. A large notebook with many
// short cells is then not written anew for each of them.
constexpr int kRest = 9;

// The name without its end where it would be too long with `more`.
std::string RoomFor(const std::string& more, std::string name) {
  const size_t room = NAME_MAX - more.size();
  if (name.size() > room) name.resize(Utf8BorderBefore(name, room));
  return name;
}

// Beside `path`, and not there yet: "name.run.ipynb", "name.run2.ipynb" …
std::string FreePathBeside(const std::string& path) {
  const std::filesystem::path target(path);
  for (int i = 1;; ++i) {
    const std::string end =
        ".run" + (i == 1 ? "" : std::to_string(i)) + target.extension().string();
    const std::filesystem::path name = RoomFor(end, target.stem().string()) + end;
    std::filesystem::path beside = target.parent_path() / name;
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::symlink_status(beside, error))) return beside;
  }
}

// Changes `target` when it is written.
absl::Status Write(std::string_view content, SaveTarget* target) {
  const absl::StatusOr<bool> same = FileHolds(target->path, content);
  if (same.ok() && *same) return absl::OkStatus();
  std::string path = target->path;
  absl::StatusOr<FileStamp> stamp = ReplaceStampedFile(path, content, target->expected);
  if (absl::IsAborted(stamp.status())) {
    do {
      path = FreePathBeside(target->path);
      stamp = MakeStampedFile(path, content);
    } while (absl::IsAlreadyExists(stamp.status()));
  }
  if (stamp.ok()) *target = {std::move(path), *stamp};
  return stamp.status();
}

}  // namespace

NotebookSaver::NotebookSaver(EventLoop& loop, SaveTarget target, Content content)
    : loop_(loop), target_(std::move(target)), content_(std::move(content)) {}

NotebookSaver::~NotebookSaver() {
  lifeline_.Cut();
  loop_.Cancel(rest_timer_);
}

void NotebookSaver::SaveSoon() {
  changed_ = true;
  Pump();
}

void NotebookSaver::Finish(absl::AnyInvocable<void(absl::Status)> done) {
  on_finished_ = std::move(done);
  last_has_begun_ = false;
  Pump();
}

absl::Status NotebookSaver::FinishNow() {
  if (saving_.valid()) TakeSaved();
  if (std::exchange(changed_, false)) {
    Saved saved = Save(target_, content_());
    target_ = std::move(saved.target);
    status_ = std::move(saved.status);
  }
  return status_;
}

void NotebookSaver::Pump() {
  if (saving_.valid()) return;
  // What changes while the last save is under way is not waited for: that may go on for ever.
  if (on_finished_ && (!changed_ || last_has_begun_)) {
    loop_.Post([done = std::exchange(on_finished_, nullptr), status = status_]() mutable {
      done(status);
    });
  }
  if (!changed_) return;
  const absl::Duration rest = rests_until_ - MonotonicNow();
  if (rest <= absl::ZeroDuration() || on_finished_) return Start();
  if (rest_timer_ != 0) return;
  rest_timer_ = loop_.After(rest, [this] {
    rest_timer_ = 0;
    Pump();
  });
}

void NotebookSaver::Start() {
  loop_.Cancel(std::exchange(rest_timer_, 0));
  changed_ = false;
  last_has_begun_ = on_finished_ != nullptr;
  std::promise<Saved> saved;
  saving_ = saved.get_future();
  thread_.Run([this, alive = lifeline_.watch(), loop = &loop_, saved = std::move(saved),
               target = target_, content = content_()]() mutable {
    saved.set_value(Save(std::move(target), std::move(content)));
    loop->Post([this, alive] {
      if (!*alive || !saving_.valid()) return;
      TakeSaved();
      Pump();
    });
  });
}

void NotebookSaver::TakeSaved() {
  Saved saved = saving_.get();
  target_ = std::move(saved.target);
  status_ = std::move(saved.status);
  rests_until_ = MonotonicNow() + kRest * saved.cost;
}

NotebookSaver::Saved NotebookSaver::Save(SaveTarget target, std::string content) {
  const absl::Time begin = MonotonicNow();
  Saved saved;
  // Whatever a cell has put into its outputs, the file stays a notebook.
  const auto document = notebook::Document::Parse(std::move(content));
  saved.status = document.status();
  if (document.ok()) saved.status = Write(document->bytes(), &target);
  saved.target = std::move(target);
  saved.cost = MonotonicNow() - begin;
  return saved;
}

}  // namespace cellar::host
