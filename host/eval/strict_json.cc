#include "host/eval/strict_json.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/base/utf8.h"
#include "host/output/printable.h"
#include "nlohmann/json.hpp"

namespace cellar::host {
namespace {

using nlohmann::json;

constexpr size_t kMaxQuotedBytes = 60;

// Reads JSON without keeping it.
class SyntaxCheck : public nlohmann::json_sax<json> {
 public:
  explicit SyntaxCheck(size_t max_depth) : max_depth_(max_depth) {}

  const std::string& problem() const { return problem_; }

  bool null() override { return Count(); }
  bool boolean(bool) override { return Count(); }
  bool number_integer(number_integer_t) override { return Count(); }
  bool number_unsigned(number_unsigned_t) override { return Count(); }
  bool number_float(number_float_t, const string_t&) override { return Count(); }
  bool string(string_t&) override { return Count(); }
  bool binary(binary_t&) override { return Count(); }
  bool start_object(size_t) override { return Enter(/*is_array=*/false); }
  bool end_object() override { return Leave(); }
  bool start_array(size_t) override { return Enter(/*is_array=*/true); }
  bool end_array() override { return Leave(); }

  bool key(string_t& name) override {
    Level& level = levels_.back();
    level.name = name;
    if (level.names.insert(name).second) return true;
    problem_ = absl::StrCat(PathIn(level), ": stands twice");
    return false;
  }

  bool parse_error(size_t, const std::string&, const json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 3, column 5: ..."
    const std::string_view text = error.what();
    const size_t id_end = text.find("] ");
    problem_ =
        absl::StrCat("request: ", Printable(id_end == text.npos ? text : text.substr(id_end + 2)));
    return false;
  }

 private:
  // An array or object that is being read.
  struct Level {
    bool is_array;
    std::string path;
    size_t index = 0;             // of the value that is being read, or
    std::string name;             // its name
    std::set<std::string> names;  // so far
  };

  static std::string PathIn(const Level& level) {
    return level.is_array ? PathOf(level.path, level.index) : PathOf(level.path, level.name);
  }

  bool Enter(bool is_array) {
    if (levels_.size() == max_depth_) {
      problem_ = absl::StrCat("request: nested deeper than ", max_depth_, " levels");
      return false;
    }
    levels_.push_back(
        {.is_array = is_array, .path = levels_.empty() ? "" : PathIn(levels_.back())});
    return true;
  }

  bool Leave() {
    levels_.pop_back();
    return Count();
  }

  // A value is complete.
  bool Count() {
    if (!levels_.empty()) ++levels_.back().index;
    return true;
  }

  const size_t max_depth_;
  std::vector<Level> levels_;
  std::string problem_;
};

// The value of the four digits after \u at the beginning of `text`, or 0.
uint32_t EscapedUnit(std::string_view text) {
  if (text.size() < 6 || !text.starts_with("\\u")) return 0;
  uint32_t unit = 0;
  const char* const end = text.data() + 6;
  return std::from_chars(text.data() + 2, end, unit, 16).ptr == end ? unit : 0;
}

// Where programs cut strings of UTF-16 in the middle of a pair, they escape the half that is left:
// it is read as U+FFFD, as it is in what cells send. Nothing if there is none.
std::optional<std::string> WithHalfPairsReplaced(std::string_view text) {
  std::optional<std::string> replaced;
  size_t size = 0;
  for (size_t at = text.find('\\'); at < text.size(); at = text.find('\\', at + size)) {
    const uint32_t unit = EscapedUnit(text.substr(at));
    const bool is_half = unit >= 0xD800 && unit < 0xE000;
    const bool is_first = is_half && unit < 0xDC00;
    const uint32_t next = is_first ? EscapedUnit(text.substr(at + 6)) : 0;
    const bool is_pair = next >= 0xDC00 && next < 0xE000;
    size = is_pair ? 12 : is_half ? 6 : 2;
    if (!is_half || is_pair) continue;
    if (!replaced.has_value()) replaced = text;
    replaced->replace(at, 6, "\\uFFFD");
  }
  return replaced;
}

}  // namespace

std::string Shortened(std::string_view text) {
  if (text.size() <= kMaxQuotedBytes) return Printable(text);
  return Printable(text.substr(0, Utf8BorderBefore(text, kMaxQuotedBytes))) + "…";
}

std::string PathOf(const std::string& parent, std::string_view name) {
  return absl::StrCat(parent, parent.empty() ? "" : ".", Shortened(name));
}

std::string PathOf(const std::string& parent, size_t index) {
  return absl::StrCat(parent, "[", index, "]");
}

absl::StatusOr<json> ParseStrictJson(std::string_view text, size_t max_bytes, size_t max_depth) {
  if (text.size() > max_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("request: has ", text.size(), " bytes, more than ", max_bytes));
  }
  SyntaxCheck syntax(max_depth);
  if (json::sax_parse(text, &syntax)) {
    return json::parse(text, nullptr, /*allow_exceptions=*/false);
  }
  if (const std::optional<std::string> replaced = WithHalfPairsReplaced(text)) {
    return ParseStrictJson(*replaced, max_bytes, max_depth);
  }
  return absl::InvalidArgumentError(syntax.problem());
}

json ReadableFields(std::string_view text) {
  json fields = json::object();
  std::string name;
  const auto keep = [&](int depth, json::parse_event_t event, json& value) {
    if (depth != 1) return depth == 0;
    if (event == json::parse_event_t::key) name = value;
    if (event == json::parse_event_t::value) fields.emplace(name, value);
    return event == json::parse_event_t::key;
  };
  (void)json::parse(text, keep, /*allow_exceptions=*/false);
  return fields;
}

}  // namespace cellar::host
