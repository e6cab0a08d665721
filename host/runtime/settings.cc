#include "host/runtime/settings.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "host/base/status.h"
#include "host/runtime/json_file.h"
#include "host/runtime/setting_fields.h"
#include "nlohmann/json.hpp"

namespace cellar::host {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// What an earlier layer said of env_allow and env_deny stays.
void NoteOrigin(const SettingField& field, const std::string& origin, Settings& settings) {
  std::string& noted = settings.origins[std::string(field.key)];
  const bool adds_up = field.key == "env_allow" || field.key == "env_deny";
  noted = adds_up && !noted.empty() ? absl::StrCat(noted, ", ", origin) : origin;
}

// `layer` is a file, a variable or an option, for messages.
absl::Status ReadField(const std::string& key, const json& value, const SettingOrigin& layer,
                       Settings& settings) {
  for (const SettingField& field : SettingFields()) {
    if (key != field.key) continue;
    CELLAR_RETURN_IF_ERROR(field.read(value, layer.Under(key), settings));
    NoteOrigin(field, layer.text, settings);
    return absl::OkStatus();
  }
  const std::string known = absl::StrJoin(
      SettingFields(), ", ",
      [](std::string* text, const SettingField& field) { absl::StrAppend(text, field.key); });
  return layer.Under(key).Error(absl::StrCat("unknown setting; known are ", known));
}

absl::Status ReadSettingsFile(const std::string& path, Settings& settings) {
  CELLAR_ASSIGN_OR_RETURN(std::optional<json> document, ReadJsonFile(path));
  if (!document.has_value()) return absl::OkStatus();
  const SettingOrigin file{path};
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
    return SettingOrigin{path}
        .Under("env_allow")
        .Item(i - of_the_user)
        .Error(
            absl::StrCat(name, " looks like a secret; only your own settings may let it through"));
  }
  return absl::OkStatus();
}

// The value that plain text stands for; text that is no number is left for the field to refuse.
json ValueOf(const SettingField& field, const std::string& text) {
  switch (field.form) {
    case SettingForm::kText:
      return text;
    case SettingForm::kNumber: {
      const json number = json::parse(text, nullptr, /*allow_exceptions=*/false);
      return number.is_number() ? number : json(text);
    }
    case SettingForm::kList:
      return std::vector<std::string>(absl::StrSplit(text, ',', absl::SkipWhitespace()));
  }
  return text;
}

std::string VariableOf(const SettingField& field) {
  return absl::StrCat("CELLAR_", absl::AsciiStrToUpper(field.key));
}

// One that is empty is not set.
absl::Status ReadVariable(const SettingField& field, const Environment& env, Settings& settings) {
  const std::string name = VariableOf(field);
  const std::string text = EnvironmentValue(env, name);
  if (text.empty()) return absl::OkStatus();
  const SettingOrigin origin{absl::StrCat("environment variable ", name)};
  CELLAR_RETURN_IF_ERROR(field.read(ValueOf(field, text), origin, settings));
  NoteOrigin(field, origin.text, settings);
  return absl::OkStatus();
}

absl::Status ReadVariables(const Environment& env, Settings& settings) {
  for (const SettingField& field : SettingFields()) {
    CELLAR_RETURN_IF_ERROR(ReadVariable(field, env, settings));
  }
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
  const SettingOrigin origin{"--set"};
  const std::pair<std::string, std::string> parts = absl::StrSplit(option, absl::MaxSplits('=', 1));
  if (!absl::StrContains(option, "=")) return origin.Error(option + " is not KEY=VALUE");
  for (const SettingField& field : SettingFields()) {
    if (parts.first == field.key) {
      return ReadField(parts.first, ValueOf(field, parts.second), origin, settings);
    }
  }
  return ReadField(parts.first, nullptr, origin, settings);
}

// The XDG base directory specification has relative paths ignored.
std::string UserFile(const Environment& env) {
  fs::path config = EnvironmentValue(env, "XDG_CONFIG_HOME");
  const fs::path home = EnvironmentValue(env, "HOME");
  if (!config.is_absolute()) config = home.is_absolute() ? home / ".config" : fs::path();
  return config.empty() ? "" : (config / "cellar" / "config.json").lexically_normal().string();
}

}  // namespace

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
  for (const SettingField& field : SettingFields()) {
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
  for (const SettingField& field : SettingFields()) {
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
