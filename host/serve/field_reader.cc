#include "host/serve/field_reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/eval/call_fields.h"
#include "host/eval/strict_json.h"

namespace cellar::host {

using nlohmann::json;

std::string FieldReader::Text(const char* name, bool required, size_t max_bytes) {
  const bool is_there = object_.contains(name);
  json value = Value(name);
  if (!is_there) {
    if (required) Add(name, "is missing");
    return "";
  }
  if (!value.is_string()) {
    Add(name, "expected a string");
    return "";
  }
  auto& text = value.get_ref<std::string&>();
  if (std::string problem = ProblemOfText(text, max_bytes); !problem.empty()) {
    Add(name, problem);
    return "";
  }
  return std::move(text);
}

std::string FieldReader::Name(const char* name, bool required) {
  std::string text = Text(name, required, kMaxNameBytes);
  if (std::string problem = ProblemOfName(text); !problem.empty()) Add(name, problem);
  if (required && text.empty()) Add(name, "is empty");
  return text;
}

std::string FieldReader::Directory(const char* name) {
  std::string path = Text(name);
  if (!path.empty() && path[0] != '/') Add(name, "expected an absolute path");
  return path;
}

SessionOpening FieldReader::Opening() {
  return {.cwd = Directory("opening_cwd"),
          .interpreter = Text("opening_interpreter"),
          .env = Variables("opening_env")};
}

std::optional<Environment> FieldReader::Variables(const char* name) {
  const json value = Value(name);
  if (value.is_null()) return std::nullopt;
  if (!value.is_object()) Add(name, "expected an object of strings");
  Environment variables;
  for (const auto& [variable, text] : value.items()) {
    const bool fits = text.is_string() && !variable.empty() &&
                      variable.find('=') == std::string::npos &&
                      ProblemOfText(variable, kMaxVariableBytes).empty() &&
                      ProblemOfText(text.get_ref<const std::string&>(), kMaxVariableBytes).empty();
    if (!fits) {
      Add(name, absl::StrCat(Shortened(variable), " is no variable with a value"));
      break;
    }
    variables[variable] = text.get<std::string>();
  }
  return variables;
}

bool FieldReader::Flag(const char* name, bool otherwise) {
  const bool is_there = object_.contains(name);
  const json value = Value(name);
  if (!is_there) return otherwise;
  if (!value.is_boolean()) Add(name, "expected true or false");
  return value.is_boolean() && value.get<bool>();
}

std::optional<uint32_t> FieldReader::Number(const char* name) {
  const bool is_there = object_.contains(name);
  const json value = Value(name);
  if (!is_there) return std::nullopt;
  if (value.is_number_unsigned() && value.get<uint64_t>() <= UINT32_MAX) {
    return value.get<uint32_t>();
  }
  Add(name, "expected a whole number");
  return std::nullopt;
}

absl::Duration FieldReader::Seconds(const char* name, absl::Duration otherwise) {
  const bool is_there = object_.contains(name);
  const json value = Value(name);
  if (!is_there) return otherwise;
  const double seconds = value.is_number() ? value.get<double>() : -1;
  if (!(seconds >= 0 && seconds <= kMaxBackgroundAfter)) {
    Add(name, absl::StrCat("expected seconds, between 0 and ", kMaxBackgroundAfter));
  }
  return absl::Seconds(seconds);
}

json FieldReader::Value(const char* name) {
  known_.push_back(name);
  auto found = object_.find(name);
  if (found == object_.end()) return nullptr;
  json value = std::move(*found);
  object_.erase(found);
  return value;
}

void FieldReader::Add(std::string_view name, const std::string& problem) {
  if (problem_.empty()) problem_ = absl::StrCat(Shortened(name), ": ", problem);
}

absl::Status FieldReader::problem() const {
  return problem_.empty() ? absl::OkStatus() : absl::InvalidArgumentError(problem_);
}

absl::Status FieldReader::Finish() {
  for (const auto& [name, value] : object_.items()) {
    Add(name, absl::StrCat("unknown field; known are ", absl::StrJoin(known_, ", ")));
    break;
  }
  return problem();
}

}  // namespace cellar::host
