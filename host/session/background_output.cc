#include "host/session/background_output.h"

#include <utility>

namespace cellar::host {

BackgroundOutput::BackgroundOutput(OutputStorage storage, SinkOptions options)
    : storage_(std::move(storage)),
      options_(std::move(options)),
      log_(std::make_unique<OutputLog>(storage_, options_)) {}

void BackgroundOutput::AddText(Stream stream, std::string_view text, CellObserver* observer) {
  log_->AddText(stream, text);
  if (observer != nullptr) observer->OnBackgroundText(stream, text);
}

void BackgroundOutput::Recount(CellObserver& observer) const {
  for (const CellOutput& output : log_->SoFar().outputs) {
    if (output.type == CellOutput::Type::kStdout) {
      observer.OnBackgroundText(Stream::kStdout, output.text);
    } else if (output.type == CellOutput::Type::kStderr) {
      observer.OnBackgroundText(Stream::kStderr, output.text);
    }
  }
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
