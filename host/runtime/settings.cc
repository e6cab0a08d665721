#include "host/runtime/settings.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/base/status.h"
#include "nlohmann/json.hpp"

namespace cellar::host {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMaxFileBytes = 1 << 20;
constexpr int kMaxDepth = 16;  // settings need two levels

// Where a value stands, for messages: "<file>: preload[2]".
struct Place {
  std::string text;

  Place Under(const std::string& key) const { return {absl::StrCat(text, ": ", key)}; }
  Place Item(size_t index) const { return {absl::StrCat(text, "[", index, "]")}; }
  absl::Status Error(const std::string& problem) const {
    return absl::InvalidArgumentError(absl::StrCat(text, ": ", problem));
  }
  absl::Status WrongType(const char* expected, const json& found) const {
    return Error(absl::StrCat("expected ", expected, ", found ", found.type_name()));
  }
};

absl::Status ReadString(const json& value, const Place& place, std::string& out) {
  if (!value.is_string()) return place.WrongType("a string", value);
  out = value.get<std::string>();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ReadStrings(const json& value, const Place& place) {
  if (!value.is_array()) return place.WrongType("a list of strings", value);
  std::vector<std::string> strings;
  for (size_t i = 0; i < value.size(); ++i) {
    CELLAR_RETURN_IF_ERROR(ReadString(value[i], place.Item(i), strings.emplace_back()));
    if (strings.back().empty()) return place.Item(i).Error("is empty");
  }
  return strings;
}

absl::Status ReadModules(const json& value, const Place& place, std::vector<std::string>& out) {
  CELLAR_ASSIGN_OR_RETURN(out, ReadStrings(value, place));
  return absl::OkStatus();
}

absl::Status AddPatterns(const json& value, const Place& place, std::vector<std::string>& out) {
  CELLAR_ASSIGN_OR_RETURN(std::vector<std::string> patterns, ReadStrings(value, place));
  for (size_t i = 0; i < patterns.size(); ++i) {
    const size_t star = patterns[i].find('*');
    if (absl::StrContains(patterns[i], "=") ||
        (star != std::string::npos && star + 1 != patterns[i].size())) {
      return place.Item(i).Error(absl::StrCat(
          "\"", patterns[i], "\" is neither a variable's name nor a prefix followed by *"));
    }
  }
  out.insert(out.end(), patterns.begin(), patterns.end());
  return absl::OkStatus();
}

absl::StatusOr<double> ReadNumber(const json& value, const Place& place, double min, double max) {
  if (!value.is_number()) return place.WrongType("a number", value);
  const double number = value.get<double>();
  if (!(number >= min && number <= max)) {
    return place.Error(absl::StrCat(value.dump(), " is not between ", min, " and ", max));
  }
  return number;
}

absl::Status ReadSeconds(const json& value, const Place& place, double max, absl::Duration& out) {
  CELLAR_ASSIGN_OR_RETURN(double seconds, ReadNumber(value, place, 0, max));
  out = absl::Seconds(seconds);
  return absl::OkStatus();
}

struct IntegerRange {
  int64_t min;
  int64_t max;
};

absl::StatusOr<int64_t> ReadInteger(const json& value, const Place& place, IntegerRange range) {
  if (!value.is_number_integer()) return place.WrongType("a whole number", value);
  CELLAR_RETURN_IF_ERROR(ReadNumber(value, place, range.min, range.max).status());
  return value.get<int64_t>();
}

absl::Status ReadCount(const json& value, const Place& place, IntegerRange range, int& out) {
  CELLAR_ASSIGN_OR_RETURN(int64_t count, ReadInteger(value, place, range));
  out = static_cast<int>(count);
  return absl::OkStatus();
}

absl::Status ReadSize(const json& value, const Place& place, IntegerRange range, int64_t unit,
                      int64_t& out) {
  CELLAR_ASSIGN_OR_RETURN(int64_t size, ReadInteger(value, place, range));
  out = size * unit;
  return absl::OkStatus();
}

template <typename T>
using Choices = std::vector<std::pair<absl::string_view, T>>;

template <typename T>
absl::Status ReadChoice(const json& value, const Place& place, const Choices<T>& choices, T& out) {
  std::string name;
  CELLAR_RETURN_IF_ERROR(ReadString(value, place, name));
  for (const auto& [choice, meaning] : choices) {
    if (name == choice) {
      out = meaning;
      return absl::OkStatus();
    }
  }
  const std::string known = absl::StrJoin(choices, ", ", [](std::string* text, const auto& choice) {
    absl::StrAppend(text, choice.first);
  });
  return place.Error(absl::StrCat("\"", name, "\" is not one of ", known));
}

const Choices<ToolMode>& ToolModes() {
  static const auto& modes = *new Choices<ToolMode>{{"both", ToolMode::kBoth},
                                                    {"ipy-only", ToolMode::kIpyOnly},
                                                    {"bash-only", ToolMode::kBashOnly}};
  return modes;
}

struct Field {
  absl::string_view key;
  absl::Status (*read)(const json& value, const Place& place, Settings& settings);
};

constexpr double kMaxGraceSeconds = 3600;
constexpr double kMaxIdleSeconds = 365 * 24 * 3600;
constexpr IntegerRange kSessionRange = {1, 100'000};
constexpr IntegerRange kMemoryCapRangeMb = {0, int64_t{1} << 30};
constexpr IntegerRange kOutputBudgetRangeKb = {1, int64_t{1} << 20};
constexpr IntegerRange kSnapshotsRange = {1, 1000};
constexpr IntegerRange kPercentRange = {1, 100};

constexpr Field kFields[] = {
    {"interpreter",
     [](const json& v, const Place& at, Settings& s) { return ReadString(v, at, s.interpreter); }},
    {"preload",
     [](const json& v, const Place& at, Settings& s) { return ReadModules(v, at, s.preload); }},
    {"env_allow",
     [](const json& v, const Place& at, Settings& s) { return AddPatterns(v, at, s.env_allow); }},
    {"env_deny",
     [](const json& v, const Place& at, Settings& s) { return AddPatterns(v, at, s.env_deny); }},
    {"tool_mode", [](const json& v, const Place& at,
                     Settings& s) { return ReadChoice(v, at, ToolModes(), s.tool_mode); }},
    {"interrupt_grace_s",
     [](const json& v, const Place& at, Settings& s) {
       return ReadSeconds(v, at, kMaxGraceSeconds, s.interrupt_grace);
     }},
    {"max_sessions", [](const json& v, const Place& at,
                        Settings& s) { return ReadCount(v, at, kSessionRange, s.max_sessions); }},
    {"idle_timeout_s",
     [](const json& v, const Place& at, Settings& s) {
       return ReadSeconds(v, at, kMaxIdleSeconds, s.idle_timeout);
     }},
    {"memory_cap_mb",
     [](const json& v, const Place& at, Settings& s) {
       return ReadSize(v, at, kMemoryCapRangeMb, 1 << 20, s.memory_cap_bytes);
     }},
    {"retry",
     [](const json& v, const Place& at, Settings& s) {
       return ReadChoice<Retry>(v, at, {{"never", Retry::kNever}, {"once", Retry::kOnce}}, s.retry);
     }},
    {"output_budget_kb",
     [](const json& v, const Place& at, Settings& s) {
       return ReadSize(v, at, kOutputBudgetRangeKb, 1 << 10, s.output_budget_bytes);
     }},
    {"snapshots",
     [](const json& v, const Place& at, Settings& s) {
       return ReadChoice<SnapshotPolicy>(v, at,
                                         {{"auto", SnapshotPolicy::kAuto},
                                          {"always", SnapshotPolicy::kAlways},
                                          {"off", SnapshotPolicy::kOff}},
                                         s.snapshots);
     }},
    {"snapshots_kept",
     [](const json& v, const Place& at, Settings& s) {
       return ReadCount(v, at, kSnapshotsRange, s.snapshots_kept);
     }},
    {"snapshots_memory_percent",
     [](const json& v, const Place& at, Settings& s) {
       return ReadCount(v, at, kPercentRange, s.snapshots_memory_percent);
     }},
};

absl::Status ReadField(const std::string& key, const json& value, const Place& file,
                       Settings& settings) {
  for (const Field& field : kFields) {
    if (key == field.key) return field.read(value, file.Under(key), settings);
  }
  const std::string known = absl::StrJoin(kFields, ", ", [](std::string* text, const Field& field) {
    absl::StrAppend(text, field.key);
  });
  return file.Under(key).Error(absl::StrCat("unknown setting; known are ", known));
}

// Checks text without building values, for what json::parse does not tell without exceptions: where
// an error is, and how deep the nesting goes.
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
  bool key(string_t&) override { return true; }
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

absl::Status ReadSettingsFile(const std::string& path, Settings& settings) {
  CELLAR_ASSIGN_OR_RETURN(std::optional<std::string> text, ReadSmallFile(path));
  if (!text.has_value()) return absl::OkStatus();
  const Place file{path};
  SyntaxCheck check;
  if (!json::sax_parse(*text, &check)) return file.Error(check.problem());
  const json document = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return file.WrongType("an object", document);
  for (const auto& [key, value] : document.items()) {
    CELLAR_RETURN_IF_ERROR(ReadField(key, value, file, settings));
  }
  return absl::OkStatus();
}

absl::Status ReadPiPy(const std::string& value, Settings& settings) {
  if (value == "0" || value == "bash") {
    settings.tool_mode = ToolMode::kBashOnly;
  } else if (value == "1" || value == "py") {
    settings.tool_mode = ToolMode::kIpyOnly;
  } else if (value == "mix" || value == "both") {
    settings.tool_mode = ToolMode::kBoth;
  } else if (!value.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("environment variable PI_PY: \"", value,
                                                   "\" is not one of 0, bash, 1, py, mix, both"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view ToolModeName(ToolMode mode) {
  for (const auto& [name, known] : ToolModes()) {
    if (known == mode) return name;
  }
  return "unknown";
}

absl::StatusOr<Settings> LoadSettings(const Environment& env, const std::string& cwd) {
  const auto file_in = [](const fs::path& directory) {
    return (directory / ".cellar" / "settings.json").lexically_normal().string();
  };
  Settings settings;
  std::vector<std::string> files;
  if (std::string home = EnvironmentValue(env, "HOME"); !home.empty()) {
    files.push_back(file_in(home));
  }
  if (std::string project = file_in(cwd); files.empty() || files.back() != project) {
    files.push_back(project);
  }
  for (const std::string& file : files) CELLAR_RETURN_IF_ERROR(ReadSettingsFile(file, settings));
  CELLAR_RETURN_IF_ERROR(ReadPiPy(EnvironmentValue(env, "PI_PY"), settings));
  return settings;
}

}  // namespace cellar::host
