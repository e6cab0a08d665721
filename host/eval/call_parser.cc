#include "host/eval/call_parser.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/base/status.h"
#include "host/eval/call_fields.h"
#include "host/eval/strict_json.h"
#include "nlohmann/json.hpp"

namespace cellar::host {
namespace {

using nlohmann::json;

constexpr size_t kMaxProblems = 20;

std::string NameOf(const json& value) {
  if (!value.is_string()) return value.type_name();
  return absl::StrCat("\"", Shortened(value.get_ref<const std::string&>()), "\"");
}

// Reads a document into a draft and collects what is wrong with it.
class DraftReader {
 public:
  explicit DraftReader(const std::vector<std::string>& taken) : taken_(taken) {}

  void ReadCall(const json& document, CallDraft& draft) {
    ReadObject(document, "", CallFields(), draft);
    if (draft.reset_first_cell && !draft.call.cells.empty()) draft.call.cells[0].reset = true;
  }

  absl::Status status() const {
    if (problem_count_ == 0) return absl::OkStatus();
    std::string text = absl::StrJoin(problems_, "\n");
    if (problem_count_ > problems_.size()) {
      absl::StrAppend(&text, "\nand ", problem_count_ - problems_.size(), " more");
    }
    return absl::InvalidArgumentError(text);
  }

 private:
  void Add(const std::string& path, const std::string& problem) {
    Add(absl::StrCat(path.empty() ? "request" : path, ": ", problem));
  }
  void Add(std::string problem) {
    if (++problem_count_ <= kMaxProblems) problems_.push_back(std::move(problem));
  }
  void AddUnexpected(const std::string& path, const std::string& expected, const json& found) {
    Add(path, absl::StrCat("expected ", expected, ", found ", NameOf(found)));
  }

  template <typename Owner>
  void ReadObject(const json& value, const std::string& path, std::span<const Field<Owner>> fields,
                  Owner& owner) {
    if (!value.is_object()) return AddUnexpected(path, "an object", value);
    for (const Field<Owner>& field : fields) {
      const std::string field_path = PathOf(path, field.name);
      if (const auto found = value.find(field.name); found != value.end()) {
        std::visit([&](const auto& kind) { Read(*found, field_path, kind, owner); }, field.kind);
      } else if (field.use == FieldUse::kRequired) {
        Add(field_path, "is missing");
      }
    }
    for (const auto& [name, unused] : value.items()) {
      const auto has_name = [&name = name](const auto& field) { return field.name == name; };
      if (std::none_of(fields.begin(), fields.end(), has_name)) AddUnknown(path, name, fields);
    }
  }

  template <typename Owner>
  void AddUnknown(const std::string& path, const std::string& name,
                  std::span<const Field<Owner>> fields) {
    const auto add_name = [](std::string* text, const Field<Owner>& field) { *text += field.name; };
    std::string known = absl::StrJoin(fields, ", ", add_name);
    if (path.empty() && !taken_.empty()) absl::StrAppend(&known, ", ", absl::StrJoin(taken_, ", "));
    Add(PathOf(path, name), absl::StrCat("unknown field; known are ", known));
  }

  template <typename Owner>
  void Read(const json& value, const std::string& path, const TextField<Owner>& field,
            Owner& owner) {
    if (!value.is_string()) return AddUnexpected(path, "a string", value);
    const std::string& text = value.get_ref<const std::string&>();
    if (const std::string problem = field.problem_of(text); !problem.empty()) {
      return Add(path, problem);
    }
    field.place(owner) = text;
  }

  template <typename Owner>
  void Read(const json& value, const std::string& path, const ChoiceField<Owner>& field,
            Owner& owner) {
    const std::string* found = value.get_ptr<const std::string*>();
    for (size_t i = 0; i < field.choices.size(); ++i) {
      if (found != nullptr && *found == field.choices[i]) return field.choose(owner, i);
    }
    const auto add_choice = [](std::string* text, std::string_view choice) {
      absl::StrAppend(text, "\"", std::string(choice), "\"");
    };
    AddUnexpected(path, absl::StrJoin(field.choices, " or ", add_choice), value);
  }

  template <typename Owner>
  void Read(const json& value, const std::string& path, const FlagField<Owner>& field,
            Owner& owner) {
    if (!value.is_boolean()) return AddUnexpected(path, "true or false", value);
    field.place(owner) = value.get<bool>();
  }

  template <typename Owner>
  void Read(const json& value, const std::string& path, const TimeoutField<Owner>& field,
            Owner& owner) {
    if (!value.is_number()) return AddUnexpected(path, "a number of seconds", value);
    SetTimeout(value.get<double>(), field.cell(owner));
  }

  template <typename Owner>
  void Read(const json& value, const std::string& path, const SecondsField<Owner>& field,
            Owner& owner) {
    if (!value.is_number()) return AddUnexpected(path, "a number of seconds", value);
    const double seconds = value.get<double>();
    if (!(seconds >= 0 && seconds <= kMaxBackgroundAfter)) {
      return Add(path, absl::StrCat("is not between 0 and ", kMaxBackgroundAfter));
    }
    field.place(owner) = absl::Seconds(seconds);
  }

  template <typename Owner>
  void Read(const json& value, const std::string& path, const VariablesField<Owner>& field,
            Owner& owner) {
    if (!value.is_object()) return AddUnexpected(path, "an object", value);
    for (const auto& [name, text] : value.items()) {
      const std::string variable_path = PathOf(path, name);
      if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != name.npos) {
        Add(variable_path, "cannot be the name of a variable");
      } else if (text.is_null()) {
        field.place(owner).push_back({.name = name});
      } else if (const std::string* string = text.template get_ptr<const std::string*>();
                 string == nullptr) {
        AddUnexpected(variable_path, "a string or null", text);
      } else if (const std::string problem = ProblemOfText(*string, kMaxRequestBytes);
                 !problem.empty()) {
        Add(variable_path, problem);
      } else {
        field.place(owner).push_back({.name = name, .value = *string});
      }
    }
  }

  template <typename Owner>
  void Read(const json& value, const std::string& path, const CellsField<Owner>& field,
            Owner& owner) {
    if (!value.is_array()) return AddUnexpected(path, "a list of cells", value);
    if (value.empty()) return Add(path, "expected at least one cell, found none");
    if (value.size() > kMaxCells) {
      return Add(path, absl::StrCat("has ", value.size(), " cells, more than ", kMaxCells));
    }
    for (size_t i = 0; i < value.size(); ++i) {
      CallCell& cell = field.place(owner).emplace_back(field.pattern(owner));
      ReadObject(value[i], PathOf(path, i), CellFields(), cell);
    }
  }

  const std::vector<std::string>& taken_;
  std::vector<std::string> problems_;
  size_t problem_count_ = 0;
};

}  // namespace

absl::StatusOr<Call> ParseCall(std::string_view text) {
  CELLAR_ASSIGN_OR_RETURN(const json document, ParseStrictJson(text, kMaxRequestBytes));
  return CallFromJson(document);
}

absl::StatusOr<Call> CallFromJson(const json& document, const std::vector<std::string>& taken) {
  CallDraft draft;
  DraftReader reader(taken);
  reader.ReadCall(document, draft);
  CELLAR_RETURN_IF_ERROR(reader.status());
  return std::move(draft.call);
}

}  // namespace cellar::host
