#include "host/serve/call_frames.h"

#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "host/base/json_text.h"
#include "host/serve/frame_fields.h"

namespace cellar::host {
namespace {

using nlohmann::ordered_json;

wire::MimeEntry EntryOf(const std::string& mime, const ordered_json& value) {
  wire::MimeEntry entry = {.mime = mime};
  if (!value.is_string()) {
    entry.kind = wire::MimeKind::kJson;
    entry.data = JsonText(value);
    return entry;
  }
  entry.data = value.get<std::string>();
  if (mime.starts_with("image/") && mime != "image/svg+xml") {
    entry.kind = wire::MimeKind::kBytes;
    std::string bytes;
    if (absl::Base64Unescape(entry.data, &bytes)) entry.data = std::move(bytes);
  }
  return entry;
}

wire::Display DisplayOf(const ordered_json& frame, wire::DisplayKind kind) {
  wire::Display display = {.kind = FlagIn(frame, "update") ? wire::DisplayKind::kUpdate : kind,
                           .display_id = TextIn(frame, "display_id")};
  const ordered_json metadata = ObjectIn(frame, "metadata");
  if (!metadata.empty()) display.metadata = JsonText(metadata);
  const ordered_json data = ObjectIn(frame, "data");
  for (const auto& [mime, value] : data.items()) display.data.push_back(EntryOf(mime, value));
  return display;
}

wire::Display StatusOf(const ordered_json& frame) {
  return {.kind = wire::DisplayKind::kStatus,
          .data = {{.mime = wire::kStatusMime,
                    .kind = wire::MimeKind::kJson,
                    .data = JsonText(ObjectIn(frame, "event"))}}};
}

CellError ErrorOf(const ordered_json& error) {
  CellError read = {.ename = TextIn(error, "ename"),
                    .evalue = TextIn(error, "evalue"),
                    .traceback = TextIn(error, "traceback")};
  if (error.contains("exit_code")) read.exit_code = static_cast<int>(NumberIn(error, "exit_code"));
  return read;
}

CellResult CellOf(const ordered_json& frame) {
  CellResult cell = {
      .status = CellRunStatusFromName(TextIn(frame, "status")).value_or(CellRunStatus::kComplete)};
  CellOutcome& outcome = cell.outcome;
  if (cell.status == CellRunStatus::kError) outcome.status = CellStatus::kError;
  if (cell.status == CellRunStatus::kCancelled) outcome.status = CellStatus::kCancelled;
  if (frame.contains("failed")) cell.failed = FlagIn(frame, "failed");
  outcome.execution_count = static_cast<uint32_t>(NumberIn(frame, "execution_count"));
  outcome.duration = absl::Milliseconds(NumberIn(frame, "duration_ms"));
  outcome.timed_out = FlagIn(frame, "timed_out");
  outcome.state_detail = TextIn(frame, "state_detail");
  for (const ordered_json& notice : frame.value("notices", ordered_json::array())) {
    if (notice.is_string()) outcome.notices.push_back(notice.get<std::string>());
  }
  if (const ordered_json error = ObjectIn(frame, "error"); !error.empty()) {
    outcome.error = ErrorOf(error);
    const std::string& ename = outcome.error->ename;
    if (ename == "WorkerDied" || ename == "CellKilled") outcome.death.emplace();
  }
  if (const ordered_json truncation = ObjectIn(frame, "truncation"); !truncation.empty()) {
    outcome.truncation.emplace().artifact_path = TextIn(truncation, "artifact_path");
  }
  return cell;
}

}  // namespace

void TellOf(const ordered_json& frame, CallObserver& observer) {
  const std::string type = TextIn(frame, "type");
  const auto index = static_cast<size_t>(NumberIn(frame, "cell"));
  if (type == "stdout" || type == "stderr") {
    const Stream stream = type == "stdout" ? Stream::kStdout : Stream::kStderr;
    const std::string text = TextIn(frame, "text");
    FlagIn(frame, "background") ? observer.OnBackgroundText(stream, text)
                                : observer.OnText(stream, text);
  } else if (type == "started") {
    observer.OnCellStarted(index, {.code = TextIn(frame, "code"), .title = TextIn(frame, "title")});
  } else if (type == "finished") {
    observer.OnCellFinished(index, CellOf(frame));
  } else if (type == "display") {
    const wire::Display display = DisplayOf(frame, wire::DisplayKind::kDisplay);
    FlagIn(frame, "background") ? observer.OnBackgroundDisplay(display)
                                : observer.OnDisplay(display);
  } else if (type == "result") {
    observer.OnDisplay(DisplayOf(frame, wire::DisplayKind::kResult));
  } else if (type == "status") {
    observer.OnDisplay(StatusOf(frame));
  } else if (type == "clear") {
    observer.OnDisplay({.kind = wire::DisplayKind::kClear,
                        .metadata = FlagIn(frame, "wait") ? R"({"wait":true})" : ""});
  }
}

}  // namespace cellar::host
