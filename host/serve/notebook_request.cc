#include "host/serve/notebook_request.h"

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/base/json_text.h"
#include "host/base/status.h"
#include "host/eval/call_fields.h"
#include "host/serve/field_reader.h"
#include "host/serve/frame.h"
#include "nlohmann/json.hpp"
#include "notebook/file_actions.h"

namespace cellar::host {
namespace {

using nlohmann::json;
using notebook::CellAddress;
using notebook::CellType;

// Of a frame: what is longer is to be asked for by its lines.
constexpr size_t kMaxShownBytes = size_t{256} << 20;

// The fields that several of these requests have.
class NotebookFieldReader : public FieldReader {
 public:
  explicit NotebookFieldReader(json& request) : FieldReader(request), cwd_(Directory("cwd")) {}

  const std::string& cwd() const { return cwd_; }

  // As the client means it: relative to its directory, or to ours when it has not said which.
  std::string Path(const char* name, bool required) {
    std::string path = Text(name, required);
    if (required && path.empty()) Add(name, "expected the path of a file");
    if (path.empty() || path[0] == '/' || cwd_.empty()) return path;
    return absl::StrCat(cwd_, "/", path);
  }
  std::string File() { return Path("file", /*required=*/true); }

  CellAddress Cell(const char* name) { return CellFrom(Value(name), name); }

  // A number is an index. A string is an id, or else an index too.
  CellAddress CellFrom(const json& value, const char* name) {
    if (value.is_number_unsigned()) return {.text = std::to_string(value.get<uint64_t>())};
    if (value.is_string()) {
      const auto& id = value.get_ref<const std::string&>();
      if (!id.empty() && ProblemOfText(id, kMaxTextBytes).empty()) {
        return {.text = id, .id_first = true};
      }
    }
    Add(name, "expected the index or the id of a cell");
    return {};
  }

  std::string Source() { return Text("source", /*required=*/true, kMaxRequestBytes); }

  std::optional<CellType> Type() {
    const std::string name = Text("cell_type");
    if (name.empty()) return std::nullopt;
    std::optional<CellType> type = notebook::CellTypeFromName(name);
    if (!type) Add("cell_type", "expected code, markdown or raw");
    return type;
  }

  notebook::SaveOptions Save() {
    notebook::SaveOptions save = {.force = Flag("force", false)};
    const json base = Value("base");
    if (base.is_string()) {
      save.base = base.get<std::string>();
    } else if (!base.is_null()) {
      Add("base", "expected a string");
    }
    return save;
  }

 private:
  const std::string cwd_;
};

absl::Status TellAction(const absl::StatusOr<notebook::ActionDetails>& details, Frame& frame) {
  if (!details.ok()) return details.status();
  frame.Key("summary").String(notebook::Summary(*details));
  frame.Key("details");
  if (!frame.json().Json(notebook::DetailsJson(*details))) frame.json().Null();
  return absl::OkStatus();
}

// JSON as Python writes it; the spelling of strings is the same.
std::string PythonLiteral(const json& value) {
  std::string literal;
  switch (value.type()) {
    case json::value_t::null:
      return "None";
    case json::value_t::boolean:
      return value.get<bool>() ? "True" : "False";
    case json::value_t::array:
      for (const json& item : value) {
        absl::StrAppend(&literal, literal.empty() ? "[" : ", ", PythonLiteral(item));
      }
      return literal.empty() ? "[]" : literal + "]";
    case json::value_t::object:
      for (const auto& [key, item] : value.items()) {
        absl::StrAppend(&literal, literal.empty() ? "{" : ", ", PythonLiteral(json(key)), ": ",
                        PythonLiteral(item));
      }
      return literal.empty() ? "{}" : literal + "}";
    default:
      return JsonText(value);
  }
}

// As the command has them: name=value.
absl::StatusOr<std::vector<Parameter>> ParametersFromTexts(const json& texts) {
  std::vector<Parameter> parameters;
  for (const json& text : texts) {
    if (!text.is_string()) return absl::InvalidArgumentError("parameters: expected texts");
    CELLAR_ASSIGN_OR_RETURN(Parameter parameter, Parameter::Parse(text.get<std::string>()));
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

absl::StatusOr<std::vector<Parameter>> ParametersFrom(const json& value) {
  std::vector<Parameter> parameters;
  if (value.is_null()) return parameters;
  if (value.is_array()) return ParametersFromTexts(value);
  if (!value.is_object()) return absl::InvalidArgumentError("parameters: expected an object");
  for (const auto& [name, item] : value.items()) {
    // Only the name can be wrong.
    CELLAR_ASSIGN_OR_RETURN(Parameter parameter, Parameter::Parse(name + "="));
    parameter.literal = PythonLiteral(item);
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

std::vector<CellAddress> CellsFrom(NotebookFieldReader& fields) {
  const json value = fields.Value("cells");
  if (value.is_null()) return {};
  std::vector<CellAddress> cells;
  if (value.is_array()) {
    for (const json& item : value) cells.push_back(fields.CellFrom(item, "cells"));
  }
  if (cells.empty()) fields.Add("cells", "expected a list of indexes or ids of cells");
  return cells;
}

}  // namespace

absl::Status CheckNotebookFiles(const std::vector<std::string>& files) {
  for (const std::string& path : files) {
    struct stat file;
    if (stat(path.c_str(), &file) != 0 || S_ISREG(file.st_mode)) continue;
    return absl::InvalidArgumentError(path + ": not a regular file");
  }
  return absl::OkStatus();
}

absl::StatusOr<NotebookFileRequest> ReadNotebookShow(json& request) {
  NotebookFieldReader fields(request);
  const std::string file = fields.File();
  notebook::ShowOptions options = {.raw = fields.Flag("raw", false),
                                   .outputs = fields.Flag("outputs", false),
                                   .diff = fields.Flag("diff", false)};
  const std::string lines = fields.Text("lines");
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  if (!lines.empty()) {
    CELLAR_ASSIGN_OR_RETURN(options.lines, notebook::ParseLineRanges(lines));
  }
  return NotebookFileRequest{{file}, [file, options](Frame& frame) -> absl::Status {
                               CELLAR_ASSIGN_OR_RETURN(const notebook::Shown shown,
                                                       notebook::ShowFile(file, options));
                               if (shown.text.size() > kMaxShownBytes) {
                                 return absl::InvalidArgumentError(
                                     absl::StrCat(file, ": the text has ", shown.text.size(),
                                                  " bytes, too many for a frame; ask for lines"));
                               }
                               frame.Key("text").String(shown.text);
                               frame.Key("hash").String(shown.hash);
                               return absl::OkStatus();
                             }};
}

absl::StatusOr<NotebookFileRequest> ReadNotebookApply(json& request) {
  NotebookFieldReader fields(request);
  const std::string file = fields.File();
  const std::string text = fields.Text("text", /*required=*/true, kMaxRequestBytes);
  const notebook::FileApplyOptions options = {.keep_outputs = fields.Flag("keep_outputs", false),
                                              .dry_run = fields.Flag("dry_run", false),
                                              .save = fields.Save()};
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  return NotebookFileRequest{
      {file}, [file, text, options](Frame& frame) -> absl::Status {
        CELLAR_ASSIGN_OR_RETURN(const notebook::FileApplied result,
                                notebook::ApplyToFile(file, text, "text", options));
        frame.Key("summary").String(notebook::Summary(result.applied));
        frame.Key("changed").Number(static_cast<int64_t>(result.applied.changed));
        frame.Key("added").Number(static_cast<int64_t>(result.applied.added));
        frame.Key("removed").Number(static_cast<int64_t>(result.applied.removed));
        frame.Key("cleared").BeginArray();
        for (size_t cell : result.applied.cleared) frame.json().Number(static_cast<int64_t>(cell));
        frame.json().EndArray();
        if (options.dry_run) frame.Key("diff").String(result.diff);
        return absl::OkStatus();
      }};
}

absl::StatusOr<NotebookFileRequest> ReadNotebookEdit(json& request) {
  NotebookFieldReader fields(request);
  const std::string file = fields.File();
  const CellAddress cell = fields.Cell("cell");
  const std::string source = fields.Source();
  const notebook::EditOptions options = {.type = fields.Type(),
                                         .keep_outputs = fields.Flag("keep_outputs", false)};
  const notebook::SaveOptions save = fields.Save();
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  return NotebookFileRequest{{file}, [file, cell, source, options, save](Frame& frame) {
                               return TellAction(
                                   notebook::EditInFile(file, cell, source, options, save), frame);
                             }};
}

absl::StatusOr<NotebookFileRequest> ReadNotebookInsert(json& request) {
  NotebookFieldReader fields(request);
  const std::string file = fields.File();
  const CellAddress cell = fields.Cell("cell");
  const std::string source = fields.Source();
  const CellType type = fields.Type().value_or(CellType::kCode);
  const notebook::SaveOptions save = fields.Save();
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  return NotebookFileRequest{{file}, [file, cell, source, type, save](Frame& frame) {
                               return TellAction(
                                   notebook::InsertIntoFile(file, cell, type, source, save), frame);
                             }};
}

absl::StatusOr<NotebookFileRequest> ReadNotebookDelete(json& request) {
  NotebookFieldReader fields(request);
  const std::string file = fields.File();
  const CellAddress cell = fields.Cell("cell");
  const notebook::SaveOptions save = fields.Save();
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  return NotebookFileRequest{{file}, [file, cell, save](Frame& frame) {
                               return TellAction(notebook::DeleteFromFile(file, cell, save), frame);
                             }};
}

absl::StatusOr<NotebookFileRequest> ReadNotebookNew(json& request) {
  NotebookFieldReader fields(request);
  const std::string file = fields.File();
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  return NotebookFileRequest{{file}, [file](Frame&) { return notebook::NewFile(file); }};
}

absl::StatusOr<NotebookFileRequest> ReadNotebookClear(json& request) {
  NotebookFieldReader fields(request);
  const std::string file = fields.File();
  const notebook::SaveOptions save = fields.Save();
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  return NotebookFileRequest{{file},
                             [file, save](Frame&) { return notebook::ClearFile(file, save); }};
}

absl::StatusOr<NotebookFileRequest> ReadNotebookConvert(json& request) {
  NotebookFieldReader fields(request);
  const std::string file = fields.File();
  const bool gives_text = request.value("to", json()) == "-" && notebook::IsNotebookPath(file);
  const std::string to = fields.Path("to", /*required=*/true);
  const notebook::ConvertOptions options = {.keep_outputs = fields.Flag("keep_outputs", false),
                                            .force = fields.Flag("force", false)};
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  if (gives_text) {
    return NotebookFileRequest{{file}, [file](Frame& frame) {
                                 CELLAR_ASSIGN_OR_RETURN(const std::string script,
                                                         notebook::ScriptOfFile(file));
                                 frame.Key("text").String(script);
                                 return absl::OkStatus();
                               }};
  }
  return NotebookFileRequest{
      {file, to}, [file, to, options](Frame&) { return notebook::ConvertFile(file, to, options); }};
}

absl::StatusOr<NotebookSessionRun> ReadNotebookRun(json& request) {
  NotebookFieldReader fields(request);
  NotebookSessionRun what;
  what.run.file = fields.File();
  what.run.output = fields.Path("output", /*required=*/false);
  what.run.selection.cells = CellsFrom(fields);
  if (const json from = fields.Value("from"); !from.is_null()) {
    what.run.selection.from = fields.CellFrom(from, "from");
    if (!what.run.selection.cells.empty()) fields.Add("from", "cannot be with cells");
  }
  const json parameters = fields.Value("parameters");
  what.run.allow_errors = fields.Flag("allow_errors", false);
  if (const json timeout = fields.Value("timeout"); !timeout.is_null()) {
    if (!timeout.is_number()) fields.Add("timeout", "expected a number of seconds");
    ClampedTimeout clamped = ClampTimeout(timeout.is_number() ? timeout.get<double>() : 0);
    what.run.timeout = clamped.timeout;
    what.run.clamp_note = std::move(clamped.note);
  }
  what.run.clear = fields.Flag("clear", false);
  what.session = fields.Name("session");
  what.interpreter = fields.Text("interpreter");
  what.opening = fields.Opening();
  what.owner = fields.Name("owner");
  if (const std::string by = fields.Name("by"); !by.empty()) what.by = by;
  what.stream = fields.Flag("stream", true);
  CELLAR_RETURN_IF_ERROR(fields.Finish());
  CELLAR_ASSIGN_OR_RETURN(what.run.parameters, ParametersFrom(parameters));
  return what;
}

}  // namespace cellar::host
