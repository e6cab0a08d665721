#include "host/eval/strict_json.h"

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
  if (!json::sax_parse(text, &syntax)) return absl::InvalidArgumentError(syntax.problem());
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace cellar::host
