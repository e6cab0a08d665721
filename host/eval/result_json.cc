#include "host/eval/result_json.h"

#include <optional>
#include <set>

#include "absl/strings/str_format.h"
#include "host/eval/transcript.h"

namespace cellar::host {
namespace {

void WriteMimeEntry(const wire::MimeEntry& entry, JsonWriter& json) {
  switch (entry.kind) {
    case wire::MimeKind::kBytes:
      json.Base64(entry.data);
      return;
    case wire::MimeKind::kJson:
      if (json.Json(entry.data)) return;
      break;
    case wire::MimeKind::kText:
      break;
  }
  json.String(entry.data);
}

void WriteSaved(const std::vector<SavedData>& saved, JsonWriter& json) {
  json.BeginObject();
  for (const SavedData& data : saved) {
    json.Key(data.mime).BeginObject();
    json.Key("artifact");
    if (data.artifact_id.empty()) {
      json.Null();
    } else {
      json.String(data.artifact_id);
    }
    json.Key("path").String(data.artifact_path);
    json.Key("bytes").Number(data.bytes);
    json.Key("error").String(data.error);
    json.EndObject();
  }
  json.EndObject();
}

void WriteDisplay(const CellOutput& output, JsonWriter& json) {
  json.Key("data");
  WriteBundle(output.data, json);
  if (!output.saved.empty()) {
    json.Key("saved");
    WriteSaved(output.saved, json);
  }
  json.Key("metadata");
  if (!output.metadata.starts_with('{') || !json.Json(output.metadata)) {
    json.BeginObject().EndObject();
  }
  if (!output.display_id.empty()) json.Key("display_id").String(output.display_id);
  if (output.update) json.Key("update").Bool(true);
}

void WriteStatusEvent(const CellOutput& output, JsonWriter& json) {
  json.Key("event");
  if (output.data.empty()) {
    json.BeginObject().EndObject();
  } else {
    WriteMimeEntry(output.data.front(), json);
  }
}

void WriteOutputs(const std::vector<CellOutput>& outputs, JsonWriter& json) {
  json.BeginArray();
  for (const CellOutput& output : outputs) {
    json.BeginObject().Key("type").String(OutputTypeName(output.type));
    WriteOutputFields(output, json);
    json.EndObject();
  }
  json.EndArray();
}

void WriteError(const std::optional<CellError>& error, JsonWriter& json) {
  json.Key("error");
  if (!error) {
    json.Null();
    return;
  }
  json.BeginObject();
  WriteErrorFields(*error, json);
  json.EndObject();
}

void WriteNotices(const CellResult& cell, JsonWriter& json) {
  json.Key("notices").BeginArray();
  if (!cell.clamp_note.empty()) json.String(cell.clamp_note);
  for (const std::string& notice : cell.outcome.notices) json.String(notice);
  json.EndArray();
}

void WriteTruncation(const std::optional<Truncation>& truncation, JsonWriter& json) {
  json.Key("truncation");
  if (!truncation) {
    json.Null().Key("artifact").Null();
    return;
  }
  json.BeginObject();
  json.Key("total_lines").Number(truncation->total_lines);
  json.Key("total_bytes").Number(truncation->total_bytes);
  json.Key("text_bytes").Number(truncation->text_bytes);
  json.Key("kept_bytes").Number(truncation->kept_bytes);
  json.Key("omitted_lines").Number(truncation->omitted_lines);
  json.Key("omitted_bytes").Number(truncation->omitted_bytes);
  json.Key("clamped_lines").Number(truncation->clamped_lines);
  json.Key("clamped_bytes").Number(truncation->clamped_bytes);
  json.Key("artifact_path").String(truncation->artifact_path);
  json.Key("artifact_bytes").Number(truncation->artifact_bytes);
  json.Key("missing_bytes").Number(truncation->missing_bytes);
  json.Key("error").String(truncation->error);
  json.EndObject();
  json.Key("artifact");
  if (truncation->artifact_id.empty()) {
    json.Null();
  } else {
    json.String(truncation->artifact_id);
  }
}

}  // namespace

std::string ResultToJson(const CallResult& result, bool pretty) {
  JsonWriter json(pretty);
  WriteResult(result, json);
  return json.Take();
}

void WriteResult(const CallResult& result, JsonWriter& json) {
  json.BeginObject();
  json.Key("status").String(NameOf(result.status));
  if (!result.handle.empty()) json.Key("handle").String(result.handle);
  json.Key("text").String(TranscriptOf(result));
  json.Key("session").BeginObject();
  json.Key("id").String(result.session_id);
  json.Key("state").String(NameOf(result.session_state));
  json.Key("reason").String(result.session_reason);
  json.EndObject();
  json.Key("background");
  WriteOutputs(result.background, json);
  json.Key("cells").BeginArray();
  for (const CellResult& cell : result.cells) {
    json.BeginObject();
    WriteCellFields(cell, /*with_outputs=*/true, json);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

std::string_view OutputTypeName(CellOutput::Type type) {
  switch (type) {
    case CellOutput::Type::kStdout:
      return "stdout";
    case CellOutput::Type::kStderr:
      return "stderr";
    case CellOutput::Type::kDisplay:
      return "display";
    case CellOutput::Type::kResult:
      return "result";
    case CellOutput::Type::kStatus:
      return "status";
  }
  return "display";
}

// An object has each key once: where two entries have one type, the first is written.
void WriteBundle(const std::vector<wire::MimeEntry>& bundle, JsonWriter& json) {
  std::set<std::string_view> written;
  json.BeginObject();
  for (const wire::MimeEntry& entry : bundle) {
    if (!written.insert(entry.mime).second) continue;
    json.Key(entry.mime);
    WriteMimeEntry(entry, json);
  }
  json.EndObject();
}

void WriteOutputFields(const CellOutput& output, JsonWriter& json) {
  switch (output.type) {
    case CellOutput::Type::kStdout:
    case CellOutput::Type::kStderr:
      json.Key("text").String(output.text);
      return;
    case CellOutput::Type::kDisplay:
    case CellOutput::Type::kResult:
      return WriteDisplay(output, json);
    case CellOutput::Type::kStatus:
      return WriteStatusEvent(output, json);
  }
}

void WriteErrorFields(const CellError& error, JsonWriter& json) {
  json.Key("ename").String(error.ename);
  json.Key("evalue").String(error.evalue);
  json.Key("traceback").String(error.traceback);
  if (error.exit_code) json.Key("exit_code").Number(*error.exit_code);
}

void WriteCellFields(const CellResult& cell, bool with_outputs, JsonWriter& json) {
  const CellOutcome& outcome = cell.outcome;
  json.Key("status").String(NameOf(cell.status));
  json.Key("title").String(cell.title);
  json.Key("execution_count");
  if (outcome.execution_count == 0) {
    json.Null();
  } else {
    json.Number(outcome.execution_count);
  }
  json.Key("duration_ms")
      .Token(absl::StrFormat("%.3f", absl::ToDoubleMilliseconds(outcome.duration)));
  json.Key("runs").Number(cell.runs);
  if (with_outputs) {
    json.Key("outputs");
    WriteOutputs(outcome.outputs, json);
  }
  WriteError(outcome.error, json);
  if (cell.failed) json.Key("failed").Bool(*cell.failed);
  json.Key("cancelled").Bool(cell.status == CellRunStatus::kCancelled);
  json.Key("timed_out").Bool(outcome.timed_out);
  json.Key("stdin_requested").Bool(outcome.stdin_requested);
  json.Key("state").String(NameOf(outcome.state));
  json.Key("state_detail").String(outcome.state_detail);
  WriteNotices(cell, json);
  WriteTruncation(outcome.truncation, json);
}

}  // namespace cellar::host
