// What the runtime package tells the host over the worker's channel.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "host/wire/message.h"

namespace cellar::embed {

// Adds send_display, send_error, send_done, send_notice, send_value and send_query_answer to the
// module.
void DefineReports(pybind11::module_& module);

// Under the GIL, which it gives up while it waits. Raises in a process that a cell has forked, and
// for a frame that is too large.
void SendFrameToHost(const std::string& frame);

template <typename Message>
void SendToHost(const Message& message) {
  SendFrameToHost(wire::MessageFrame(message));
}

}  // namespace cellar::embed
