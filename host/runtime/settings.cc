#include "host/runtime/settings.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "host/base/status.h"
#include "host/runtime/json_file.h"
#include "nlohmann/json.hpp"

namespace cellar::host {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

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
    return place.Error(absl::StrFormat("%s is not between %.0f and %.0f", value.dump(), min, max));
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

// How a value is written where there is no JSON: in a variable or on the command line.
enum class Form { kText, kNumber, kList };

struct Field {
  absl::string_view key;
  Form form;
  absl::Status (*read)(const json& value, const Place& place, Settings& settings);
  json (*show)(const Settings& settings);
  bool of_host = false;  // as in ShownSetting
};

constexpr double kMaxGraceSeconds = 3600;
constexpr double kMaxIdleSeconds = 365 * 24 * 3600;
constexpr double kMaxAgeHours = 10 * 365 * 24;
constexpr IntegerRange kSessionRange = {1, 100'000};
constexpr IntegerRange kWaitingRange = {1, 1'000'000};
constexpr IntegerRange kMemoryCapRangeMb = {0, int64_t{1} << 30};
constexpr IntegerRange kArtifactsRangeMb = {0, int64_t{1} << 30};
constexpr IntegerRange kOutputBudgetRangeKb = {1, int64_t{1} << 20};
constexpr IntegerRange kDisplayInlineRangeKb = {0, int64_t{1} << 20};
constexpr IntegerRange kSnapshotsRange = {1, 1000};
constexpr IntegerRange kPercentRange = {1, 100};

const Choices<Retry>& Retries() {
  static const auto& retries =
      *new Choices<Retry>{{"never", Retry::kNever}, {"once", Retry::kOnce}};
  return retries;
}

const Choices<SnapshotPolicy>& SnapshotPolicies() {
  static const auto& policies = *new Choices<SnapshotPolicy>{{"auto", SnapshotPolicy::kAuto},
                                                             {"always", SnapshotPolicy::kAlways},
                                                             {"off", SnapshotPolicy::kOff}};
  return policies;
}

template <typename T>
json NameOf(const Choices<T>& choices, T value) {
  for (const auto& [name, known] : choices) {
    if (known == value) return std::string(name);
  }
  return nullptr;
}

constexpr Field kFields[] = {
    {"interpreter", Form::kText,
     [](const json& v, const Place& at, Settings& s) { return ReadString(v, at, s.interpreter); },
     [](const Settings& s) { return json(s.interpreter); }},
    {"preload", Form::kList,
     [](const json& v, const Place& at, Settings& s) { return ReadModules(v, at, s.preload); },
     [](const Settings& s) { return json(s.preload); }},
    {"env_allow", Form::kList,
     [](const json& v, const Place& at, Settings& s) { return AddPatterns(v, at, s.env_allow); },
     [](const Settings& s) { return json(s.env_allow); }},
    {"env_deny", Form::kList,
     [](const json& v, const Place& at, Settings& s) { return AddPatterns(v, at, s.env_deny); },
     [](const Settings& s) { return json(s.env_deny); }},
    {"tool_mode", Form::kText,
     [](const json& v, const Place& at, Settings& s) {
       return ReadChoice(v, at, ToolModes(), s.tool_mode);
     },
     [](const Settings& s) { return NameOf(ToolModes(), s.tool_mode); }, /*of_host=*/true},
    {"interrupt_grace_s", Form::kNumber,
     [](const json& v, const Place& at, Settings& s) {
       return ReadSeconds(v, at, kMaxGraceSeconds, s.interrupt_grace);
     },
     [](const Settings& s) { return json(absl::ToDoubleSeconds(s.interrupt_grace)); }},
    {"max_sessions", Form::kNumber,
     [](const json& v, const Place& at, Settings& s) {
       return ReadCount(v, at, kSessionRange, s.max_sessions);
     },
     [](const Settings& s) { return json(s.max_sessions); }, /*of_host=*/true},
    {"max_waiting_calls", Form::kNumber,
     [](const json& v, const Place& at, Settings& s) {
       return ReadCount(v, at, kWaitingRange, s.max_waiting_calls);
     },
     [](const Settings& s) { return json(s.max_waiting_calls); }, /*of_host=*/true},
    {"idle_timeout_s", Form::kNumber,
     [](const json& v, const Place& at, Settings& s) {
       return ReadSeconds(v, at, kMaxIdleSeconds, s.idle_timeout);
     },
     [](const Settings& s) { return json(absl::ToDoubleSeconds(s.idle_timeout)); }},
    {"memory_cap_mb", Form::kNumber,
     [](const json& v, const Place& at, Settings& s) {
       return ReadSize(v, at, kMemoryCapRangeMb, 1 << 20, s.memory_cap_bytes);
     },
     [](const Settings& s) { return json(s.memory_cap_bytes >> 20); }},
    {"retry", Form::kText,
     [](const json& v, const Place& at, Settings& s) {
       return ReadChoice(v, at, Retries(), s.retry);
     },
     [](const Settings& s) { return NameOf(Retries(), s.retry); }},
    {"output_budget_kb", Form::kNumber,
     [](const json& v, const Place& at, Settings& s) {
       return ReadSize(v, at, kOutputBudgetRangeKb, 1 << 10, s.output_budget_bytes);
     },
     [](const Settings& s) { return json(s.output_budget_bytes >> 10); }},
    {"display_inline_kb", Form::kNumber,
     [](const json& v, const Place& at, Settings& s) {
       return ReadSize(v, at, kDisplayInlineRangeKb, 1 << 10, s.display_inline_bytes);
     },
     [](const Settings& s) { return json(s.display_inline_bytes >> 10); }},
    {"artifacts_max_age_h", Form::kNumber,
     [](const json& v, const Place& at, Settings& s) {
       CELLAR_ASSIGN_OR_RETURN(double hours, ReadNumber(v, at, 0, kMaxAgeHours));
       s.artifacts_max_age = absl::Hours(hours);
       return absl::OkStatus();
     },
     [](const Settings& s) { return json(absl::ToDoubleHours(s.artifacts_max_age)); },
     /*of_host=*/true},
    {"artifacts_max_mb", Form::kNumber,
     [](const json& v, const Place& at, Settings& s) {
       return ReadSize(v, at, kArtifactsRangeMb, 1 << 20, s.artifacts_max_bytes);
     },
     [](const Settings& s) { return json(s.artifacts_max_bytes >> 20); }, /*of_host=*/true},
    {"snapshots", Form::kText,
     [](const json& v, const Place& at, Settings& s) {
       return ReadChoice(v, at, SnapshotPolicies(), s.snapshots);
     },
     [](const Settings& s) { return NameOf(SnapshotPolicies(), s.snapshots); }},
    {"snapshots_kept", Form::kNumber,
     [](const json& v, const Place& at, Settings& s) {
       return ReadCount(v, at, kSnapshotsRange, s.snapshots_kept);
     },
     [](const Settings& s) { return json(s.snapshots_kept); }},
    {"snapshots_memory_percent", Form::kNumber,
     [](const json& v, const Place& at, Settings& s) {
       return ReadCount(v, at, kPercentRange, s.snapshots_memory_percent);
     },
     [](const Settings& s) { return json(s.snapshots_memory_percent); }},
};

// What an earlier layer said of env_allow and env_deny stays.
void NoteOrigin(const Field& field, const std::string& origin, Settings& settings) {
  std::string& noted = settings.origins[std::string(field.key)];
  const bool adds_up = field.key == "env_allow" || field.key == "env_deny";
  noted = adds_up && !noted.empty() ? absl::StrCat(noted, ", ", origin) : origin;
}

// `layer` is a file, a variable or an option, for messages.
absl::Status ReadField(const std::string& key, const json& value, const Place& layer,
                       Settings& settings) {
  for (const Field& field : kFields) {
    if (key != field.key) continue;
    CELLAR_RETURN_IF_ERROR(field.read(value, layer.Under(key), settings));
    NoteOrigin(field, layer.text, settings);
    return absl::OkStatus();
  }
  const std::string known = absl::StrJoin(kFields, ", ", [](std::string* text, const Field& field) {
    absl::StrAppend(text, field.key);
  });
  return layer.Under(key).Error(absl::StrCat("unknown setting; known are ", known));
}

absl::Status ReadSettingsFile(const std::string& path, Settings& settings) {
  CELLAR_ASSIGN_OR_RETURN(std::optional<json> document, ReadJsonFile(path));
  if (!document.has_value()) return absl::OkStatus();
  const Place file{path};
  if (!document->is_object()) return file.WrongType("an object", *document);
  for (const auto& [key, value] : document->items()) {
    CELLAR_RETURN_IF_ERROR(ReadField(key, value, file, settings));
  }
  return absl::OkStatus();
}

// A project's file comes with a project, which may be anybody's: it may not let secrets of the user
// through.
absl::Status ReadProjectFile(const std::string& path, const Environment& env, Settings& settings) {
  const size_t of_the_user = settings.env_allow.size();
  CELLAR_RETURN_IF_ERROR(ReadSettingsFile(path, settings));
  for (size_t i = of_the_user; i < settings.env_allow.size(); ++i) {
    const std::string& name = settings.env_allow[i];
    if (!LooksLikeSecret(name, EnvironmentValue(env, name))) continue;
    return Place{path}
        .Under("env_allow")
        .Item(i - of_the_user)
        .Error(
            absl::StrCat(name, " looks like a secret; only your own settings may let it through"));
  }
  return absl::OkStatus();
}

// The value that plain text stands for; text that is no number is left for the field to refuse.
json ValueOf(const Field& field, const std::string& text) {
  switch (field.form) {
    case Form::kText:
      return text;
    case Form::kNumber: {
      const json number = json::parse(text, nullptr, /*allow_exceptions=*/false);
      return number.is_number() ? number : json(text);
    }
    case Form::kList:
      return std::vector<std::string>(absl::StrSplit(text, ',', absl::SkipWhitespace()));
  }
  return text;
}

std::string VariableOf(const Field& field) {
  return absl::StrCat("CELLAR_", absl::AsciiStrToUpper(field.key));
}

// One that is empty is not set.
absl::Status ReadVariable(const Field& field, const Environment& env, Settings& settings) {
  const std::string name = VariableOf(field);
  const std::string text = EnvironmentValue(env, name);
  if (text.empty()) return absl::OkStatus();
  const Place place{absl::StrCat("environment variable ", name)};
  CELLAR_RETURN_IF_ERROR(field.read(ValueOf(field, text), place, settings));
  NoteOrigin(field, place.text, settings);
  return absl::OkStatus();
}

absl::Status ReadVariables(const Environment& env, Settings& settings) {
  for (const Field& field : kFields) CELLAR_RETURN_IF_ERROR(ReadVariable(field, env, settings));
  return absl::OkStatus();
}

// What a list asks for may be there with more.
bool Meets(const json& value, const json& asked) {
  if (!asked.is_array()) return value == asked;
  return std::ranges::all_of(
      asked, [&](const json& item) { return std::ranges::find(value, item) != value.end(); });
}

absl::Status ReadPiPy(const std::string& value, Settings& settings) {
  if (value.empty()) return absl::OkStatus();
  if (value == "0" || value == "bash") {
    settings.tool_mode = ToolMode::kBashOnly;
  } else if (value == "1" || value == "py") {
    settings.tool_mode = ToolMode::kIpyOnly;
  } else if (value == "mix" || value == "both") {
    settings.tool_mode = ToolMode::kBoth;
  } else {
    return absl::InvalidArgumentError(absl::StrCat("environment variable PI_PY: \"", value,
                                                   "\" is not one of 0, bash, 1, py, mix, both"));
  }
  settings.origins["tool_mode"] = "environment variable PI_PY";
  return absl::OkStatus();
}

absl::Status ReadOption(const std::string& option, Settings& settings) {
  const Place place{"--set"};
  const std::pair<std::string, std::string> parts = absl::StrSplit(option, absl::MaxSplits('=', 1));
  if (!absl::StrContains(option, "=")) return place.Error(option + " is not KEY=VALUE");
  for (const Field& field : kFields) {
    if (parts.first == field.key) {
      return ReadField(parts.first, ValueOf(field, parts.second), place, settings);
    }
  }
  return ReadField(parts.first, nullptr, place, settings);
}

// The XDG base directory specification has relative paths ignored.
std::string UserFile(const Environment& env) {
  fs::path config = EnvironmentValue(env, "XDG_CONFIG_HOME");
  const fs::path home = EnvironmentValue(env, "HOME");
  if (!config.is_absolute()) config = home.is_absolute() ? home / ".config" : fs::path();
  return config.empty() ? "" : (config / "cellar" / "config.json").lexically_normal().string();
}

}  // namespace

absl::string_view ToolModeName(ToolMode mode) {
  for (const auto& [name, known] : ToolModes()) {
    if (known == mode) return name;
  }
  return "unknown";
}

absl::StatusOr<Settings> LoadSettings(const Environment& env, const std::string& cwd,
                                      const std::vector<std::string>& options) {
  Settings settings;
  if (const std::string file = UserFile(env); !file.empty()) {
    CELLAR_RETURN_IF_ERROR(ReadSettingsFile(file, settings));
  }
  const fs::path project = fs::path(cwd) / ".cellar" / "config.json";
  CELLAR_RETURN_IF_ERROR(ReadProjectFile(project.lexically_normal().string(), env, settings));
  CELLAR_RETURN_IF_ERROR(ReadVariables(env, settings));
  CELLAR_RETURN_IF_ERROR(ReadPiPy(EnvironmentValue(env, "PI_PY"), settings));
  for (const std::string& option : options) {
    CELLAR_RETURN_IF_ERROR(ReadOption(option, settings));
  }
  return settings;
}

absl::StatusOr<std::vector<UnmetVariable>> UnmetVariables(const Environment& env,
                                                          const Settings& settings) {
  std::vector<UnmetVariable> unmet;
  for (const Field& field : kFields) {
    Settings asked;
    if (field.of_host) continue;
    CELLAR_RETURN_IF_ERROR(ReadVariable(field, env, asked));
    if (asked.origins.empty() || Meets(field.show(settings), field.show(asked))) continue;
    unmet.push_back({.name = VariableOf(field),
                     .key = std::string(field.key),
                     .value = field.show(settings).dump()});
  }
  return unmet;
}

std::vector<ShownSetting> ShowSettings(const Settings& settings) {
  std::vector<ShownSetting> shown;
  for (const Field& field : kFields) {
    const std::string key(field.key);
    const auto origin = settings.origins.find(key);
    shown.push_back({.key = key,
                     .value = field.show(settings).dump(),
                     .origin = origin == settings.origins.end() ? "default" : origin->second,
                     .of_host = field.of_host});
  }
  return shown;
}

}  // namespace cellar::host
