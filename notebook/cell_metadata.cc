#include "notebook/cell_metadata.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "notebook/json_format.h"
#include "notebook/json_scanner.h"
#include "notebook/json_string.h"
#include "notebook/list_rewriter.h"

namespace cellar::notebook {
namespace {

constexpr int kMetadataLevel = 0;
constexpr int kMemberLevel = 1;

bool IsObject(std::string_view bytes, const std::optional<Span>& value) {
  return value && bytes[value->begin] == '{';
}

}  // namespace

bool HasTag(const Document& document, size_t cell, std::string_view tag) {
  const std::string& bytes = document.bytes();
  const std::optional<Span> metadata = FindMember(bytes, document.span(cell), "metadata");
  if (!IsObject(bytes, metadata)) return false;
  const std::optional<Span> tags = FindMember(bytes, *metadata, "tags");
  if (!tags || bytes[tags->begin] != '[') return false;
  const std::vector<Span> items = Items(bytes, *tags);
  return std::any_of(items.begin(), items.end(), [&](Span item) {
    return bytes[item.begin] == '"' && StandsFor(Slice(bytes, item), tag);
  });
}

std::string MetadataWith(const Document& document, size_t cell, std::string_view key,
                         std::string_view json, const Style& style) {
  const std::string& bytes = document.bytes();
  const std::string value = InStyle(json, style, kMemberLevel);
  const std::string member = Quoted(key, style.escapes) + style.colon + value;
  const Gaps gaps = GapsInCell(style, kMetadataLevel);
  const std::optional<Span> metadata = FindMember(bytes, document.span(cell), "metadata");
  if (!IsObject(bytes, metadata)) return "{" + gaps.open + member + gaps.close + "}";

  const std::vector<Member> members = Members(bytes, *metadata);
  std::vector<Span> spans;
  std::vector<std::string> keys;
  for (const Member& old : members) {
    spans.push_back({old.key.begin, old.value.end});
    keys.push_back(Decoded(Slice(bytes, old.key)));
  }
  const bool is_new = std::find(keys.begin(), keys.end(), key) == keys.end();
  const bool is_sorted = std::is_sorted(keys.begin(), keys.end());
  std::string out;
  ListRewriter list(bytes, *metadata, spans, gaps, &out);
  bool added = !is_new;
  for (size_t i = 0; i < members.size(); ++i) {
    if (!added && is_sorted && keys[i] > key) {
      list.Add(member);
      added = true;
    }
    if (keys[i] == key) {
      const Span before_value{spans[i].begin, members[i].value.begin};
      list.Replace(i, std::string(Slice(bytes, before_value)) + value);
    } else {
      list.Keep(i);
    }
  }
  if (!added) list.Add(member);
  list.Finish();
  return out;
}

}  // namespace cellar::notebook
