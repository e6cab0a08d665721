#include "notebook/output_view.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "notebook/json_scanner.h"
#include "notebook/json_string.h"
#include "notebook/marker.h"

namespace cellar::notebook {
namespace {

struct ShownType {
  std::string_view mime;
  std::string_view old_key;  // in nbformat 2 and 3
};

// Text that reads well, best first.
constexpr std::array<ShownType, 5> kReadable = {{{"text/plain", "text"},
                                                 {"text/markdown", "markdown"},
                                                 {"text/latex", "latex"},
                                                 {"application/json", "json"},
                                                 {"text/html", "html"}}};

// A string, a list of strings joined, or any other value as it is written.
std::string TextOf(std::string_view bytes, Span value) {
  if (bytes[value.begin] == '"') return Decoded(Slice(bytes, value));
  if (bytes[value.begin] != '[') return std::string(Slice(bytes, value));
  std::string text;
  for (Span item : Items(bytes, value)) {
    if (bytes[item.begin] != '"') return std::string(Slice(bytes, value));
    AppendDecoded(Slice(bytes, item), &text);
  }
  return text;
}

std::string MemberText(std::string_view bytes, Span object, std::string_view key) {
  const std::optional<Span> value = FindMember(bytes, object, key);
  return value ? TextOf(bytes, *value) : "";
}

// Takes out terminal escape sequences (ESC [ … letter), with which tracebacks are coloured.
std::string WithoutColours(std::string_view text) {
  std::string plain;
  size_t pos = 0;
  while (pos < text.size()) {
    if (text.substr(pos, 2) == "\x1b[") {
      pos += 2;
      while (pos < text.size() && (text[pos] < '@' || text[pos] > '~')) ++pos;
      ++pos;
    } else {
      plain += text[pos++];
    }
  }
  return plain;
}

// A line that would become a marker is escaped as in a source: what is printed is never a cell.
void AppendComment(std::string_view text, std::string* out) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::string comment;
  while (true) {
    const size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    comment += line.empty() ? "#" : "# ";
    comment += line;
    comment += '\n';
    if (newline == std::string_view::npos) break;
    text.remove_prefix(newline + 1);
  }
  AppendEscaped(comment, out);
}

std::optional<Member> FindReadable(std::string_view bytes, const std::vector<Member>& data) {
  for (const ShownType& type : kReadable) {
    for (const Member& member : data) {
      const std::string_view key = Slice(bytes, member.key);
      if (StandsFor(key, type.mime) || StandsFor(key, type.old_key)) return member;
    }
  }
  return std::nullopt;
}

// Members of an output that are not data; in nbformat 2 and 3 they stand among it.
bool IsOutputProperty(std::string_view key) {
  constexpr std::array<std::string_view, 5> kProperties = {
      "output_type", "metadata", "prompt_number", "execution_count", "transient"};
  return std::find(kProperties.begin(), kProperties.end(), key) != kProperties.end();
}

// Of what the text stands for: images that are not text are in base64.
size_t DataSize(std::string_view key, std::string_view text) {
  const bool is_image = key.starts_with("image/") || key == "png" || key == "jpeg";
  if ((!is_image && key != "application/pdf") || key == "image/svg+xml") return text.size();
  const auto digits = static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return c != '=' && c != '\n' && c != '\r' && c != ' '; }));
  return digits * 3 / 4;
}

void AppendData(std::string_view bytes, Span data, std::string* out) {
  const std::vector<Member> members = Members(bytes, data);
  const std::optional<Member> shown = FindReadable(bytes, members);
  if (shown) AppendComment(WithoutColours(TextOf(bytes, shown->value)), out);
  for (const Member& member : members) {
    const std::string key = Decoded(Slice(bytes, member.key));
    if (IsOutputProperty(key) || (shown && member.key.begin == shown->key.begin)) continue;
    const size_t size = DataSize(key, TextOf(bytes, member.value));
    AppendComment("(" + key + ", " + std::to_string(size) + " bytes)", out);
  }
}

void AppendError(std::string_view bytes, Span output, std::string* out) {
  std::string text;
  if (const std::optional<Span> traceback = FindMember(bytes, output, "traceback");
      traceback && bytes[traceback->begin] == '[') {
    for (Span line : Items(bytes, *traceback)) text += TextOf(bytes, line) + "\n";
  }
  if (text.empty()) {
    text = MemberText(bytes, output, "ename") + ": " + MemberText(bytes, output, "evalue");
  }
  AppendComment(WithoutColours(text), out);
}

void AppendOutput(std::string_view bytes, Span output, std::string* out) {
  if (bytes[output.begin] != '{') return;
  const std::string type = MemberText(bytes, output, "output_type");
  if (type == "stream") {
    std::string name = MemberText(bytes, output, "name");
    if (name.empty()) name = MemberText(bytes, output, "stream");
    AppendComment("[" + name + "]", out);
    AppendComment(WithoutColours(MemberText(bytes, output, "text")), out);
  } else if (type == "error" || type == "pyerr") {
    AppendComment("[error]", out);
    AppendError(bytes, output, out);
  } else {
    AppendComment("[" + type + "]", out);
    const std::optional<Span> data = FindMember(bytes, output, "data");
    AppendData(bytes, data && bytes[data->begin] == '{' ? *data : output, out);
  }
}

}  // namespace

std::string OutputsText(const Document& document, size_t cell) {
  const std::string& bytes = document.bytes();
  const std::optional<Span> outputs = FindMember(bytes, document.span(cell), "outputs");
  std::string text;
  if (!outputs || bytes[outputs->begin] != '[') return text;
  for (Span output : Items(bytes, *outputs)) AppendOutput(bytes, output, &text);
  return text;
}

}  // namespace cellar::notebook
