#include "host/runtime/interpreter.h"

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/scratch.h"

namespace cellar::host {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// "own" is the installation the worker was built for; it is on PATH in no test that does not say
// so.
class InterpreterTest : public Scratch {
 protected:
  InterpreterTest() {
    MakeInstallation("own", "3.11");
    std::filesystem::create_directories(Path("project"));
    query_ = {.env = {{"HOME", Path("home")}},
              .cwd = Path("project"),
              .worker_python = {.minor = "3.11", .executable = Path("own/bin/python3.11")}};
  }

  Interpreter Choose() {
    absl::StatusOr<Interpreter> interpreter = ChooseInterpreter(query_);
    EXPECT_TRUE(interpreter.ok()) << interpreter.status();
    return interpreter.ok() ? *interpreter : Interpreter();
  }
  std::string ChooseError() {
    absl::StatusOr<Interpreter> interpreter = ChooseInterpreter(query_);
    EXPECT_FALSE(interpreter.ok());
    return std::string(interpreter.status().message());
  }

  InterpreterQuery query_;
};

TEST_F(InterpreterTest, IsTheFirstOfTheOrder) {
  const std::string own = Path("own");
  std::filesystem::create_directories(Path("empty"));
  query_.env["PATH"] = Path("empty") + ":" + own + "/bin";
  EXPECT_EQ(Choose().executable, own + "/bin/python3");
  EXPECT_EQ(Choose().origin, "PATH");

  MakeVenv("home/.cellar/python-env", own, "3.11.2");
  EXPECT_EQ(Choose().origin, "~/.cellar/python-env");
  MakeVenv("project/venv", own, "3.11.2");
  EXPECT_EQ(Choose().origin, "venv");
  MakeVenv("project/.venv", own, "3.11.2");
  EXPECT_EQ(Choose().origin, ".venv");
  query_.env["CONDA_PREFIX"] = MakeInstallation("conda", "3.11");
  EXPECT_EQ(Choose().origin, "CONDA_PREFIX");
  query_.env["VIRTUAL_ENV"] = MakeVenv("active", own, "3.11.2");
  EXPECT_EQ(Choose().origin, "VIRTUAL_ENV");
  query_.setting = MakeVenv("asked", own, "3.11.2") + "/bin/python";
  EXPECT_EQ(Choose().origin, "setting");
  EXPECT_THAT(Choose().warnings, IsEmpty());
}

TEST_F(InterpreterTest, TellsOfEveryCandidateWhyItWasTakenOrNot) {
  MakeInstallation("new", "3.12");
  MakeVenv("project/venv", Path("own"), "3.11.2");
  query_.env["PATH"] = Path("new/bin");
  query_.env["VIRTUAL_ENV"] = Path("new");
  std::vector<std::string> told;
  for (const ConsideredPython& python : Choose().considered) {
    told.push_back(python.origin + " | " + python.path + " | " + python.verdict);
  }
  const std::string later = " | not looked at, since another one comes first";
  EXPECT_THAT(
      told,
      ElementsAre("setting |  | not given",
                  "VIRTUAL_ENV | " + Path("new") + " | passed over: " + Path("new/bin/python") +
                      " is Python 3.12, this worker runs Python 3.11",
                  "CONDA_PREFIX |  | not set",
                  ".venv | " + Path("project/.venv") + " | there is no such directory",
                  "venv | " + Path("project/venv") + " | taken",
                  "~/.cellar/python-env | " + Path("home/.cellar/python-env") +
                      " | there is no such directory",
                  "PATH | " + Path("new/bin/python3") + later,
                  "built-in | " + Path("own/bin/python3.11") + later));
}

TEST_F(InterpreterTest, TakesPython3OnAllOfPathBeforePython) {
  WriteProgram("a/bin/python", kUnrunnableProgram);
  query_.env["PATH"] = Path("a/bin") + ":" + Path("own/bin");
  EXPECT_EQ(Choose().executable, Path("own/bin/python3"));
}

TEST_F(InterpreterTest, LooksPastAnotherVersionOnPath) {
  MakeInstallation("new", "3.12");
  query_.env["PATH"] = Path("new/bin") + ":relative:" + Path("own/bin");
  const Interpreter interpreter = Choose();
  EXPECT_EQ(interpreter.executable, Path("own/bin/python3"));
  EXPECT_THAT(interpreter.warnings, ElementsAre("passed over " + Path("new/bin/python3") +
                                                " (PATH): " + Path("new/bin/python3") +
                                                " is Python 3.12, this worker runs Python 3.11"));
}

TEST_F(InterpreterTest, IsTheBuiltInOneWhenPathHasNoneOfItsVersion) {
  MakeInstallation("new", "3.12");
  query_.env["PATH"] = Path("new/bin");
  const Interpreter interpreter = Choose();
  EXPECT_EQ(interpreter.executable, Path("own/bin/python3.11"));
  EXPECT_EQ(interpreter.origin, "built-in");
  EXPECT_THAT(interpreter.warnings,
              ElementsAre(HasSubstr("is Python 3.12, this worker runs Python 3.11"),
                          HasSubstr("no Python 3.11 in an environment or on PATH; using " +
                                    Path("own/bin/python3.11"))));
}

TEST_F(InterpreterTest, IsAnErrorThatNamesEverythingWhenThereIsNone) {
  MakeInstallation("new", "3.12");
  query_.env["PATH"] = Path("new/bin");
  query_.worker_python.executable = Path("missing");
  EXPECT_THAT(ChooseError(), AllOf(StartsWith("no usable Python 3.11: "),
                                   HasSubstr(Path("new/bin/python3")), HasSubstr(Path("missing"))));
}

TEST_F(InterpreterTest, PassesOverABrokenEnvironmentThatWasOnlyFound) {
  query_.env["PATH"] = Path("own/bin");
  query_.env["VIRTUAL_ENV"] = Path("deleted");
  MakeVenv("project/.venv", Path("gone"), "3.11.2");
  std::filesystem::create_directories(Path("project/venv"));
  const Interpreter interpreter = Choose();
  EXPECT_EQ(interpreter.origin, "PATH");
  EXPECT_THAT(interpreter.warnings,
              ElementsAre(AllOf(HasSubstr("VIRTUAL_ENV"), HasSubstr("No such file or directory")),
                          AllOf(HasSubstr(".venv"), HasSubstr(Path("gone/bin/python3"))),
                          HasSubstr("there is no bin/python in " + Path("project/venv"))));
}

TEST_F(InterpreterTest, PassesOverAVenvWithoutSitePackages) {
  MakeVenv("project/.venv", Path("own"), "3.11.2");
  std::filesystem::remove_all(Path("project/.venv/lib"));
  EXPECT_THAT(Choose().warnings.at(0),
              HasSubstr("there is no lib/python3.11/site-packages in " + Path("project/.venv")));
}

TEST_F(InterpreterTest, IsAnErrorWhenTheOneAskedForIsOfAnotherVersion) {
  query_.env["PATH"] = Path("own/bin");
  MakeInstallation("project/new", "3.12");
  query_.setting = "new/bin/python3";
  EXPECT_EQ(ChooseError(), "interpreter \"new/bin/python3\" (" + Path("project/new/bin/python3") +
                               "), which was asked for: " + Path("project/new/bin/python3") +
                               " is Python 3.12, this worker runs Python 3.11");
  EXPECT_EQ(ChooseInterpreter(query_).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(InterpreterTest, IsAnErrorWhenTheOneAskedForIsMissing) {
  query_.env["PATH"] = Path("own/bin");
  query_.setting = "~/nothing";
  EXPECT_EQ(ChooseInterpreter(query_).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(ChooseError(), HasSubstr(Path("home/nothing")));
}

TEST_F(InterpreterTest, CanBeAskedForByHomeRelativePathDirectoryOrName) {
  MakeVenv("home/py", Path("own"), "3.11.2");
  query_.env["PATH"] = Path("home/py/bin");
  query_.setting = "python";
  EXPECT_EQ(Choose().executable, Path("home/py/bin/python"));
  query_.setting = "~/py/bin/python";
  EXPECT_EQ(Choose().prefix, Path("home/py"));
  query_.setting = "../home/py";
  EXPECT_EQ(Choose().executable, Path("home/py/bin/python"));
}

TEST_F(InterpreterTest, NeedsNothingSpecialOnTheWorkersOwnBase) {
  MakeVenv("project/.venv", Path("own"), "3.11.2");
  AddSharedLibrary("own", "3.11");
  const Interpreter interpreter = Choose();
  EXPECT_EQ(interpreter.kind, InterpreterKind::kVenv);
  EXPECT_EQ(interpreter.version, "3.11.2");
  EXPECT_EQ(interpreter.prefix, Path("project/.venv"));
  EXPECT_EQ(interpreter.libpython, "");
  EXPECT_EQ(interpreter.home, "");
  EXPECT_EQ(interpreter.site_packages, "");
}

TEST_F(InterpreterTest, BringsItsOwnLibpython) {
  MakeInstallation("py", "3.11");
  const std::string library = AddSharedLibrary("py", "3.11");
  query_.setting = Path("py/bin/python3");
  EXPECT_EQ(Choose().libpython, library);
  EXPECT_EQ(Choose().home, Path("py"));
  EXPECT_EQ(Choose().kind, InterpreterKind::kBase);

  query_.setting = MakeVenv("venv", Path("py"), "3.11.7");
  EXPECT_EQ(Choose().libpython, library);
  EXPECT_EQ(Choose().home, "") << "pyvenv.cfg says it, and home would hide pyvenv.cfg";
}

TEST_F(InterpreterTest, LendsItsSitePackagesToTheWorkersPythonWithoutLibpython) {
  query_.setting = MakeInstallation("py", "3.11");
  EXPECT_EQ(Choose().libpython, "");
  EXPECT_EQ(Choose().home, Path("own"));
  EXPECT_EQ(Choose().site_packages, Path("py/lib/python3.11/site-packages"));

  query_.setting = MakeVenv("venv", Path("py"), "3.11.7");
  EXPECT_EQ(Choose().home, Path("own"));
  EXPECT_EQ(Choose().site_packages, "") << "site finds it by pyvenv.cfg";
}

TEST_F(InterpreterTest, IsKnownAsConda) {
  query_.env["CONDA_PREFIX"] = MakeInstallation("conda", "3.11");
  Write("conda/conda-meta/history", "");
  AddSharedLibrary("conda", "3.11");
  const Interpreter interpreter = Choose();
  EXPECT_EQ(interpreter.kind, InterpreterKind::kConda);
  EXPECT_EQ(interpreter.home, Path("conda"));
  EXPECT_EQ(interpreter.executable, Path("conda/bin/python"));
}

TEST_F(InterpreterTest, IsWhatAShimAnswers) {
  MakeInstallation("py", "3.11");
  WriteProgram("tools/python3", "#!/bin/sh\nprintf '\\ncellar-probe\\ncpython\\n3.11.7\\n" +
                                    Path("py/bin/python3") + "\\n" + Path("py") + "\\n'\n");
  query_.env["PATH"] = Path("tools");
  const Interpreter interpreter = Choose();
  EXPECT_EQ(interpreter.executable, Path("py/bin/python3"));
  EXPECT_EQ(interpreter.version, "3.11.7");
  EXPECT_EQ(interpreter.prefix, Path("py"));
}

TEST_F(InterpreterTest, IsNeverAnotherImplementation) {
  WriteProgram("tools/python3",
               "#!/bin/sh\nprintf '\\ncellar-probe\\npypy\\n3.11.7\\n/x\\n/x\\n'\n");
  query_.env["PATH"] = Path("tools") + ":" + Path("own/bin");
  EXPECT_THAT(Choose().warnings, ElementsAre(HasSubstr(Path("tools/python3") + " is pypy")));
}

TEST_F(InterpreterTest, ComesInTimeWhenEveryShimHangs) {
  for (const char* name : {"a/python3", "a/python", "b/python3", "b/python"}) {
    WriteProgram(name, "#!/bin/sh\n/bin/sleep 300\n");
  }
  query_.env["PATH"] = Path("a") + ":" + Path("b") + ":" + Path("own/bin");
  query_.probe_limit = absl::Milliseconds(300);
  const absl::Time start = absl::Now();
  const Interpreter interpreter = Choose();
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
  EXPECT_EQ(interpreter.executable, Path("own/bin/python3"));
  EXPECT_THAT(interpreter.warnings, ElementsAre(HasSubstr("it did not answer in time"),
                                                HasSubstr("it did not answer in time")));
}

class PyenvTest : public InterpreterTest {
 protected:
  PyenvTest() {
    MakeInstallation("pyenv/versions/3.11.7", "3.11");
    MakeInstallation("pyenv/versions/3.12.1", "3.12");
    WriteProgram("pyenv/shims/python3", "#!/bin/sh\necho shim was run; exit 1\n");
    Write("pyenv/version", "3.12.1\n");
    query_.env["PATH"] = Path("pyenv/shims");
  }
};

TEST_F(PyenvTest, FollowsTheGlobalVersionWithoutRunningTheShim) {
  Write("pyenv/version", "3.11.7\n3.12.1\n");
  EXPECT_EQ(Choose().executable, Path("pyenv/versions/3.11.7/bin/python3"));
}

TEST_F(PyenvTest, PrefersTheVersionFileOfAParentDirectory) {
  Write(".python-version", "3.11.7\n");
  EXPECT_EQ(Choose().executable, Path("pyenv/versions/3.11.7/bin/python3"));
}

TEST_F(PyenvTest, PrefersTheVariableToFiles) {
  query_.env["PYENV_VERSION"] = "3.11.7:3.12.1";
  EXPECT_EQ(Choose().executable, Path("pyenv/versions/3.11.7/bin/python3"));
}

TEST_F(PyenvTest, SaysWhichVersionWasPassedOver) {
  EXPECT_THAT(Choose().warnings.at(0),
              HasSubstr(Path("pyenv/versions/3.12.1/bin/python3") + " is Python 3.12"));
}

TEST_F(PyenvTest, LeavesWhatIsNoInstalledVersionToTheShim) {
  for (const char* version : {"3.11", "system", "../3.11.7", ""}) {
    Write("pyenv/version", version);
    EXPECT_THAT(Choose().warnings.at(0), HasSubstr("shim was run")) << version;
  }
}

}  // namespace
}  // namespace cellar::host
