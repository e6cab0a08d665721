// The part of a session that takes what its worker prints, shows and says: into the outcome of the
// cell that it is of, to whoever watches, or into the background.
#include "host/base/utf8.h"
#include "host/session/session.h"

namespace cellar::host {
namespace {

Stream ToStream(wire::StreamId stream) {
  return stream == wire::StreamId::kStdout ? Stream::kStdout : Stream::kStderr;
}

bool WantsPause(const CellObserver* observer) {
  return observer != nullptr && observer->WantsPause();
}

// Of one cell. The runtime sends a few short ones; a cell can make the channel carry any number.
constexpr size_t kMaxNotices = 100;
constexpr size_t kMaxNoticeBytes = 16u << 10;
// A class may have any name; it stands in headings and in front of messages.
constexpr size_t kMaxEnameBytes = 1u << 10;

}  // namespace

void Session::OnText(uint32_t cell, wire::StreamId stream, std::string_view text) {
  RunningCell* writer = cell == 0 ? cells_.Innermost() : cells_.Find(cell);
  if (writer == nullptr) {
    CellObserver* observer = BackgroundObserver();
    background_.AddText(ToStream(stream), text, observer);
    const bool pause = background_.WantsPause() || WantsPause(observer);
    if (pause && worker_ != nullptr) worker_->PauseOutput(true);
    return;
  }
  CellObserver* observer = writer->request.observer;
  writer->log->AddText(ToStream(stream), text);
  bool pause = writer->log->WantsPause();
  if (observer != nullptr) observer->OnText(ToStream(stream), text);
  pause |= WantsPause(observer);
  if (pause && worker_ != nullptr) worker_->PauseOutput(true);
}

CellObserver* Session::BackgroundObserver() const {
  return cells_.outer != nullptr ? cells_.outer->request.observer : background_.observer();
}

void Session::OnDisplay(wire::Display display) {
  RunningCell* cell = cells_.Find(display.cell);
  if (cell == nullptr) return background_.AddDisplay(std::move(display), BackgroundObserver());
  if (display.kind == wire::DisplayKind::kStatus) RestartTimeout(*cell);
  if (cell->request.observer != nullptr) cell->request.observer->OnDisplay(display);
  cell->log->AddDisplay(std::move(display));
}

void Session::OnError(wire::Error error) {
  RunningCell* cell = cells_.Find(error.cell);
  if (cell == nullptr) return;
  error.ename.resize(Utf8BorderBefore(error.ename, std::min(error.ename.size(), kMaxEnameBytes)));
  cell->outcome.error = CellError{.ename = std::move(error.ename),
                                  .evalue = std::move(error.evalue),
                                  .traceback = std::move(error.traceback),
                                  .exit_code = error.exit_code};
}

void Session::OnNotice(wire::Notice notice) {
  RunningCell* cell = cells_.Find(notice.cell);
  if (cell == nullptr) return;
  std::vector<std::string>& notices = cell->outcome.notices;
  if (notices.size() > kMaxNotices) return;
  if (notices.size() == kMaxNotices) {
    notices.push_back("further notices are not kept");
    return;
  }
  if (notice.text.size() > kMaxNoticeBytes) {
    notice.text.resize(Utf8BorderBefore(notice.text, kMaxNoticeBytes));
  }
  notices.push_back(std::move(notice.text));
}

SinkOptions Session::OutputOptions() {
  SinkOptions options = options_.output;
  options.on_progress = [this, alive = lifeline_.watch()] {
    loop_.Post([this, alive] {
      if (*alive) OnStorageProgress();
    });
  };
  return options;
}

void Session::OnStorageProgress() {
  bool wants_pause = background_.WantsPause() || WantsPause(background_.observer());
  for (const RunningCell* cell : cells_.All()) {
    if (!cell->ended) wants_pause |= cell->log->WantsPause() || WantsPause(cell->request.observer);
  }
  if (worker_ != nullptr && !wants_pause) worker_->PauseOutput(false);
  // From the inside out: the outcome of the outer one is the last word.
  while (RunningCell* cell = cells_.InnermostSettled()) FinishCell(*cell);
}

}  // namespace cellar::host
