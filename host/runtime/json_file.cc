#include "host/runtime/json_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "host/base/status.h"

namespace cellar::host {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMaxFileBytes = 1 << 20;
constexpr int kMaxDepth = 16;  // settings need two levels

// Checks text without building values, for what json::parse does not tell without exceptions: where
// an error is, how deep the nesting goes, and which key stands twice.
class SyntaxCheck : public nlohmann::json_sax<json> {
 public:
  const std::string& problem() const { return problem_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t& name) override {
    if (depth_ > 1 || keys_.insert(name).second) return true;  // settings have no objects inside
    problem_ = absl::StrCat(name, ": stands twice");
    return false;
  }
  bool start_object(size_t) override { return Enter(); }
  bool end_object() override { return Leave(); }
  bool start_array(size_t) override { return Enter(); }
  bool end_array() override { return Leave(); }
  bool parse_error(size_t, const std::string&, const json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 3, column 5: ..."
    const std::string text = error.what();
    const size_t id_end = text.find("] ");
    problem_ = id_end == std::string::npos ? text : text.substr(id_end + 2);
    return false;
  }

 private:
  bool Enter() {
    if (++depth_ <= kMaxDepth) return true;
    problem_ = absl::StrCat("nested deeper than ", kMaxDepth, " levels");
    return false;
  }
  bool Leave() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  std::set<std::string> keys_;  // of the outermost object
  std::string problem_;
};

// nullopt when there is no such file.
absl::StatusOr<std::optional<std::string>> ReadSmallFile(const std::string& path) {
  const std::string what = absl::StrCat("reading settings from ", path);
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  if (type == fs::file_type::not_found) return std::nullopt;
  if (type == fs::file_type::none) return ErrnoStatus(error.value(), what);
  if (type != fs::file_type::regular) {  // a FIFO would hold the host up
    return absl::InvalidArgumentError(absl::StrCat(what, ": not a regular file"));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return ErrnoStatus(errno, what);
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return ErrnoStatus(errno, what);
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMaxFileBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": larger than ", kMaxFileBytes, " bytes"));
  }
  return text;
}

}  // namespace

absl::StatusOr<std::optional<json>> ReadJsonFile(const std::string& path) {
  CELLAR_ASSIGN_OR_RETURN(std::optional<std::string> text, ReadSmallFile(path));
  if (!text.has_value()) return std::nullopt;
  SyntaxCheck check;
  if (!json::sax_parse(*text, &check)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", check.problem()));
  }
  return json::parse(*text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace cellar::host
