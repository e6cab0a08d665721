#include "host/console/json_tree.h"

#include "host/base/json_text.h"
#include "host/console/text_width.h"
#include "host/output/printable.h"
#include "nlohmann/json.hpp"

namespace cellar::host {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxBytes = 4u << 20;
constexpr int kOneLine = 60;       // columns
constexpr size_t kMaxItems = 100;  // of one object or array

std::string Folded(const Json& value) {
  const bool is_object = value.is_object();
  const std::string count = std::to_string(value.size());
  const std::string what = is_object ? " key" : " item";
  return (is_object ? "{… " : "[… ") + count + what + (value.size() == 1 ? "" : "s") +
         (is_object ? "}" : "]");
}

void Append(const Json& value, int depth, size_t indent, std::string* text) {
  if (!value.is_structured() || value.empty()) {
    *text += JsonText(value);
    return;
  }
  if (depth == 0) {
    *text += Folded(value);
    return;
  }
  const std::string margin((indent + 1) * 2, ' ');
  *text += value.is_object() ? "{\n" : "[\n";
  size_t shown = 0;
  for (auto item = value.begin(); item != value.end(); ++item, ++shown) {
    *text += margin;
    if (shown == kMaxItems) {
      *text += "… " + std::to_string(value.size() - shown) + " more\n";
      break;
    }
    if (value.is_object()) *text += JsonText(Json(item.key())) + ": ";
    Append(*item, depth - 1, indent + 1, text);
    *text += shown + 1 < value.size() ? ",\n" : "\n";
  }
  *text += std::string(indent * 2, ' ') + (value.is_object() ? "}" : "]");
}

// The parser recurses; a worker's JSON may be as deep as it likes.
bool IsTooDeep(std::string_view text) {
  constexpr int kMaxDepth = 500;
  int depth = 0;
  for (char c : text) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kMaxDepth) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> JsonTree(std::string_view text, int depth) {
  if (text.size() > kMaxBytes || IsTooDeep(text)) return std::nullopt;
  const Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_structured()) return std::nullopt;
  std::string tree = JsonText(value);
  if (Columns(tree) > kOneLine) {
    tree.clear();
    Append(value, depth, 0, &tree);
  }
  return Printable(tree);
}

}  // namespace cellar::host
