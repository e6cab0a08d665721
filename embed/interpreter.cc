#include "embed/interpreter.h"

#include <dlfcn.h>
#include <pybind11/pybind11.h>

#include <cstdio>

#include "embed/audit_hooks.h"
#include "embed/frozen_modules.h"
#include "embed/native_threads.h"

namespace py = pybind11;

namespace cellar::embed {
namespace {

// The table CPython looks frozen modules up in; ends with an empty row.
const _frozen* FrozenTable() {
  static std::vector<_frozen>* table = [] {
    auto* rows = new std::vector<_frozen>();
    for (const FrozenModule& module : FrozenModules()) {
      rows->push_back({module.name, module.code, module.size, module.is_package, nullptr});
    }
    rows->push_back({});
    return rows;
  }();
  return table->data();
}

absl::Status ToStatus(const PyStatus& status) {
  if (!PyStatus_Exception(status)) return absl::OkStatus();
  std::string reason = "Python could not start";
  if (status.err_msg != nullptr) reason += std::string(": ") + status.err_msg;
  return absl::InternalError(reason);
}

// An installation without a libpython of its own lends its packages to ours.
absl::Status AdoptPackages(const wire::Start& start) {
  try {
    py::module_::import("site").attr("addsitedir")(start.site_packages);
    py::module_ sys = py::module_::import("sys");
    sys.attr("prefix") = start.prefix;
    sys.attr("exec_prefix") = start.prefix;
  } catch (py::error_already_set& error) {
    return absl::InternalError("adding " + start.site_packages + ": " + error.what());
  }
  return absl::OkStatus();
}

// What a module printed belongs into the template's log; each worker would print it again.
void FlushStreams() {
  py::module_ sys = py::module_::import("sys");
  for (const char* name : {"stdout", "stderr"}) sys.attr(name).attr("flush")();
  std::fflush(nullptr);
}

}  // namespace

absl::Status StartInterpreter(const wire::Start& start) {
  PyImport_FrozenModules = FrozenTable();
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.parse_argv = 0;
  PyStatus status =
      PyConfig_SetBytesString(&config, &config.program_name, start.executable.c_str());
  if (!PyStatus_Exception(status)) {
    status = PyConfig_SetBytesString(&config, &config.executable, start.executable.c_str());
  }
  if (!PyStatus_Exception(status) && !start.home.empty()) {
    status = PyConfig_SetBytesString(&config, &config.home, start.home.c_str());
  }
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  CELLAR_RETURN_IF_ERROR(ToStatus(status));
  FindAuditHooks();
  return start.site_packages.empty() ? absl::OkStatus() : AdoptPackages(start);
}

absl::StatusOr<Imported> ImportModules(const std::vector<std::string>& preload) {
  Imported imported;
  PyGC_Disable();  // until FreezeGarbageCollector: nearly all of what is made now stays
  try {
    py::module_::import("cellar_runtime.worker");
    for (const std::string& name : preload) {
      try {
        py::module_::import(name.c_str());
        FlushStreams();
      } catch (py::error_already_set& error) {
        imported.warnings.push_back("preload " + name + ": " + error.what());
      }
      if (CountThreads() > 1) {
        imported.started_threads = name;
        break;
      }
    }
  } catch (py::error_already_set& error) {
    return absl::InternalError(std::string("cellar's own modules could not be imported: ") +
                               error.what());
  }
  return imported;
}

void FreezeGarbageCollector(bool collect) {
  if (collect) PyGC_Collect();
  py::module_::import("gc").attr("freeze")();
  PyGC_Enable();
}

wire::Ready DescribeInterpreter() {
  wire::Ready ready;
  std::string version = Py_GetVersion();
  ready.python_version = version.substr(0, version.find(' '));
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&Py_GetVersion), &info) != 0 && info.dli_fname != nullptr) {
    ready.libpython = info.dli_fname;
  }
  ready.prefix = py::module_::import("sys").attr("prefix").cast<std::string>();
  return ready;
}

}  // namespace cellar::embed
