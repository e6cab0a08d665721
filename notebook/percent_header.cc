#include "notebook/percent_header.h"

#include <algorithm>
#include <utility>

#include "notebook/json_format.h"
#include "notebook/json_scanner.h"
#include "notebook/json_string.h"

namespace cellar::notebook {
namespace {

constexpr std::string_view kFence = "# ---";
constexpr std::string_view kRoot = "# jupyter:";
constexpr std::string_view kOwnKey = "cellar";
constexpr std::string_view kJupytext =
    "{\"text_representation\": {\"extension\": \".py\", \"format_name\": \"percent\"}}";

bool IsJson(std::string_view text) {
  JsonScanner scanner(text);
  Span value;
  return scanner.SkipValue(&value) && scanner.ExpectEnd();
}

void AppendJsonMember(std::string_view key, std::string_view value, std::string* object) {
  if (object->size() > 1) *object += ", ";
  AppendQuoted(key, {}, object);
  *object += ": ";
  *object += value;
}

void AppendLine(std::string_view key, std::string_view value, std::string* out) {
  const bool is_plain = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
  *out += "#   ";
  *out += is_plain ? std::string(key) : Quoted(key, {});
  *out += ": ";
  *out += value;
  *out += '\n';
}

// One `key: value` of the block.
struct Entry {
  size_t indent;
  std::string key;
  std::string_view value;
};

std::string_view Trimmed(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const size_t end = text.find_last_not_of(" \t\r") + 1;
  return end > begin ? text.substr(begin, end - begin) : "";
}

// The end of the key at the start of `text`, which may be quoted; npos if none.
size_t KeyEnd(std::string_view text) {
  if (!text.starts_with('"')) return text.find(':');
  JsonScanner scanner(text);
  Span key;
  return scanner.SkipValue(&key) ? key.end : std::string_view::npos;
}

std::vector<Entry> ReadEntries(const std::vector<std::string_view>& lines) {
  std::vector<Entry> entries;
  for (std::string_view line : lines) {
    if (!line.starts_with('#')) continue;
    line.remove_prefix(1);
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view text = line.substr(indent);
    const size_t key_end = KeyEnd(text);
    if (text.starts_with('-') || key_end >= text.size() || text[key_end] != ':') continue;
    const std::string_view key = text.substr(0, key_end);
    entries.push_back({indent, key.starts_with('"') ? Decoded(key) : std::string(key),
                       Trimmed(text.substr(key_end + 1))});
  }
  return entries;
}

std::string ScalarToJson(std::string_view value) {
  if (IsJson(value)) return std::string(value);
  const bool is_quoted = value.size() > 1 && value.front() == '\'' && value.back() == '\'';
  return Quoted(is_quoted ? value.substr(1, value.size() - 2) : value, {});
}

// The JSON of the entries below `entries[parent]`; the members at its own level come from it too.
std::string BlockToJson(const std::vector<Entry>& entries, size_t parent) {
  std::string object = "{";
  size_t i = parent + 1;
  while (i < entries.size() && entries[i].indent > entries[parent].indent) {
    const Entry& entry = entries[i];
    size_t next = i + 1;
    while (next < entries.size() && entries[next].indent > entry.indent) ++next;
    const bool is_block = entry.value.empty() && entry.indent < kMaxJsonDepth;
    AppendJsonMember(entry.key, is_block ? BlockToJson(entries, i) : ScalarToJson(entry.value),
                     &object);
    i = next;
  }
  return object + "}";
}

// Sorts the members of the jupyter mapping into the two parts of a header.
PercentHeader HeaderFromMapping(const std::string& json) {
  PercentHeader header;
  header.metadata = "{";
  const std::string_view bytes = json;
  for (const Member& member : Members(bytes, {0, static_cast<uint32_t>(json.size())})) {
    const std::string key = Decoded(Slice(bytes, member.key));
    const std::string_view value = Slice(bytes, member.value);
    if (key == kOwnKey && value.starts_with('{')) {
      header.top = value;
    } else if (key != "jupytext" || value != kJupytext) {
      AppendJsonMember(key, value, &header.metadata);
    }
  }
  header.metadata += "}";
  return header;
}

}  // namespace

std::string WriteHeader(const Document& document) {
  const std::string& bytes = document.bytes();
  const auto top_begin = static_cast<uint32_t>(bytes.find('{'));
  std::string own = "{";
  std::string lines;
  bool has_jupytext = false;
  for (const Member& member : Members(bytes, {top_begin, 0})) {
    const std::string key = Decoded(Slice(bytes, member.key));
    const std::string_view value = Slice(bytes, member.value);
    if (key == "metadata" && value.starts_with('{')) {
      for (const Member& entry : Members(bytes, member.value)) {
        const std::string name = Decoded(Slice(bytes, entry.key));
        has_jupytext = has_jupytext || name == "jupytext";
        AppendLine(name, OneLine(Slice(bytes, entry.value)), &lines);
      }
    } else if (key != "cells" && key != "worksheets") {
      AppendJsonMember(key, OneLine(value), &own);
    }
  }
  std::string header = std::string(kFence) + "\n" + std::string(kRoot) + "\n";
  if (!has_jupytext) AppendLine("jupytext", kJupytext, &header);
  header += lines;
  AppendLine(kOwnKey, own + "}", &header);
  return header + std::string(kFence) + "\n\n";
}

PercentHeader TakeHeader(std::vector<std::string_view>* lines) {
  auto begin = lines->begin();
  // A script may say how to run it and in which encoding it is; a notebook has no place for either.
  while (begin != lines->end() && (begin->starts_with("#!") || begin->starts_with("# -*-")))
    ++begin;
  if (begin == lines->end() || Trimmed(*begin) != kFence) return {};
  auto end = std::find_if(begin + 1, lines->end(),
                          [](std::string_view line) { return Trimmed(line) == kFence; });
  if (end == lines->end()) return {};
  const std::vector<Entry> entries = ReadEntries({begin + 1, end});
  auto root = std::find_if(entries.begin(), entries.end(), [](const Entry& entry) {
    return entry.key == "jupyter" && entry.value.empty();
  });
  lines->erase(lines->begin(), end + 1);
  if (root == entries.end()) return {};
  return HeaderFromMapping(BlockToJson(entries, root - entries.begin()));
}

}  // namespace cellar::notebook
