#include "host/execute/parameters.h"

#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "host/base/python_keywords.h"
#include "host/base/status.h"
#include "notebook/cell_metadata.h"
#include "notebook/json_format.h"
#include "notebook/json_string.h"
#include "notebook/rewriter.h"
#include "notebook/style.h"

namespace cellar::host {
namespace {

using notebook::CellType;
using notebook::Document;

constexpr char kTag[] = "parameters";
constexpr char kInjectedTag[] = "injected-parameters";

bool IsName(std::string_view text) {
  auto may_begin = [](unsigned char c) { return absl::ascii_isalpha(c) || c == '_' || c >= 0x80; };
  return !text.empty() && may_begin(text[0]) && !IsPythonKeyword(text) &&
         std::all_of(text.begin(), text.end(),
                     [&](unsigned char c) { return may_begin(c) || absl::ascii_isdigit(c); });
}

// A decimal number that Python reads as it stands: no "007", no "0x", no "1_000".
bool IsNumber(std::string_view text) {
  double value = 0;
  const bool starts_well = text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  if (!starts_well || !absl::SimpleAtod({text.data(), text.size()}, &value)) return false;
  const std::string_view digits = text.substr(text[0] == '-' || text[0] == '+' ? 1 : 0);
  const bool is_integer = digits.find_first_of(".eE") == std::string_view::npos;
  return !(is_integer && digits.size() > 1 && digits[0] == '0');
}

// JSON spells a string as Python does, as long as nothing outside ASCII is escaped.
std::string Literal(std::string_view value) {
  constexpr std::array<std::string_view, 3> kWords = {"True", "False", "None"};
  const bool is_word = std::find(kWords.begin(), kWords.end(), value) != kWords.end();
  return is_word || IsNumber(value) ? std::string(value) : notebook::Quoted(value, {});
}

std::optional<size_t> FindTagged(const Document& document, std::string_view tag) {
  for (size_t cell = 0; cell < document.cell_count(); ++cell) {
    if (document.type(cell) == CellType::kCode && notebook::HasTag(document, cell, tag))
      return cell;
  }
  return std::nullopt;
}

std::string SourceOf(const std::vector<Parameter>& parameters) {
  std::string source = "# Parameters";
  for (const Parameter& parameter : parameters) {
    absl::StrAppend(&source, "\n", parameter.name, " = ", parameter.literal);
  }
  return source;
}

}  // namespace

absl::StatusOr<Parameter> Parameter::Parse(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  if (equals == std::string_view::npos || !IsName(name) || !notebook::IsEncodable(text)) {
    return absl::InvalidArgumentError("a parameter is given as name=value, not as " +
                                      std::string(text));
  }
  return Parameter{std::string(name), Literal(text.substr(equals + 1))};
}

absl::StatusOr<Parameterised> WithParameters(const Document& document,
                                             const std::vector<Parameter>& parameters) {
  const std::optional<size_t> injected = FindTagged(document, kInjectedTag);
  const std::optional<size_t> tagged = FindTagged(document, kTag);
  const size_t place = tagged ? *tagged + 1 : 0;
  const notebook::Style style = notebook::DetectStyle(document);
  const std::string tags = absl::StrCat("{\"tags\":[\"", kInjectedTag, "\"]}");

  notebook::Rewriter rewriter(document);
  for (size_t cell = 0; cell <= document.cell_count(); ++cell) {
    if (!injected && cell == place) {
      rewriter.Add({.type = CellType::kCode,
                    .source = SourceOf(parameters),
                    .members = {{"metadata", notebook::InStyle(tags, style, 0)}}});
    }
    if (cell == document.cell_count()) break;
    if (injected == cell) {
      rewriter.Change(cell, {.source = SourceOf(parameters), .clear_outputs = true});
    } else {
      rewriter.Keep(cell);
    }
  }
  CELLAR_ASSIGN_OR_RETURN(std::string bytes, rewriter.Finish());
  CELLAR_ASSIGN_OR_RETURN(Document result, Document::Parse(std::move(bytes)));
  return Parameterised{std::move(result), injected.value_or(place), !injected};
}

}  // namespace cellar::host
