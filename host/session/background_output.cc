#include "host/session/background_output.h"

#include <utility>

namespace cellar::host {
namespace {

wire::Display DisplayOf(const CellOutput& output) {
  wire::DisplayKind kind = wire::DisplayKind::kDisplay;
  if (output.type == CellOutput::Type::kStatus) kind = wire::DisplayKind::kStatus;
  if (output.update) kind = wire::DisplayKind::kUpdate;
  return {.kind = kind,
          .data = output.data,
          .metadata = output.metadata,
          .display_id = output.display_id};
}

}  // namespace

BackgroundOutput::BackgroundOutput(OutputStorage storage, SinkOptions options)
    : storage_(std::move(storage)),
      options_(std::move(options)),
      log_(std::make_unique<OutputLog>(storage_, options_)) {}

void BackgroundOutput::AddText(Stream stream, std::string_view text, CellObserver* observer) {
  log_->AddText(stream, text);
  if (observer != nullptr) observer->OnBackgroundText(stream, text);
}

void BackgroundOutput::AddDisplay(wire::Display display, CellObserver* observer) {
  const bool is_shown =
      display.kind != wire::DisplayKind::kClear && display.kind != wire::DisplayKind::kStatus;
  if (!is_shown || observer == nullptr) return log_->AddDisplay(std::move(display));
  log_->AddDisplay(display);  // first, as text is: the observer may recount the log
  observer->OnBackgroundDisplay(display);
}

void BackgroundOutput::Recount(CellObserver& observer) const {
  for (const CellOutput& output : log_->SoFar().outputs) {
    switch (output.type) {
      case CellOutput::Type::kStdout:
        observer.OnBackgroundText(Stream::kStdout, output.text);
        break;
      case CellOutput::Type::kStderr:
        observer.OnBackgroundText(Stream::kStderr, output.text);
        break;
      case CellOutput::Type::kDisplay:
      case CellOutput::Type::kResult:
        observer.OnBackgroundDisplay(DisplayOf(output));
        break;
      case CellOutput::Type::kStatus:
        break;
    }
  }
}

void BackgroundOutput::SetAside() { aside_ = TakeLog(); }

void BackgroundOutput::BringBack() {
  if (aside_ == nullptr) return;
  for (const CellOutput& later : Take()) {
    if (later.type == CellOutput::Type::kStdout) {
      aside_->AddText(Stream::kStdout, later.text);
    } else if (later.type == CellOutput::Type::kStderr) {
      aside_->AddText(Stream::kStderr, later.text);
    } else {
      aside_->AddDisplay(DisplayOf(later));
    }
  }
  log_ = std::move(aside_);
}

std::unique_ptr<OutputLog> BackgroundOutput::TakeLog() {
  if (log_->empty()) return nullptr;
  return std::exchange(log_, std::make_unique<OutputLog>(storage_, options_));
}

std::vector<CellOutput> BackgroundOutput::Take() {
  const std::unique_ptr<OutputLog> log = TakeLog();
  if (log == nullptr) return {};
  log->Close();
  return log->Take().outputs;
}

}  // namespace cellar::host
