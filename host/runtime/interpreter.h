// Which Python environment a session's cells run in. The worker always embeds the minor version it
// was built for; what is chosen here is the environment of that version that it adopts.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "host/runtime/environment.h"
#include "host/runtime/worker_program.h"

namespace cellar::host {

enum class InterpreterKind {
  kBase,   // an installation
  kVenv,   // has a pyvenv.cfg, which CPython finds by `executable`
  kConda,  // an installation with conda-meta/
};

// A Python that was thought of, whether there was one or not.
struct ConsideredPython {
  std::string origin;   // as Interpreter::origin
  std::string path;     // an executable or an environment; empty: the rule names none
  std::string verdict;  // "taken", or why not
};

struct Interpreter {
  std::string executable;  // absolute; sys.executable, links kept
  std::string prefix;      // sys.prefix
  std::string version;     // "3.11.2" where that was cheap to know, else "3.11"
  std::string origin;      // the rule that found it: "setting", "VIRTUAL_ENV", "PATH", ...
  InterpreterKind kind = InterpreterKind::kBase;

  // What the worker does with it, besides PyConfig.executable = PyConfig.program_name = executable.
  // An installation comes with its own libpython, or lends its site-packages to the worker's own
  // Python: one patch version's standard library on another's libpython is never mixed.
  std::string libpython;      // the library to load; empty = the one the worker is linked with
  std::string home;           // PyConfig.home; empty = leave unset
  std::string site_packages;  // to be added with site.addsitedir; empty = CPython finds it

  std::vector<std::string> warnings;         // what was passed over and why, one sentence each
  std::vector<ConsideredPython> considered;  // all candidates, in the order of the rules
};

struct InterpreterQuery {
  std::string setting;  // absolute, "~/..." or relative to cwd; empty = choose
  Environment env;
  Environment probe_env;  // for what has to be run, which may be a project's: PassedEnvironment()
  std::string cwd;
  WorkerPython worker_python;                      // see BuiltInPython()
  absl::Duration probe_limit = absl::Seconds(10);  // for all that has to be run, together
  int probe_cancel = -1;                           // ProbeOptions::cancel
};

// Order: setting, VIRTUAL_ENV, CONDA_PREFIX, <cwd>/.venv, <cwd>/venv, ~/.cellar/python-env, then
// every python3 and every python on PATH, at last worker_python.executable. The first that is whole
// and of the same minor version is adopted; the others are passed over with a warning. A setting
// that does not fit is an error. Reads files only; a program is run only where they do not tell,
// and then this blocks for up to probe_limit: not for the loop thread.
absl::StatusOr<Interpreter> ChooseInterpreter(const InterpreterQuery& query);

}  // namespace cellar::host
