// The enums of host/wire as the runtime package reads them: `_cellar.DoneStatus.OK` is a plain
// number. So no number of the wire is written twice, and a name that is gone stops the template,
// which imports the package before there is a session.
#pragma once

#include <pybind11/pybind11.h>

namespace cellar::embed {

// Adds them to the module.
void DefineWireEnums(pybind11::module_& module);

}  // namespace cellar::embed
