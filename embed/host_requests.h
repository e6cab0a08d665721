// What the host asks of a worker: its frames as the runtime package reads them, and the copies that
// it wants of this process.
#pragma once

#include <pybind11/pybind11.h>

namespace cellar::embed {

// Adds receive, send_hello, prepare_copy, copy and refuse_copy to the module.
void DefineHostRequests(pybind11::module_& module);

}  // namespace cellar::embed
