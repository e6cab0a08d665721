#include "embed/reports.h"

#include <pybind11/stl.h>
#include <sched.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "embed/fork_guard.h"
#include "embed/worker.h"
#include "host/wire/channel_messages.h"

namespace py = pybind11;

namespace cellar::embed {
namespace {

void SendDisplay(int kind, uint32_t cell, const py::list& entries, const py::bytes& metadata,
                 const std::string& display_id) {
  wire::Display display = {.cell = cell,
                           .position = Worker().output.CurrentPosition(),
                           .kind = static_cast<wire::DisplayKind>(kind),
                           .metadata = metadata,
                           .display_id = display_id};
  for (const py::handle& item : entries) {
    if (display.data.size() == wire::kMaxListItems) break;
    auto [mime, mime_kind, data] = item.cast<std::tuple<std::string, int, py::bytes>>();
    display.data.push_back({mime, static_cast<wire::MimeKind>(mime_kind), data});
  }
  SendToHost(display);
}

void SendError(uint32_t cell, const py::bytes& ename, const py::bytes& evalue,
               const py::bytes& traceback, std::optional<int32_t> exit_code) {
  SendToHost(wire::Error{.cell = cell,
                         .position = Worker().output.CurrentPosition(),
                         .ename = ename,
                         .evalue = evalue,
                         .traceback = traceback,
                         .exit_code = exit_code});
}

void SendDone(uint32_t cell, int status, bool stdin_requested) {
  std::fflush(stdout);
  Worker().output.shared().worker_processor.store(sched_getcpu());
  SendToHost(wire::Done{.cell = cell,
                        .position = Worker().output.CurrentPosition(),
                        .status = static_cast<wire::DoneStatus>(status),
                        .stdin_requested = stdin_requested});
}

}  // namespace

void DefineReports(py::module_& module) {
  module.def("send_display", &SendDisplay);
  module.def("send_error", &SendError);
  module.def("send_done", &SendDone);
  module.def("send_notice", [](uint32_t cell, const std::string& text) {
    SendToHost(wire::Notice{.cell = cell, .text = text});
  });
  module.def("send_value", [](uint32_t request, int kind, const py::bytes& data) {
    SendToHost(
        wire::Value{.request = request, .kind = static_cast<wire::ValueKind>(kind), .data = data});
  });
  module.def("send_query_answer", [](uint32_t request, bool ok, const py::bytes& data) {
    SendToHost(wire::QueryAnswer{.request = request, .ok = ok, .data = data});
  });
}

void SendFrameToHost(const std::string& frame) {
  if (IsForkedChild()) {
    throw std::runtime_error(
        "a process forked by a cell cannot use the session; print, or return a value to the cell");
  }
  if (frame.size() > wire::kMaxFramePayload) {
    // The host would take it for garbage.
    throw py::value_error(std::to_string(frame.size() >> 20) +
                          " MiB are more than a message to the host can hold");
  }
  py::gil_scoped_release released;
  Worker().channel.Send(frame);
}

}  // namespace cellar::embed
