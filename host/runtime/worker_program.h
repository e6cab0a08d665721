// Where the worker program is, and which Python it was built for. Starts nothing.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "host/runtime/environment.h"

namespace cellar::host {

// The Python whose library the worker program is linked with.
struct WorkerPython {
  std::string minor;       // "3.11"
  std::string executable;  // the interpreter of that library, e.g. "/usr/bin/python3.11"
};

// As fixed when cellar was built.
WorkerPython BuiltInPython();

struct WorkerProgramQuery {
  std::string explicit_path;         // wins over everything; empty = none
  Environment env;                   // CELLAR_WORKER is read from here
  std::string executable_directory;  // where the running program is, see ExecutableDirectory()
  std::string python_minor;          // "3.11": part of the program's name
};

// The directory of the running program, links resolved; empty when the system does not tell.
std::string ExecutableDirectory();

// Absolute path of an executable file. A path that was given (explicit_path, CELLAR_WORKER) and
// does not fit is an error: another worker than the one asked for is never used. NotFound lists all
// that was tried.
absl::StatusOr<std::string> FindWorkerProgram(const WorkerProgramQuery& query);

}  // namespace cellar::host
