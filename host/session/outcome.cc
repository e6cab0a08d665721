#include "host/session/outcome.h"

namespace cellar::host {
namespace {

std::string TextOf(const std::vector<CellOutput>& outputs, CellOutput::Type type) {
  std::string text;
  for (const CellOutput& output : outputs) {
    if (output.type == type) text += output.text;
  }
  return text;
}

}  // namespace

uint64_t DataBytes(const CellOutput& output) {
  uint64_t size = 0;
  for (const wire::MimeEntry& entry : output.data) size += entry.data.size();
  return size;
}

std::optional<std::string> CellOutcome::result() const {
  for (const CellOutput& output : outputs) {
    if (output.type != CellOutput::Type::kResult) continue;
    for (const wire::MimeEntry& entry : output.data) {
      if (entry.mime == "text/plain") return entry.data;
    }
  }
  return std::nullopt;
}

std::string CellOutcome::stdout_text() const { return TextOf(outputs, CellOutput::Type::kStdout); }
std::string CellOutcome::stderr_text() const { return TextOf(outputs, CellOutput::Type::kStderr); }

}  // namespace cellar::host
