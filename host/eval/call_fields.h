// The fields of a request, written down once: call_parser.cc reads requests by this table, and
// describe.cc tells of it. Its limits are those of the command line and the line protocol too.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "host/eval/call.h"

namespace cellar::host {

// A call while it is read, with what the older shape of a request has at its top for the cells.
struct CallDraft {
  Call call;
  CallCell pattern;  // every cell starts as a copy of it
  bool reset_first_cell = false;
};

template <typename Owner>
struct TextField {
  std::string& (*place)(Owner&);
  std::string (*problem_of)(std::string_view text);  // empty when there is none
};

template <typename Owner>
struct ChoiceField {
  std::span<const std::string_view> choices;
  void (*choose)(Owner&, size_t choice);
};

template <typename Owner>
struct FlagField {
  bool& (*place)(Owner&);
};

// Seconds of inactivity, for SetTimeout.
template <typename Owner>
struct TimeoutField {
  CallCell& (*cell)(Owner&);
};

// Seconds, zero or more.
template <typename Owner>
struct SecondsField {
  std::optional<absl::Duration>& (*place)(Owner&);
};

// An object whose values are strings, or null.
template <typename Owner>
struct VariablesField {
  std::vector<wire::EnvironmentEntry>& (*place)(Owner&);
};

template <typename Owner>
struct CellsField {
  std::vector<CallCell>& (*place)(Owner&);
  const CallCell& (*pattern)(const Owner&);
};

// kForPrograms: what hosts of a model set, and a model is not told of.
enum class FieldUse { kOptional, kRequired, kOlderShape, kForPrograms };

template <typename Owner>
struct Field {
  std::string_view name;
  std::variant<TextField<Owner>, ChoiceField<Owner>, FlagField<Owner>, TimeoutField<Owner>,
               SecondsField<Owner>, VariablesField<Owner>, CellsField<Owner>>
      kind;
  std::string_view description;
  FieldUse use = FieldUse::kOptional;
};

// In the order in which they are read: `cells` comes last, since it copies the draft's pattern.
std::span<const Field<CallDraft>> CallFields();
std::span<const Field<CallCell>> CellFields();

// What is wrong with text that has to reach Python or the system; empty when nothing is.
std::string ProblemOfText(std::string_view text, size_t max_bytes);
// The same for a name, which is also shown on a line and so must not have control characters.
std::string ProblemOfName(std::string_view name);
// The same for the code of a cell, which must not be blank.
std::string ProblemOfCode(std::string_view code);

// The longest name of a session, of an owner, or of who makes a call.
inline constexpr size_t kMaxNameBytes = 256;
// The largest request, and so the longest code in it: a frame to the worker has room for this.
inline constexpr size_t kMaxRequestBytes = size_t{64} << 20;
inline constexpr size_t kMaxCells = 1000;

// In seconds.
inline constexpr double kMinTimeout = 1;
inline constexpr double kMaxTimeout = 3600;
inline constexpr double kMaxBackgroundAfter = 24 * 3600;

struct ClampedTimeout {
  absl::Duration timeout;  // zero = none
  std::string note;        // "timeout 9999 s was clamped to 3600 s", or empty
};
// Zero stays zero, which means none; what is not within 1..3600 is clamped, and the note says so.
ClampedTimeout ClampTimeout(double seconds);

}  // namespace cellar::host
