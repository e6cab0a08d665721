#include "embed/wire_enums.h"

#include <initializer_list>
#include <utility>

#include "host/wire/bridge_messages.h"
#include "host/wire/channel_messages.h"

namespace py = pybind11;

namespace cellar::embed {
namespace {

// Not py::enum_: its values are objects of a class that cells could change, and slower to pass.
template <typename Enum>
void Define(py::module_& module, const char* name,
            std::initializer_list<std::pair<const char*, Enum>> values) {
  py::dict numbers;
  for (const auto& [key, value] : values) numbers[key] = static_cast<int>(value);
  module.attr(name) = py::module_::import("types").attr("SimpleNamespace")(**numbers);
}

}  // namespace

void DefineWireEnums(py::module_& module) {
  using wire::AnswerKind, wire::DisplayKind, wire::DoneStatus, wire::MimeKind, wire::OfferKind,
      wire::QueryKind, wire::ValueKind;
  Define<AnswerKind>(module, "AnswerKind",
                     {{"VALUE", AnswerKind::kValue},
                      {"ERROR", AnswerKind::kError},
                      {"CANCELLED", AnswerKind::kCancelled}});
  Define<DisplayKind>(module, "DisplayKind",
                      {{"DISPLAY", DisplayKind::kDisplay},
                       {"UPDATE", DisplayKind::kUpdate},
                       {"RESULT", DisplayKind::kResult},
                       {"CLEAR", DisplayKind::kClear},
                       {"STATUS", DisplayKind::kStatus}});
  Define<DoneStatus>(module, "DoneStatus",
                     {{"OK", DoneStatus::kOk},
                      {"ERROR", DoneStatus::kError},
                      {"INTERRUPTED", DoneStatus::kInterrupted},
                      {"HELD", DoneStatus::kHeld}});
  Define<MimeKind>(
      module, "MimeKind",
      {{"TEXT", MimeKind::kText}, {"BYTES", MimeKind::kBytes}, {"JSON", MimeKind::kJson}});
  Define<OfferKind>(
      module, "OfferKind",
      {{"TOOLS", OfferKind::kTools}, {"BUDGET", OfferKind::kBudget}, {"INPUT", OfferKind::kInput}});
  Define<QueryKind>(module, "QueryKind",
                    {{"COMPLETE", QueryKind::kComplete},
                     {"INSPECT", QueryKind::kInspect},
                     {"IS_COMPLETE", QueryKind::kIsComplete}});
  Define<ValueKind>(module, "ValueKind",
                    {{"JSON", ValueKind::kJson},
                     {"BYTES", ValueKind::kBytes},
                     {"ABSENT", ValueKind::kAbsent},
                     {"FAILED", ValueKind::kFailed}});
}

}  // namespace cellar::embed
