// The settings, written down once: settings.cc reads and shows them by this table.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "host/runtime/settings.h"
#include "nlohmann/json_fwd.hpp"

namespace cellar::host {

// Where a setting, or a value in it, was written, for messages: "<file>: preload[2]".
struct SettingOrigin {
  std::string text;

  SettingOrigin Under(const std::string& key) const;
  SettingOrigin Item(size_t index) const;
  absl::Status Error(const std::string& problem) const;
  absl::Status WrongType(const char* expected, const nlohmann::json& found) const;
};

// How a value is written where there is no JSON: in a variable or on the command line.
enum class SettingForm { kText, kNumber, kList };

struct SettingField {
  absl::string_view key;
  SettingForm form;
  absl::Status (*read)(const nlohmann::json& value, const SettingOrigin& origin,
                       Settings& settings);
  nlohmann::json (*show)(const Settings& settings);
  bool of_host = false;  // as in ShownSetting
};

// In the order in which they are documented.
std::span<const SettingField> SettingFields();

}  // namespace cellar::host
