#include "host/execute/output_json.h"

#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "host/base/utf8.h"
#include "notebook/json_scanner.h"
#include "notebook/json_string.h"

namespace cellar::host {
namespace {

using notebook::Layout;
using notebook::Style;

// More containers than a MIME entry stands in within a notebook of any format.
constexpr int kSurroundingDepth = 16;

// By key, so that members come in nbformat's own order.
using Object = std::map<std::string, std::string>;

struct OldKey {
  std::string_view mime;
  std::string_view key;
};

// nbformat 3 names the common types itself.
constexpr std::array<OldKey, 8> kOldKeys = {{{"text/plain", "text"},
                                             {"text/html", "html"},
                                             {"text/latex", "latex"},
                                             {"image/svg+xml", "svg"},
                                             {"image/png", "png"},
                                             {"image/jpeg", "jpeg"},
                                             {"application/javascript", "javascript"},
                                             {"application/json", "json"}}};

bool IsJsonType(std::string_view mime) {
  return mime == "application/json" ||
         (mime.starts_with("application/") && mime.ends_with("+json"));
}

// What nbformat writes as lists of lines; other values stay strings.
bool IsLinesType(std::string_view mime) {
  return (mime.starts_with("text/") || mime == "application/javascript" || mime == "image/svg+xml");
}

// A worker is not trusted to send JSON, nor to stop nesting where readers give up.
bool IsSoundJson(std::string_view json) {
  notebook::JsonScanner scanner(json, 0, kSurroundingDepth);
  notebook::Span value;
  return json.size() <= notebook::kMaxNotebookBytes && scanner.SkipValue(&value) &&
         scanner.ExpectEnd();
}

// Encoded surrogates would come out as escapes that no one can write back; any other invalid byte
// comes out as U+FFFD.
std::string WithoutSurrogates(std::string_view text) {
  constexpr char kLead = '\xED';
  std::string clean;
  size_t rest = 0;  // where what has not been copied begins
  for (size_t at = text.find(kLead); at != std::string_view::npos; at = text.find(kLead, at + 1)) {
    const bool is_surrogate = at + 2 < text.size() &&
                              static_cast<unsigned char>(text[at + 1]) >= 0xA0 &&
                              IsUtf8Continuation(text[at + 1]) && IsUtf8Continuation(text[at + 2]);
    if (!is_surrogate) continue;
    clean.append(text.substr(rest, at - rest)).push_back('\xFF');
    rest = at + 3;
  }
  return clean.append(text.substr(rest));
}

class OutputWriter {
 public:
  OutputWriter(uint32_t execution_count, Layout layout, const Style& style)
      : count_(CountJson(execution_count)), is_old_(layout == Layout::kWorksheets), style_(style) {}

  std::string Write(const RecordedOutput& output) const {
    switch (output.kind) {
      case RecordedOutput::Kind::kStream:
        return WriteStream(output);
      case RecordedOutput::Kind::kDisplay:
        return WriteData(output, {{"output_type", Text("display_data")}});
      case RecordedOutput::Kind::kResult:
        return is_old_
                   ? WriteData(output, {{"output_type", Text("pyout")}, {"prompt_number", count_}})
                   : WriteData(output, {{"output_type", Text("execute_result")},
                                        {"execution_count", count_}});
      case RecordedOutput::Kind::kError:
        return WriteError(output.error);
    }
    return "{}";
  }

 private:
  std::string WriteStream(const RecordedOutput& output) const {
    return Join({{"output_type", Text("stream")},
                 {is_old_ ? "stream" : "name",
                  Text(output.stream == Stream::kStdout ? "stdout" : "stderr")},
                 {"text", Lines(output.text)}});
  }

  std::string WriteData(const RecordedOutput& output, Object members) const {
    const bool has_metadata = output.metadata.starts_with('{') && IsSoundJson(output.metadata);
    members["metadata"] = has_metadata ? output.metadata : "{}";
    Object data;
    for (const wire::MimeEntry& entry : output.data) {
      data.emplace(is_old_ ? OldKeyOf(entry.mime) : entry.mime, Value(entry));
    }
    if (is_old_) {
      members.merge(data);
    } else {
      members["data"] = Join(data);
    }
    return Join(members);
  }

  std::string WriteError(const CellError& error) const {
    std::string lines = "[";
    std::string_view rest = error.traceback;
    while (!rest.empty()) {
      const size_t newline = rest.find('\n');
      if (lines.size() > 1) lines += ',';
      lines += Text(rest.substr(0, newline));
      rest = newline == std::string_view::npos ? "" : rest.substr(newline + 1);
    }
    return Join({{"ename", Text(error.ename)},
                 {"evalue", Text(error.evalue)},
                 {"output_type", Text(is_old_ ? "pyerr" : "error")},
                 {"traceback", lines + "]"}});
  }

  std::string Value(const wire::MimeEntry& entry) const {
    if (entry.kind == wire::MimeKind::kBytes) return Text(absl::Base64Escape(entry.data));
    const bool is_json = !is_old_ && entry.kind == wire::MimeKind::kJson && IsJsonType(entry.mime);
    if (is_json && IsSoundJson(entry.data)) return entry.data;
    return IsLinesType(entry.mime) ? Lines(entry.data) : Text(entry.data);
  }

  static std::string OldKeyOf(const std::string& mime) {
    for (const OldKey& old : kOldKeys) {
      if (mime == old.mime) return std::string(old.key);
    }
    return mime;
  }

  // A list of lines, or a string where the file has strings.
  std::string Lines(std::string_view text) const {
    if (style_.string_sources) return Text(text);
    std::string lines = "[";
    while (!text.empty()) {
      const size_t newline = text.find('\n');
      const size_t size = newline == std::string_view::npos ? text.size() : newline + 1;
      if (lines.size() > 1) lines += ',';
      lines += Text(text.substr(0, size));
      text.remove_prefix(size);
    }
    return lines + "]";
  }

  std::string Text(std::string_view text) const {
    return notebook::Quoted(WithoutSurrogates(text), style_.escapes);
  }

  std::string Join(const Object& members) const {
    std::string json = "{";
    for (const auto& [key, value] : members) {
      if (json.size() > 1) json += ',';
      json += Text(key) + ":" + value;
    }
    return json + "}";
  }

  std::string count_;
  bool is_old_;
  const Style& style_;
};

}  // namespace

std::string OutputsJson(const std::vector<RecordedOutput>& outputs, uint32_t execution_count,
                        notebook::Layout layout, const notebook::Style& style) {
  const OutputWriter writer(execution_count, layout, style);
  std::string json = "[";
  for (const RecordedOutput& output : outputs) {
    if (json.size() > 1) json += ',';
    json += writer.Write(output);
  }
  return json + "]";
}

std::string CountJson(uint32_t execution_count) {
  return execution_count == 0 ? "null" : std::to_string(execution_count);
}

}  // namespace cellar::host
