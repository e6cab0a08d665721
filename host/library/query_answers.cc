#include "host/library/query_answers.h"

#include "host/base/status.h"
#include "nlohmann/json.hpp"

namespace cellar {
namespace {

using nlohmann::json;

absl::StatusOr<json> ParseObject(const std::string& text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) return absl::DataLossError("the worker sent a damaged answer");
  return value;
}

std::string Text(const json& object, const char* name) {
  auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

size_t Size(const json& object, const char* name) {
  auto found = object.find(name);
  return found != object.end() && found->is_number_unsigned() ? found->get<size_t>() : 0;
}

}  // namespace

absl::StatusOr<Completions> ParseCompletions(const std::string& text) {
  CELLAR_ASSIGN_OR_RETURN(json answer, ParseObject(text));
  Completions completions = {.start = Size(answer, "start"), .end = Size(answer, "end")};
  for (const json& match : answer.value("matches", json::array())) {
    if (!match.is_object()) return absl::DataLossError("the worker sent a damaged answer");
    completions.matches.push_back({.text = Text(match, "text"),
                                   .type = Text(match, "type"),
                                   .signature = Text(match, "signature")});
  }
  return completions;
}

absl::StatusOr<Inspection> ParseInspection(const std::string& text) {
  CELLAR_ASSIGN_OR_RETURN(json answer, ParseObject(text));
  auto found = answer.find("found");
  return Inspection{.found = found != answer.end() && *found == true,
                    .name = Text(answer, "name"),
                    .type = Text(answer, "type"),
                    .kind = Text(answer, "kind"),
                    .signature = Text(answer, "signature"),
                    .docstring = Text(answer, "docstring"),
                    .value = Text(answer, "value"),
                    .source = Text(answer, "source")};
}

absl::StatusOr<Completeness> ParseCompleteness(const std::string& text) {
  CELLAR_ASSIGN_OR_RETURN(json answer, ParseObject(text));
  const std::string status = Text(answer, "status");
  return Completeness{.form = status == "complete"     ? CellForm::kComplete
                              : status == "incomplete" ? CellForm::kIncomplete
                                                       : CellForm::kInvalid,
                      .indent = Text(answer, "indent")};
}

}  // namespace cellar
