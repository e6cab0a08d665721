#include "host/cli/doctor_command.h"

#include <sys/epoll.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "host/base/clock.h"
#include "host/base/fds.h"
#include "host/base/process.h"
#include "host/console/console.h"
#include "host/console/exit_codes.h"
#include "host/output/printable.h"

namespace cellar::host {
namespace {

constexpr int kRoundTrips = 200;

void Row(const std::string& name, const std::string& value) {
  std::printf("%-22s %s\n", name.c_str(), Printable(value).c_str());
}

std::string Milliseconds(absl::Duration duration) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f ms", absl::ToDoubleMilliseconds(duration));
  return text;
}

void ShowKernel() {
  utsname name;
  uname(&name);
  Row("kernel", std::string(name.sysname) + " " + name.release + " " + name.machine);
  Row("  pidfd", OpenPidfd(getpid()).ok() ? "yes" : "MISSING (Linux 5.3 or later is needed)");
  Row("  sealed memory", MakeSealedMemory("doctor", 4096).ok() ? "yes" : "MISSING");
  UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
  timespec zero = {};
  epoll_event event;
  Row("  epoll_pwait2", epoll_pwait2(epoll.get(), &event, 1, &zero, nullptr) == 0
                            ? "yes"
                            : "MISSING (Linux 5.11 or later is needed)");
}

void ShowLaunch(const Launch& launch) {
  const Interpreter& interpreter = launch.interpreter;
  Row("interpreter",
      interpreter.executable + "  (" + interpreter.version + ", by " + interpreter.origin + ")");
  Row("  prefix", interpreter.prefix);
  for (const ConsideredPython& python : interpreter.considered) {
    Row("  " + python.origin,
        python.path.empty() ? python.verdict : python.path + ": " + python.verdict);
  }
  Row("worker program", launch.session.runtime.program);
  Row("artifacts", launch.artifacts_directory);
  std::string preload;
  for (const std::string& module : launch.session.runtime.preload) preload += module + " ";
  Row("preload", preload.empty() ? "none" : preload);
  const absl::string_view mode = ToolModeName(launch.settings.tool_mode);
  Row("tool mode", std::string(mode.data(), mode.size()));
}

// Runs cells and times them: a cold start, round trips, a second session, an interrupt.
class SelfTest {
 public:
  explicit SelfTest(Console& console) : console_(console) {}

  absl::Status Run() {
    start_ = MonotonicNow();
    RunCell(console_.session(), "import sys; sys.version", [this](const CellOutcome& outcome) {
      ShowTemplate();
      Row("self-test", "");
      Row("  first result", Milliseconds(MonotonicNow() - start_));
      if (!outcome.result()) return Fail("the first cell gave no result");
      start_ = MonotonicNow();
      RoundTrip(kRoundTrips);
    });
    console_.RunLoop();
    return status_;
  }

 private:
  void RunCell(Session& session, std::string code, std::function<void(const CellOutcome&)> then) {
    session.Run({.code = std::move(code)}, [this, then](absl::StatusOr<CellOutcome> outcome) {
      if (!outcome.ok()) {
        status_ = outcome.status();
        return console_.Finish();
      }
      then(*outcome);
    });
  }

  void ShowTemplate() {
    absl::StatusOr<Template*> source = console_.templates().Get(console_.launch().session.runtime);
    if (!source.ok() || !(*source)->ready()) return;
    const wire::Ready& ready = *(*source)->ready();
    Row("python", ready.python_version);
    Row("  libpython", ready.libpython);
    Row("  sys.prefix", ready.prefix);
    for (const std::string& warning : ready.warnings) Row("  warning", warning);
  }

  void RoundTrip(int left) {
    if (left > 0)
      return RunCell(console_.session(), "x = 1",
                     [this, left](const CellOutcome&) { RoundTrip(left - 1); });
    Row("  cell round trip", Milliseconds((MonotonicNow() - start_) / kRoundTrips));
    second_ = console_.NewSession();
    start_ = MonotonicNow();
    RunCell(*second_, "1 + 1", [this](const CellOutcome&) {
      Row("  new session", Milliseconds(MonotonicNow() - start_));
      second_->Close([] {});
      Interrupt();
    });
  }

  void Interrupt() {
    RunCell(console_.session(), "import time; time.sleep(60)", [this](const CellOutcome& outcome) {
      Row("  interrupt", Milliseconds(MonotonicNow() - start_));
      if (outcome.status != CellStatus::kCancelled)
        return Fail("a sleeping cell could not be interrupted");
      console_.Finish();
    });
    console_.loop().After(absl::Milliseconds(20), [this] {
      start_ = MonotonicNow();
      console_.session().Interrupt();
    });
  }

  void Fail(const char* what) {
    status_ = absl::InternalError(what);
    console_.Finish();
  }

  Console& console_;
  std::unique_ptr<Session> second_;
  absl::Time start_;
  absl::Status status_;
};

int RunDoctor(const std::string& cwd, const std::string& interpreter) {
  Row("cellar", CELLAR_VERSION);
  ShowKernel();
  absl::StatusOr<Launch> launch =
      PrepareLaunch({.env = CurrentEnvironment(), .cwd = cwd, .interpreter = interpreter});
  absl::Status status = launch.status();
  if (launch.ok()) {
    ShowLaunch(*launch);
    absl::StatusOr<std::unique_ptr<Console>> console = Console::Create(*std::move(launch));
    status = console.ok() ? SelfTest(**console).Run() : console.status();
  }
  if (status.ok()) {
    Row("", "all is well");
    return kExitFine;
  }
  Row("PROBLEM", std::string(status.message()));
  Row("tool mode", "bash-only, because cells cannot be run");
  return ExitCodeFor(status);
}

}  // namespace

void AddDoctorCommand(CLI::App& app, int* exit_code) {
  struct Options {
    std::string cwd;
    std::string interpreter;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("doctor", "Show what cellar finds on this machine, and try it out");
  command->add_option("--cwd", options->cwd, "Directory to choose the interpreter for")
      ->option_text("DIR");
  command->add_option("--interpreter", options->interpreter, "Python environment to adopt")
      ->option_text("PATH");
  command->callback(
      [options, exit_code] { *exit_code = RunDoctor(options->cwd, options->interpreter); });
}

}  // namespace cellar::host
