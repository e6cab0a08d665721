#include "host/eval/call_fields.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "host/base/utf8.h"

namespace cellar::host {
namespace {

constexpr size_t kMaxTitleBytes = 1024;

std::string ProblemOfTitle(std::string_view title) { return ProblemOfText(title, kMaxTitleBytes); }
std::string ProblemOfPath(std::string_view path) { return ProblemOfText(path, PATH_MAX - 1); }

constexpr std::string_view kLanguages[] = {"py"};
constexpr std::string_view kModes[] = {"session", "per-call"};
constexpr std::string_view kRetries[] = {"never", "once"};

constexpr Field<CallDraft> kCallFields[] = {
    {.name = "session",
     .kind = TextField<CallDraft>{[](CallDraft& d) -> std::string& { return d.call.session; },
                                  ProblemOfName},
     .description = "Name of the session. Calls with the same name share their variables, "
                    "unless they name different directories."},
    {.name = "cwd",
     .kind = TextField<CallDraft>{[](CallDraft& d) -> std::string& { return d.call.cwd; },
                                  ProblemOfPath},
     .description = "Directory in which the cells run. It must exist."},
    {.name = "mode",
     .kind = ChoiceField<CallDraft>{kModes,
                                    [](CallDraft& d, size_t choice) {
                                      d.call.mode =
                                          choice == 0 ? CallMode::kSession : CallMode::kPerCall;
                                    }},
     .description =
         "\"session\" (default) keeps the variables for later calls; \"per-call\" starts "
         "with none and keeps none."},
    {.name = "env",
     .kind = VariablesField<CallDraft>{[](CallDraft& d) -> std::vector<wire::EnvironmentEntry>& {
       return d.call.environment;
     }},
     .description = "Environment variables for the session; null removes one."},
    {.name = "owner",
     .kind = TextField<CallDraft>{[](CallDraft& d) -> std::string& { return d.call.owner; },
                                  ProblemOfName},
     .description = "Who keeps the session open; it is closed when its last owner leaves.",
     .use = FieldUse::kForPrograms},
    {.name = "retry",
     .kind = ChoiceField<CallDraft>{kRetries,
                                    [](CallDraft& d, size_t choice) {
                                      d.call.retry = choice == 0 ? Retry::kNever : Retry::kOnce;
                                    }},
     .description = "\"once\" runs a cell again that took its Python process down, if the state "
                    "from before it could be restored. Its side effects then happen twice."},
    {.name = "background_after",
     .kind = SecondsField<CallDraft>{[](CallDraft& d) -> std::optional<absl::Duration>& {
       return d.call.background_after;
     }},
     .description = "Seconds after which a call that still runs is answered with a handle and its "
                    "output so far, and goes on.",
     .use = FieldUse::kForPrograms},
    {.name = "parent",
     .kind = TextField<CallDraft>{[](CallDraft& d) -> std::string& { return d.call.parent; },
                                  ProblemOfName},
     .description = "Handle of the call whose running cell waits for this one.",
     .use = FieldUse::kForPrograms},
    {.name = "timeout",
     .kind = TimeoutField<CallDraft>{[](CallDraft& d) -> CallCell& { return d.pattern; }},
     .description = "The timeout of every cell that has none of its own.",
     .use = FieldUse::kOlderShape},
    {.name = "reset",
     .kind = FlagField<CallDraft>{[](CallDraft& d) -> bool& { return d.reset_first_cell; }},
     .description = "The reset of the first cell.",
     .use = FieldUse::kOlderShape},
    {.name = "cells",
     .kind =
         CellsField<CallDraft>{[](CallDraft& d) -> std::vector<CallCell>& { return d.call.cells; },
                               [](const CallDraft& d) -> const CallCell& { return d.pattern; }},
     .description = "The cells, run in this order. The first that fails stops the call.",
     .use = FieldUse::kRequired},
};

constexpr Field<CallCell> kCellFields[] = {
    {.name = "language",
     // There is one language so far, and a cell has it already.
     .kind = ChoiceField<CallCell>{kLanguages, [](CallCell&, size_t) {}},
     .description = "Language of the code."},
    {.name = "code",
     .kind = TextField<CallCell>{[](CallCell& c) -> std::string& { return c.code; }, ProblemOfCode},
     .description = "Source of the cell. The value of a last bare expression is shown.",
     .use = FieldUse::kRequired},
    {.name = "title",
     .kind =
         TextField<CallCell>{[](CallCell& c) -> std::string& { return c.title; }, ProblemOfTitle},
     .description = "A few words on what the cell does."},
    {.name = "timeout",
     .kind = TimeoutField<CallCell>{[](CallCell& c) -> CallCell& { return c; }},
     .description = "Seconds after which the cell is interrupted, 1 to 3600, default 30; 0 for no "
                    "limit. Progress events start the count again, prints do not."},
    {.name = "reset",
     .kind = FlagField<CallCell>{[](CallCell& c) -> bool& { return c.reset; }},
     .description = "Start with no variables before this cell."},
};

}  // namespace

std::string ProblemOfText(std::string_view text, size_t max_bytes) {
  if (text.size() > max_bytes) {
    return absl::StrCat("has ", text.size(), " bytes, more than ", max_bytes);
  }
  if (const size_t nul = text.find('\0'); nul != text.npos) {
    return absl::StrCat("has a NUL character (byte ", nul, ")");
  }
  if (const std::optional<size_t> invalid = FindInvalidUtf8(text)) {
    return absl::StrCat("is not valid UTF-8 (byte ", *invalid, ")");
  }
  return "";
}

std::string ProblemOfName(std::string_view name) {
  if (std::string problem = ProblemOfText(name, kMaxNameBytes); !problem.empty()) return problem;
  for (size_t at = 0; at < name.size(); at += Utf8CharacterSize(name.substr(at))) {
    const char32_t c = CodePointOf(name.substr(at, Utf8CharacterSize(name.substr(at))));
    if (c < 0x20 || (c >= 0x7f && c < 0xa0)) {
      return absl::StrCat("has a control character (byte ", at, ")");
    }
  }
  return "";
}

std::string ProblemOfCode(std::string_view code) {
  if (std::all_of(code.begin(), code.end(), absl::ascii_isspace)) return "is empty";
  return ProblemOfText(code, kMaxRequestBytes);
}

ClampedTimeout ClampTimeout(double seconds) {
  const double allowed = seconds == 0          ? 0
                         : std::isnan(seconds) ? kMinTimeout
                                               : std::clamp(seconds, kMinTimeout, kMaxTimeout);
  ClampedTimeout clamped = {.timeout = absl::Seconds(allowed)};
  if (allowed != seconds) {
    clamped.note = absl::StrCat("timeout ", seconds, " s was clamped to ", allowed, " s");
  }
  return clamped;
}

std::span<const Field<CallDraft>> CallFields() { return kCallFields; }
std::span<const Field<CallCell>> CellFields() { return kCellFields; }

}  // namespace cellar::host
