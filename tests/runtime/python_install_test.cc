#include "host/runtime/python_install.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/scratch.h"

namespace cellar::host {
namespace {

using testing::HasSubstr;

class PythonInstallTest : public Scratch {
 protected:
  PythonInstall Inspect(const std::string& relative) {
    absl::StatusOr<PythonInstall> install = InspectExecutable(Path(relative));
    EXPECT_TRUE(install.ok()) << install.status();
    return install.ok() ? *install : PythonInstall();
  }
  std::string InspectError(const std::string& relative) {
    return std::string(InspectExecutable(Path(relative)).status().message());
  }
};

TEST_F(PythonInstallTest, KnowsAnInstallationByTheNameBehindTheLink) {
  MakeInstallation("py", "3.11");
  const PythonInstall install = Inspect("py/bin/python");
  EXPECT_EQ(install.executable, Path("py/bin/python"));
  EXPECT_EQ(install.version, "3.11");
  EXPECT_EQ(install.prefix, Path("py"));
  EXPECT_EQ(install.base_prefix, Path("py"));
  EXPECT_FALSE(install.is_venv);
}

TEST_F(PythonInstallTest, FollowsALinkFromElsewhere) {
  MakeInstallation("py", "3.11");
  Link("bin/python3", Path("py/bin/python3"));
  EXPECT_EQ(Inspect("bin/python3").prefix, Path("py"));
  EXPECT_EQ(Inspect("bin/python3").executable, Path("bin/python3"));
}

TEST_F(PythonInstallTest, KnowsAnUnversionedNameByTheOnlyStandardLibrary) {
  WriteProgram("py/bin/python", kUnrunnableProgram);
  EXPECT_EQ(Inspect("py/bin/python").version, "");
  Write("py/lib/python3.12/os.py", "");
  EXPECT_EQ(Inspect("py/bin/python").version, "3.12");
  Write("py/lib/python3.11/os.py", "");
  EXPECT_EQ(Inspect("py/bin/python").version, "");
}

TEST_F(PythonInstallTest, DoesNotGuessTheVersionOfAScriptOrAnotherProgram) {
  MakeInstallation("py", "3.11");
  WriteProgram("shims/python3.11", "#!/bin/sh\n");
  WriteProgram("py/bin/mise", kUnrunnableProgram);
  Link("shims/python3", Path("py/bin/mise"));
  EXPECT_EQ(Inspect("shims/python3.11").version, "");
  EXPECT_EQ(Inspect("shims/python3").version, "");
}

TEST_F(PythonInstallTest, DoesNotTakeAnotherBuildForAPlainOne) {
  WriteProgram("py/bin/python3.13t", kUnrunnableProgram);
  EXPECT_EQ(Inspect("py/bin/python3.13t").version, "");
}

TEST_F(PythonInstallTest, KnowsAVenvByItsConfig) {
  MakeVenv("venv", MakeInstallation("py", "3.11"), "3.11.2");
  const PythonInstall install = Inspect("venv/bin/python");
  EXPECT_TRUE(install.is_venv);
  EXPECT_EQ(install.executable, Path("venv/bin/python"));
  EXPECT_EQ(install.version, "3.11.2");
  EXPECT_EQ(install.prefix, Path("venv"));
  EXPECT_EQ(install.base_prefix, Path("py"));
}

TEST_F(PythonInstallTest, ReadsTheConfigsOfOtherVenvMakers) {
  const std::string base = MakeInstallation("py", "3.11");
  MakeVenv("venv", base, "3.11.2");
  Write("venv/pyvenv.cfg", "HOME=" + base + "/bin\nversion_info = 3.11.7.final.0\nuv = 0.4\n");
  EXPECT_EQ(Inspect("venv/bin/python").version, "3.11.7");
}

TEST_F(PythonInstallTest, KnowsAVenvOfCopies) {
  const std::string base = MakeInstallation("py", "3.11");
  WriteProgram("venv/bin/python", kUnrunnableProgram);
  Write("venv/pyvenv.cfg", "home = " + base + "/bin\nversion = 3.11.2\n");
  EXPECT_EQ(Inspect("venv/bin/python").base_prefix, base);
}

TEST_F(PythonInstallTest, FindsTheBaseBehindALinkInTheHomeOfAVenv) {
  const std::string base = MakeInstallation("py", "3.11");
  Link("bin/python3", base + "/bin/python3");
  MakeVenv("venv", Path(""), "3.11.2");
  EXPECT_EQ(Inspect("venv/bin/python").base_prefix, base);
}

TEST_F(PythonInstallTest, ReportsAVenvWhoseBaseIsGone) {
  MakeVenv("venv", Path("gone"), "3.11.2");
  EXPECT_EQ(
      InspectError("venv/bin/python"),
      Path("venv/bin/python") + " -> " + Path("gone/bin/python3") + ": No such file or directory");
  std::filesystem::remove(Path("venv/bin/python"));
  WriteProgram("venv/bin/python", kUnrunnableProgram);
  EXPECT_THAT(InspectError("venv/bin/python"),
              HasSubstr("there is no Python 3.11 installation at " + Path("gone/bin")));
}

TEST_F(PythonInstallTest, ReportsAVenvWhoseBaseWasUpgraded) {
  MakeVenv("venv", MakeInstallation("py", "3.12"), "3.11.2");
  EXPECT_THAT(InspectError("venv/bin/python"), HasSubstr("was made for Python 3.11"));
}

TEST_F(PythonInstallTest, ReportsAVenvWithoutHome) {
  MakeVenv("venv", MakeInstallation("py", "3.11"), "3.11.2");
  Write("venv/pyvenv.cfg", "version = 3.11.2\n");
  EXPECT_EQ(InspectError("venv/bin/python"), Path("venv/pyvenv.cfg") + " names no home");
}

TEST_F(PythonInstallTest, LeavesAVenvWithoutVersionToAProbe) {
  const std::string base = MakeInstallation("py", "3.11");
  MakeVenv("venv", base, "3.11.2");
  Write("venv/pyvenv.cfg", "home = " + base + "/bin\n");
  EXPECT_EQ(Inspect("venv/bin/python").version, "");
}

TEST_F(PythonInstallTest, ReportsWhatIsNoProgram) {
  Write("file", kUnrunnableProgram);
  Link("loop", "loop");
  EXPECT_EQ(InspectError("missing"), Path("missing") + ": No such file or directory");
  EXPECT_EQ(InspectError("file"), Path("file") + ": Permission denied");
  EXPECT_EQ(InspectError("loop"), Path("loop") + " -> loop: Too many levels of symbolic links");
}

}  // namespace
}  // namespace cellar::host
