#include "host/runtime/setting_fields.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "host/base/status.h"
#include "nlohmann/json.hpp"

namespace cellar::host {
namespace {

using nlohmann::json;

absl::Status ReadString(const json& value, const SettingOrigin& origin, std::string& out) {
  if (!value.is_string()) return origin.WrongType("a string", value);
  out = value.get<std::string>();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ReadStrings(const json& value,
                                                     const SettingOrigin& origin) {
  if (!value.is_array()) return origin.WrongType("a list of strings", value);
  std::vector<std::string> strings;
  for (size_t i = 0; i < value.size(); ++i) {
    CELLAR_RETURN_IF_ERROR(ReadString(value[i], origin.Item(i), strings.emplace_back()));
    if (strings.back().empty()) return origin.Item(i).Error("is empty");
  }
  return strings;
}

absl::Status ReadModules(const json& value, const SettingOrigin& origin,
                         std::vector<std::string>& out) {
  CELLAR_ASSIGN_OR_RETURN(out, ReadStrings(value, origin));
  return absl::OkStatus();
}

absl::Status AddPatterns(const json& value, const SettingOrigin& origin,
                         std::vector<std::string>& out) {
  CELLAR_ASSIGN_OR_RETURN(std::vector<std::string> patterns, ReadStrings(value, origin));
  for (size_t i = 0; i < patterns.size(); ++i) {
    const size_t star = patterns[i].find('*');
    if (absl::StrContains(patterns[i], "=") ||
        (star != std::string::npos && star + 1 != patterns[i].size())) {
      return origin.Item(i).Error(absl::StrCat(
          "\"", patterns[i], "\" is neither a variable's name nor a prefix followed by *"));
    }
  }
  out.insert(out.end(), patterns.begin(), patterns.end());
  return absl::OkStatus();
}

absl::StatusOr<double> ReadNumber(const json& value, const SettingOrigin& origin, double min,
                                  double max) {
  if (!value.is_number()) return origin.WrongType("a number", value);
  const double number = value.get<double>();
  if (!(number >= min && number <= max)) {
    return origin.Error(absl::StrFormat("%s is not between %.0f and %.0f", value.dump(), min, max));
  }
  return number;
}

absl::Status ReadSeconds(const json& value, const SettingOrigin& origin, double max,
                         absl::Duration& out) {
  CELLAR_ASSIGN_OR_RETURN(double seconds, ReadNumber(value, origin, 0, max));
  out = absl::Seconds(seconds);
  return absl::OkStatus();
}

struct IntegerRange {
  int64_t min;
  int64_t max;
};

absl::StatusOr<int64_t> ReadInteger(const json& value, const SettingOrigin& origin,
                                    IntegerRange range) {
  if (!value.is_number_integer()) return origin.WrongType("a whole number", value);
  CELLAR_RETURN_IF_ERROR(ReadNumber(value, origin, range.min, range.max).status());
  return value.get<int64_t>();
}

absl::Status ReadCount(const json& value, const SettingOrigin& origin, IntegerRange range,
                       int& out) {
  CELLAR_ASSIGN_OR_RETURN(int64_t count, ReadInteger(value, origin, range));
  out = static_cast<int>(count);
  return absl::OkStatus();
}

absl::Status ReadSize(const json& value, const SettingOrigin& origin, IntegerRange range,
                      int64_t unit, int64_t& out) {
  CELLAR_ASSIGN_OR_RETURN(int64_t size, ReadInteger(value, origin, range));
  out = size * unit;
  return absl::OkStatus();
}

template <typename T>
using Choices = std::vector<std::pair<absl::string_view, T>>;

template <typename T>
absl::Status ReadChoice(const json& value, const SettingOrigin& origin, const Choices<T>& choices,
                        T& out) {
  std::string name;
  CELLAR_RETURN_IF_ERROR(ReadString(value, origin, name));
  for (const auto& [choice, meaning] : choices) {
    if (name == choice) {
      out = meaning;
      return absl::OkStatus();
    }
  }
  const std::string known = absl::StrJoin(choices, ", ", [](std::string* text, const auto& choice) {
    absl::StrAppend(text, choice.first);
  });
  return origin.Error(absl::StrCat("\"", name, "\" is not one of ", known));
}

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

const Choices<ToolMode>& ToolModes() {
  static const auto& modes = *new Choices<ToolMode>{{"both", ToolMode::kBoth},
                                                    {"ipy-only", ToolMode::kIpyOnly},
                                                    {"bash-only", ToolMode::kBashOnly}};
  return modes;
}

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

constexpr SettingField kFields[] = {
    {"interpreter", SettingForm::kText,
     [](const json& v, const SettingOrigin& at, Settings& s) {
       return ReadString(v, at, s.interpreter);
     },
     [](const Settings& s) { return json(s.interpreter); }},
    {"preload", SettingForm::kList,
     [](const json& v, const SettingOrigin& at, Settings& s) {
       return ReadModules(v, at, s.preload);
     },
     [](const Settings& s) { return json(s.preload); }},
    {"env_allow", SettingForm::kList,
     [](const json& v, const SettingOrigin& at, Settings& s) {
       return AddPatterns(v, at, s.env_allow);
     },
     [](const Settings& s) { return json(s.env_allow); }},
    {"env_deny", SettingForm::kList,
     [](const json& v, const SettingOrigin& at, Settings& s) {
       return AddPatterns(v, at, s.env_deny);
     },
     [](const Settings& s) { return json(s.env_deny); }},
    {"tool_mode", SettingForm::kText,
     [](const json& v, const SettingOrigin& at, Settings& s) {
       return ReadChoice(v, at, ToolModes(), s.tool_mode);
     },
     [](const Settings& s) { return NameOf(ToolModes(), s.tool_mode); }, /*of_host=*/true},
    {"interrupt_grace_s", SettingForm::kNumber,
     [](const json& v, const SettingOrigin& at, Settings& s) {
       return ReadSeconds(v, at, kMaxGraceSeconds, s.interrupt_grace);
     },
     [](const Settings& s) { return json(absl::ToDoubleSeconds(s.interrupt_grace)); }},
    {"max_sessions", SettingForm::kNumber,
     [](const json& v, const SettingOrigin& at, Settings& s) {
       return ReadCount(v, at, kSessionRange, s.max_sessions);
     },
     [](const Settings& s) { return json(s.max_sessions); }, /*of_host=*/true},
    {"max_waiting_calls", SettingForm::kNumber,
     [](const json& v, const SettingOrigin& at, Settings& s) {
       return ReadCount(v, at, kWaitingRange, s.max_waiting_calls);
     },
     [](const Settings& s) { return json(s.max_waiting_calls); }, /*of_host=*/true},
    {"idle_timeout_s", SettingForm::kNumber,
     [](const json& v, const SettingOrigin& at, Settings& s) {
       return ReadSeconds(v, at, kMaxIdleSeconds, s.idle_timeout);
     },
     [](const Settings& s) { return json(absl::ToDoubleSeconds(s.idle_timeout)); }},
    {"memory_cap_mb", SettingForm::kNumber,
     [](const json& v, const SettingOrigin& at, Settings& s) {
       return ReadSize(v, at, kMemoryCapRangeMb, 1 << 20, s.memory_cap_bytes);
     },
     [](const Settings& s) { return json(s.memory_cap_bytes >> 20); }},
    {"retry", SettingForm::kText,
     [](const json& v, const SettingOrigin& at, Settings& s) {
       return ReadChoice(v, at, Retries(), s.retry);
     },
     [](const Settings& s) { return NameOf(Retries(), s.retry); }},
    {"output_budget_kb", SettingForm::kNumber,
     [](const json& v, const SettingOrigin& at, Settings& s) {
       return ReadSize(v, at, kOutputBudgetRangeKb, 1 << 10, s.output_budget_bytes);
     },
     [](const Settings& s) { return json(s.output_budget_bytes >> 10); }},
    {"display_inline_kb", SettingForm::kNumber,
     [](const json& v, const SettingOrigin& at, Settings& s) {
       return ReadSize(v, at, kDisplayInlineRangeKb, 1 << 10, s.display_inline_bytes);
     },
     [](const Settings& s) { return json(s.display_inline_bytes >> 10); }},
    {"artifacts_max_age_h", SettingForm::kNumber,
     [](const json& v, const SettingOrigin& at, Settings& s) {
       CELLAR_ASSIGN_OR_RETURN(double hours, ReadNumber(v, at, 0, kMaxAgeHours));
       s.artifacts_max_age = absl::Hours(hours);
       return absl::OkStatus();
     },
     [](const Settings& s) { return json(absl::ToDoubleHours(s.artifacts_max_age)); },
     /*of_host=*/true},
    {"artifacts_max_mb", SettingForm::kNumber,
     [](const json& v, const SettingOrigin& at, Settings& s) {
       return ReadSize(v, at, kArtifactsRangeMb, 1 << 20, s.artifacts_max_bytes);
     },
     [](const Settings& s) { return json(s.artifacts_max_bytes >> 20); }, /*of_host=*/true},
    {"snapshots", SettingForm::kText,
     [](const json& v, const SettingOrigin& at, Settings& s) {
       return ReadChoice(v, at, SnapshotPolicies(), s.snapshots);
     },
     [](const Settings& s) { return NameOf(SnapshotPolicies(), s.snapshots); }},
    {"snapshots_kept", SettingForm::kNumber,
     [](const json& v, const SettingOrigin& at, Settings& s) {
       return ReadCount(v, at, kSnapshotsRange, s.snapshots_kept);
     },
     [](const Settings& s) { return json(s.snapshots_kept); }},
    {"snapshots_memory_percent", SettingForm::kNumber,
     [](const json& v, const SettingOrigin& at, Settings& s) {
       return ReadCount(v, at, kPercentRange, s.snapshots_memory_percent);
     },
     [](const Settings& s) { return json(s.snapshots_memory_percent); }},
};

}  // namespace

SettingOrigin SettingOrigin::Under(const std::string& key) const {
  return {absl::StrCat(text, ": ", key)};
}

SettingOrigin SettingOrigin::Item(size_t index) const {
  return {absl::StrCat(text, "[", index, "]")};
}

absl::Status SettingOrigin::Error(const std::string& problem) const {
  return absl::InvalidArgumentError(absl::StrCat(text, ": ", problem));
}

absl::Status SettingOrigin::WrongType(const char* expected, const json& found) const {
  return Error(absl::StrCat("expected ", expected, ", found ", found.type_name()));
}

std::span<const SettingField> SettingFields() { return kFields; }

absl::string_view ToolModeName(ToolMode mode) {
  for (const auto& [name, known] : ToolModes()) {
    if (known == mode) return name;
  }
  return "unknown";
}

}  // namespace cellar::host
