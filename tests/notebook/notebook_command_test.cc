// Drives the real `cellar notebook` on real files: each case starts the program anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/testing/scratch_directory.h"

namespace cellar::host {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

struct Ran {
  int exit_code = -1;
  std::string out;
  std::string err;
};

std::string ReadFile(const fs::path& path) {
  std::stringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

class NotebookCommandTest : public testing::Test {
 protected:
  // Runs `cellar notebook ARGUMENTS` in the test's folder, as a shell would.
  Ran Run(const std::string& arguments, const std::string& input = "") {
    std::ofstream(folder_ / "in", std::ios::binary) << input;
    const std::string command =
        "cd " + folder_.path() + " && " CELLAR_BINARY " notebook " + arguments + " <in >out 2>err";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadFile(folder_ / "out"),
            ReadFile(folder_ / "err")};
  }

  void ExpectDone(const std::string& arguments, const std::string& input = "") {
    const Ran ran = Run(arguments, input);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
  }

  // What git prints, in the test's folder and with no settings but that folder's.
  std::string Git(const std::string& arguments) {
    const std::string command =
        "cd " + folder_.path() +
        " && HOME=$PWD GIT_CONFIG_NOSYSTEM=1 git -c user.name=x -c user.email=x " + arguments +
        " >.git.out 2>.git.err";
    EXPECT_EQ(std::system(command.c_str()), 0) << ReadFile(folder_ / ".git.err");
    return ReadFile(folder_ / ".git.out");
  }

  std::string Text() { return Run("show a.ipynb").out; }

  const ScratchDirectory folder_;
};

TEST_F(NotebookCommandTest, NewInsertShowEditDelete) {
  ExpectDone("new a.ipynb");
  ExpectDone("insert a.ipynb 0", "print(1)\n");
  ExpectDone("insert a.ipynb 1 --type markdown --source '# Title'");
  EXPECT_EQ(Text(), "# %% [code] cell:0\nprint(1)\n# %% [markdown] cell:1\n# Title\n");
  EXPECT_EQ(Run("edit a.ipynb 0 --source x").out, "Edited code cell 0; the notebook has 2 cells\n");
  EXPECT_THAT(Run("delete a.ipynb 1 --json").out, HasSubstr("\"source\": \"# Title\""));
  EXPECT_EQ(Text(), "# %% [code] cell:0\nx\n");
}

TEST_F(NotebookCommandTest, MissingNotebookIsStartedByInsertAndApplyOnly) {
  EXPECT_EQ(Run("show a.ipynb").exit_code, 2);
  EXPECT_EQ(Run("edit a.ipynb 0 --source x").exit_code, 2);
  EXPECT_EQ(Run("show a.ipynb").err,
            "cellar: notebook: reading a.ipynb: No such file or directory\n");
  ExpectDone("apply a.ipynb", "# %% [raw]\nx\n");
  EXPECT_EQ(Text(), "# %% [raw] cell:0\nx\n");
}

TEST_F(NotebookCommandTest, ShowThenApplyLeavesTheFileAlone) {
  ExpectDone("insert a.ipynb 0 --source x");
  const auto written = fs::last_write_time(folder_ / "a.ipynb");
  EXPECT_EQ(Run("apply a.ipynb", Text()).out, "nothing to change\n");
  EXPECT_EQ(fs::last_write_time(folder_ / "a.ipynb"), written);
}

TEST_F(NotebookCommandTest, DryRunShowsADiffAndWritesNothing) {
  ExpectDone("insert a.ipynb 0 --source x");
  const std::string before = ReadFile(folder_ / "a.ipynb");
  const Ran ran = Run("apply a.ipynb --dry-run", "# %% [code] cell:0\ny\n");
  EXPECT_THAT(ran.out, HasSubstr("\n-x\n+y\n"));
  EXPECT_THAT(ran.out, HasSubstr("1 cell changed, 0 added, 0 removed\n"));
  EXPECT_EQ(ReadFile(folder_ / "a.ipynb"), before);
}

TEST_F(NotebookCommandTest, ApplyNamesLinesThatAreAlmostMarkers) {
  ExpectDone("apply a.ipynb", "# %% [code]\n1\n# %% [code]\n2\n");
  EXPECT_EQ(Run("apply a.ipynb", "# %% [code] cell:0\n1\n# %% [code] cell:1 # note\n2\n#%%\n").out,
            "1 cell changed, 0 added, 1 removed\n"
            "line 3 looks like a marker but is not one: # %% [code] cell:1 # note\n"
            "line 5 looks like a marker but is not one: #%%\n");
  EXPECT_EQ(Run("apply a.ipynb", Text() + "3\n# %%time\n").out,
            "1 cell changed, 0 added, 0 removed\n");
}

TEST_F(NotebookCommandTest, BaseRefusesAFileThatChanged) {
  ExpectDone("insert a.ipynb 0 --source x");
  std::string hash = Run("show --hash a.ipynb").out;
  hash.pop_back();
  ExpectDone("apply a.ipynb --base " + hash, "# %% [code] cell:0\ny\n");
  const Ran refused = Run("apply a.ipynb --base " + hash, "# %% [code] cell:0\nz\n");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, StartsWith("cellar: notebook: a.ipynb: changed since base " + hash));
  EXPECT_EQ(Run("edit a.ipynb 0 --source z --base " + hash).exit_code, 2);
  EXPECT_EQ(Text(), "# %% [code] cell:0\ny\n");
}

TEST_F(NotebookCommandTest, LinesAndRaw) {
  ExpectDone("apply a.ipynb", "# %% [code]\n1\n2\n3\n");
  EXPECT_EQ(Run("show a.ipynb --lines 2-3,4").out, "1\n2\n3\n");
  EXPECT_EQ(Run("show a.ipynb --raw").out, ReadFile(folder_ / "a.ipynb"));
  EXPECT_EQ(Run("show a.ipynb --raw --lines 1").out, "{\n");
  EXPECT_EQ(Run("show a.ipynb --lines 9").exit_code, 2);
  EXPECT_EQ(Run("show a.ipynb --lines x").exit_code, 2);
}

TEST_F(NotebookCommandTest, GitShowsOnlyTheCellThatIsNewAndGoesOnAfterABrokenNotebook) {
  if (std::system("git --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no git";
  Git("init -q");
  Git("config diff.ipynb.textconv '" CELLAR_BINARY " notebook show --diff'");
  std::ofstream(folder_ / ".gitattributes") << "*.ipynb diff=ipynb\n";
  ExpectDone("apply a.ipynb", "# %% [code]\n1\n# %% [code]\n2\n# %% [markdown]\nthree\n");
  Git("add .gitattributes a.ipynb");
  Git("commit -qm one");
  ExpectDone("insert a.ipynb 0 --source 0");
  EXPECT_THAT(Git("diff -U9 a.ipynb"),
              HasSubstr("@@\n # %% [code]\n+0\n+# %% [code]\n 1\n # %% [code]\n 2\n"
                        " # %% [markdown]\n three\n"));
  Git("commit -qam two");
  std::ofstream(folder_ / "a.ipynb") << "<<<<<<< HEAD\n{\n";
  Git("commit -qam broken");
  const std::string log = Git("log -p --format=%s");
  EXPECT_THAT(log, HasSubstr("+<<<<<<< HEAD\n"));
  EXPECT_THAT(log, HasSubstr("@@\n # %% [code]\n+0\n+# %% [code]\n 1\n"));
  EXPECT_THAT(log, HasSubstr("\none\n"));
}

TEST_F(NotebookCommandTest, ShowForADiffHasNoNumbersOfCells) {
  std::ofstream(folder_ / "a.ipynb")
      << R"({"cells":[{"cell_type":"code","outputs":[{"output_type":"stream","text":"hi"}],"source":"x"}]})";
  EXPECT_EQ(Run("show --diff --outputs a.ipynb").out,
            "# %% [code]\nx\n# %% [outputs]\n# []\n# hi\n");
  std::ofstream(folder_ / "a.ipynb") << "no notebook";
  EXPECT_EQ(Run("show --diff a.ipynb").out, "no notebook");
  EXPECT_EQ(Run("show --diff missing.ipynb").exit_code, 2);
}

TEST_F(NotebookCommandTest, DeletesTheCellWhoseIdIsAllZeros) {
  std::ofstream(folder_ / "a.ipynb")
      << R"({"cells":[{"cell_type":"raw","id":"1","source":"a"},{"cell_type":"raw","id":"00000000","source":"b"}]})";
  EXPECT_THAT(Run("delete a.ipynb 00000000 --json").out, HasSubstr("\"source\": \"b\""));
}

TEST_F(NotebookCommandTest, WrongUseIsExitCodeTwo) {
  ExpectDone("new a.ipynb");
  EXPECT_EQ(Run("").exit_code, 2);
  EXPECT_EQ(Run("show").exit_code, 2);
  EXPECT_EQ(Run("insert a.ipynb 0 --type prose --source x").exit_code, 2);
  const Ran missing = Run("insert a.ipynb 0");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, StartsWith("cellar: notebook: missing content"));
  EXPECT_EQ(Run("convert a.ipynb b.ipynb").exit_code, 2);
}

TEST_F(NotebookCommandTest, FailuresNameTheFileAndThePlace) {
  ExpectDone("new a.ipynb");
  EXPECT_EQ(Run("delete a.ipynb 0").err,
            "cellar: notebook: a.ipynb: cell 0 is out of range: the notebook has 0 cells\n");
  EXPECT_EQ(Run("new a.ipynb").err, "cellar: notebook: a.ipynb: exists already\n");
  EXPECT_THAT(Run("apply a.ipynb", "x = 1\n").err, StartsWith("cellar: notebook: stdin: line 1: "));
  std::ofstream(folder_ / "bad.ipynb") << "{\"cells\": [}";
  EXPECT_EQ(Run("show bad.ipynb").err,
            "cellar: notebook: bad.ipynb: line 1, column 12, in cells[0]: invalid JSON: expected a "
            "value\n");
}

TEST_F(NotebookCommandTest, ClearRemovesOutputs) {
  std::ofstream(folder_ / "a.ipynb")
      << R"({"cells":[{"cell_type":"code","execution_count":1,"outputs":[{"output_type":"stream","text":"hi"}],"source":"x"}]})";
  EXPECT_THAT(Run("show a.ipynb --outputs").out, HasSubstr("# hi\n"));
  ExpectDone("clear a.ipynb");
  EXPECT_EQ(ReadFile(folder_ / "a.ipynb"),
            R"({"cells":[{"cell_type":"code","execution_count":null,"outputs":[],"source":"x"}]})");
}

TEST_F(NotebookCommandTest, ConvertsToAScriptAndBack) {
  ExpectDone("apply a.ipynb", "# %% [code]\n%time x\n# %% [markdown]\n# T\n");
  ExpectDone("convert a.ipynb a.py");
  EXPECT_EQ(Run("convert a.ipynb -").out, ReadFile(folder_ / "a.py"));
  EXPECT_EQ(Run("convert a.ipynb a.py").exit_code, 2);
  ExpectDone("convert a.ipynb a.py --force");
  ExpectDone("convert a.py b.ipynb");
  EXPECT_EQ(ReadFile(folder_ / "b.ipynb"), ReadFile(folder_ / "a.ipynb"));
  ExpectDone("convert a.py a.ipynb");
  EXPECT_EQ(ReadFile(folder_ / "b.ipynb"), ReadFile(folder_ / "a.ipynb"));
}

}  // namespace
}  // namespace cellar::host
