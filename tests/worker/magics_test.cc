// Cells that are not Python as they stand: commands of the shell, magics, questions.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/scratch_directory.h"
#include "tests/testing/worker_test.h"

namespace cellar::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class MagicsTest : public WorkerTest {
 protected:
  SessionOptions Options() override { return {.cwd = scratch_.path()}; }

  std::string TracebackOf(std::string code) {
    CellOutcome outcome = Run(std::move(code));
    EXPECT_EQ(outcome.status, CellStatus::kError);
    return outcome.error ? outcome.error->traceback : "";
  }

  ScratchDirectory scratch_;
};

TEST_F(MagicsTest, ACommandShowsItsOutputAsItComes) {
  StartedCell cell(session(), "!echo first; sleep 60");
  cell.WaitFor("first");
  session().Interrupt();
  EXPECT_EQ(cell.Join().status, CellStatus::kCancelled);
  EXPECT_THAT(Evaluate("1"), "1");
}

TEST_F(MagicsTest, ACommandThatIgnoresTheInterruptIsKilled) {
  StartedCell cell(session(), "!trap '' INT; echo on; while :; do sleep 0.05; done");
  cell.WaitFor("on");
  session().Interrupt();
  CellOutcome outcome = cell.Join();
  EXPECT_EQ(outcome.status, CellStatus::kCancelled);
  EXPECT_EQ(outcome.state, StateAfter::kKept);
}

TEST_F(MagicsTest, ACommandThatIgnoresTheInterruptIsKilledAlsoWhenThatIsInterrupted) {
  Run("import os, signal, threading, time\n"
      "def interrupt_again():\n"
      "    while not os.path.exists('pid'): time.sleep(0.01)\n"
      "    time.sleep(0.4)\n"
      "    os.kill(os.getpid(), signal.SIGINT)");
  CellOutcome outcome =
      Run("threading.Thread(target=interrupt_again).start()\n"
          "try:\n"
          "    !trap '' INT; echo $$ > pid; sleep 0.2; kill -INT $PPID; while :; do sleep 0.05; done\n"
          "except KeyboardInterrupt:\n"
          "    pass\n"
          "try:\n"
          "    os.kill(int(open('pid').read()), 0)\n"
          "except ProcessLookupError:\n"
          "    print('gone')");
  EXPECT_EQ(outcome.stdout_text(), "gone\n");
}

TEST_F(MagicsTest, AnAssignedCommandGivesLinesTextAndReturnCode) {
  CellOutcome outcome = Run("x = !printf 'a\\nb\\377\\n'; exit 3\nx, x.text, x.returncode");
  EXPECT_THAT(outcome, ResultIs("(['a', 'b\uFFFD'], 'a\\nb\uFFFD\\n', 3)"));
  EXPECT_EQ(outcome.stdout_text(), "");
}

TEST_F(MagicsTest, AFailureOfACommandIsSaidAndTheCellGoesOn) {
  CellOutcome outcome = Run("!exit 4\n_exit_code");
  EXPECT_THAT(outcome, ResultIs("4"));
  EXPECT_EQ(outcome.stderr_text(), "[exit code 4]\n");
}

TEST_F(MagicsTest, ACommandDoesNotWaitForWhatItLeavesInTheBackground) {
  CellOutcome outcome = Run("!sleep 60 & echo started", {.timeout = absl::Seconds(10)});
  EXPECT_TRUE(outcome.ok()) << ::testing::PrintToString(outcome);
  EXPECT_EQ(outcome.stdout_text(), "started\n");
}

TEST_F(MagicsTest, WhatACommandLeavesInTheBackgroundGoesOnWhenItPrintsLater) {
  for (const char* cell : {"!echo now; (cat go > go2; echo late; touch done) &",
                           "%%bash\necho now; (cat go > go2; echo late; touch done) &"}) {
    ASSERT_EQ(mkfifo((scratch_ / "go").c_str(), 0600), 0);
    EXPECT_THAT(Run(cell), Prints("now\n"));
    std::ofstream(scratch_ / "go") << "";  // only now has the cell ended
    ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(scratch_ / "done"); })) << cell;
    std::string background;
    ASSERT_TRUE(Eventually([&] {
      for (const CellOutput& item : Run("1").background) background += item.text;
      return !background.empty();
    }));
    EXPECT_EQ(background, "late\n");
    for (const char* file : {"go", "go2", "done"}) std::filesystem::remove(scratch_ / file);
  }
}

TEST_F(MagicsTest, ACommandEndsAlsoWhenWhatItLeavesInTheBackgroundPrintsWithoutEnd) {
  EXPECT_THAT(Run("x = !(while :; do echo on; done) & echo started\n'started' in x, x.returncode",
                  {.timeout = absl::Seconds(10)}),
              ResultIs("(True, 0)"));
}

TEST_F(MagicsTest, ValuesOfTheCellAreFilledIn) {
  EXPECT_EQ(Run("def f(name):\n    !echo {name.upper()} $name ${name}. '{print $1}'\nf('ab')")
                .stdout_text(),
            "AB ab . {print $1}\n");
  // What the cell has no value for is the shell's, also where Python has a function of that name.
  EXPECT_EQ(Run("x = 1\n!echo '{print} $id {{x}} {x}'").stdout_text(), "{print} $id {{x}} 1\n");
}

TEST_F(MagicsTest, ValidPythonAndStringsAreLeftAlone) {
  EXPECT_THAT(Run("y = 7\nx = 9 \\\n% y\nx"), ResultIs("2"));
  EXPECT_THAT(Run("text = '''\n!no\n%nor this\nwhy?\n'''\n!true\nlen(text)"), ResultIs("20"));
  EXPECT_THAT(Run("n = (8\n % 3)\n!true\nn"), ResultIs("2"));
}

TEST_F(MagicsTest, LinesInATracebackAreTheUsersOwn) {
  EXPECT_EQ(TracebackOf("!true\n\ndef f():\n    %cd /nowhere/at/all\nf()"),
            "Traceback (most recent call last):\n"
            "  File \"<cell 1>\", line 5, in <module>\n"
            "    f()\n"
            "  File \"<cell 1>\", line 4, in f\n"
            "    %cd /nowhere/at/all\n"
            "FileNotFoundError: [Errno 2] No such file or directory: '/nowhere/at/all'");
  EXPECT_EQ(TracebackOf("!true\nx = = 1"),
            "  File \"<cell 2>\", line 2\n"
            "    x = = 1\n"
            "        ^\n"
            "SyntaxError: invalid syntax");
}

TEST_F(MagicsTest, AnUnknownMagicListsThoseThereAre) {
  EXPECT_THAT(TracebackOf("x = 1\n%nonsense"),
              AllOf(HasSubstr("line 2\n    %nonsense\n"),
                    HasSubstr("there is no magic %nonsense; there are: %autoreload, %cd")));
  EXPECT_THAT(TracebackOf("%%nonsense\nx"), HasSubstr("there are: %%bash, %%capture"));
  EXPECT_THAT(TracebackOf("x"), HasSubstr("NameError"));  // nothing of the first cell was run
}

TEST_F(MagicsTest, TimesWithAwaitInside) {
  Run("import asyncio");
  CellOutcome outcome = Run("%%time\nx = 3\nawait asyncio.sleep(0.01)\nx + 1");
  EXPECT_THAT(outcome, ResultIs("4"));
  EXPECT_THAT(outcome.stdout_text(), ContainsRegex("CPU times: user .*\nWall time: [0-9.]+ ms"));
  EXPECT_THAT(Run("%time await asyncio.sleep(0, 'slept')"), ResultIs("'slept'"));
  EXPECT_THAT(Run("%time y = 5\ny"), ResultIs("5"));
  EXPECT_THAT(Run("%time (y, '#')  # a comment"), ResultIs("(5, '#')"));
  EXPECT_THAT(Run("%time y = 6  # a comment\ny"), ResultIs("6"));
  EXPECT_THAT(Run("%timeit -n 2 -r 3 await asyncio.sleep(0)").stdout_text(),
              HasSubstr("of 3 runs, 2 loops each)\n"));
  EXPECT_THAT(Run("%%timeit -n1 -r1 z = [1]\nawait asyncio.sleep(0)\nz.append(1)").stdout_text(),
              HasSubstr("of 1 run, 1 loop each"));
  Run("'the last result'");
  EXPECT_EQ(Run("%timeit -q -n1 -r1 print(_)").stdout_text(), "the last result\n");
  EXPECT_THAT(Run("r = %timeit -q -o -n1 -r2 1 + 1\nlen(r.timings)"), ResultIs("2"));
  EXPECT_THAT(TracebackOf("%%timeit\n1\n1/0"), HasSubstr("line 3, in loop\n    1/0"));
  EXPECT_THAT(TracebackOf("%timeit -n 1"), HasSubstr("there is nothing to measure"));
  EXPECT_THAT(TracebackOf("%%timeit -n 1\n"), HasSubstr("there is nothing to measure"));
}

TEST_F(MagicsTest, CapturesWhatACellShows) {
  CellOutcome outcome = Run(
      "%%capture out\nimport sys\nprint('a')\n!echo b\nprint('c', file=sys.stderr)\ndisplay(5)\n6");
  EXPECT_EQ(outcome.outputs.size(), 0u);
  EXPECT_THAT(Run("out.stdout, out.stderr, out.outputs"),
              ResultIs("('a\\nb\\n', 'c\\n', [{'text/plain': '5'}, {'text/plain': '6'}])"));
  outcome = Run("out.show()");
  EXPECT_EQ(outcome.outputs.size(), 4u);
  EXPECT_EQ(outcome.stdout_text(), "a\nb\n");
  EXPECT_EQ(outcome.stderr_text(), "c\n");
  EXPECT_EQ(Run("print('shown again')").stdout_text(), "shown again\n");
  Run("%%capture out\n7;");
  EXPECT_THAT(Run("out.outputs"), ResultIs("[]"));
  EXPECT_TRUE(Run("%%capture\n").ok());
  EXPECT_THAT(TracebackOf("%%capture\n1/0"), HasSubstr("line 2, in <module>\n    1/0"));
}

TEST_F(MagicsTest, WhatWasCapturedIsDecoded) {
  Run("%%capture out\ndisplay({'a': [1]})\ndisplay({'image/png': b'png'}, raw=True)");
  EXPECT_THAT(Run("out.outputs[0]['application/json'], out.outputs[1].data['image/png']"),
              ResultIs("({'a': [1]}, b'png')"));
}

TEST_F(MagicsTest, ClearsInACapturedCellClearWhatIsCaptured) {
  Run("%%capture out\nprint('gone')\ndisplay(1)\nclear_output()\nprint('kept')\ndisplay(2)");
  CellOutcome outcome = Run("print('before')\nout.show()\nout.outputs");
  EXPECT_EQ(outcome.stdout_text(), "before\nkept\n");
  EXPECT_THAT(outcome, ResultIs("[{'text/plain': '2'}]"));
  Run("%%capture out\nprint('gone')\nclear_output(wait=True)\nprint('kept')");
  EXPECT_THAT(Run("out.stdout"), ResultIs("'kept\\n'"));
  Run("%%capture out\nprint('kept')\nclear_output(wait=True)");
  EXPECT_THAT(Run("out.stdout"), ResultIs("'kept\\n'"));
}

TEST_F(MagicsTest, NamesOfHelpersAreTheShells) {
  EXPECT_EQ(Run("!for log in a b; do echo $log; done").stdout_text(), "a\nb\n");
  EXPECT_EQ(Run("!env=prod; echo $env $In").stdout_text(), "prod\n");
  EXPECT_EQ(Run("log = 'mine'\n!echo $log {log}").stdout_text(), "mine mine\n");
}

TEST_F(MagicsTest, ScriptsRunInTheirShell) {
  CellOutcome outcome =
      Run("%%bash\nread line || echo nothing to read\necho out; echo err >&2; echo ${BASH##*/}");
  EXPECT_THAT(outcome.stdout_text(),
              AllOf(HasSubstr("nothing to read\n"), HasSubstr("out\n"), HasSubstr("bash\n")));
  EXPECT_EQ(outcome.stderr_text(), "err\n");
  EXPECT_EQ(Run("word = 'a b'\n").status, CellStatus::kComplete);
  EXPECT_EQ(Run("%%bash -s \"$word\" c\necho $1-$2").stdout_text(), "a b-c\n");
  EXPECT_EQ(Run("%%sh -e -s x -y\necho $-,$1,$2").stdout_text(), "e,x,-y\n");
  EXPECT_THAT(TracebackOf("%%bash -euo pipefail\nfalse | true\n"), HasSubstr("exit status 1"));
  EXPECT_THAT(TracebackOf("%%sh\nexit 3"),
              HasSubstr("CalledProcessError: Command 'sh' returned non-zero exit status 3"));
}

TEST_F(MagicsTest, FilesAreWrittenRunAndLoaded) {
  EXPECT_EQ(
      Run("%%writefile prog.py\nimport sys\nargs = sys.argv[1:]\nname = __name__\n").stdout_text(),
      "Writing prog.py\n");
  EXPECT_THAT(Run("%run prog.py 'a b' c\nargs, name"), ResultIs("(['a b', 'c'], '__main__')"));
  EXPECT_EQ(Run("%%writefile -a prog.py\nboth = args + [1]\n").stdout_text(),
            "Appending to prog.py\n");
  EXPECT_THAT(Run("%load prog.py\nboth == args + [1]"), ResultIs("True"));
  EXPECT_THAT(TracebackOf("%run missing.py"), HasSubstr("FileNotFoundError"));
}

TEST_F(MagicsTest, AFileThatIsRunIsTheMainModule) {
  Run("write('tested.py', 'import unittest\\nclass Case(unittest.TestCase):\\n"
      "    def test(self): pass\\nunittest.main()')\n"
      "write('pickled.py', 'import pickle, sys\\nclass Cart: pass\\n"
      "same = pickle.loads(pickle.dumps(Cart)) is Cart\\nfile = "
      "sys.modules[\"__main__\"].__file__')\n"
      "import sys; session = sys.modules['__main__']");
  EXPECT_THAT(Run("%run tested.py").stderr_text(), HasSubstr("Ran 1 test in"));
  EXPECT_THAT(Run("%run pickled.py\nsame, file, sys.modules['__main__'] is session"),
              ResultIs("(True, 'pickled.py', True)"));
  EXPECT_THAT(Run("import pickle\npickle.loads(pickle.dumps(Cart)) is Cart"), ResultIs("True"));
  EXPECT_THAT(Run("write('bad.py', '1/0')\n%run bad.py"), Fails("ZeroDivisionError"));
  EXPECT_THAT(Run("sys.modules['__main__'] is session"), ResultIs("True"));
}

TEST_F(MagicsTest, AFileThatIsRunFindsItsNeighbours) {
  Run("write('sub/neighbour.py', 'name = __name__')\n"
      "write('sub/program.py', 'import neighbour; found = neighbour.name')\n"
      "import sys; path = sys.path[:]");
  EXPECT_THAT(Run("%run sub/program.py\nfound, sys.path == path"), ResultIs("('neighbour', True)"));
}

TEST_F(MagicsTest, DirectoriesAndVariables) {
  std::filesystem::create_directory(scratch_ / "inner");
  const std::string inner = std::filesystem::canonical(scratch_ / "inner");
  EXPECT_EQ(Run("%cd inner").stdout_text(), inner + "\n");
  EXPECT_THAT(Run("%pwd"), ResultIs("'" + inner + "'"));
  EXPECT_THAT(Run("import sys\n%cd -\nsys.path[0] == '" + inner + "'"), ResultIs("False"));
  EXPECT_THAT(Run("name = 'inner'\n%cd {name}\n%cd ..").stdout_text(), HasSubstr(inner + "\n"));
  EXPECT_THAT(TracebackOf("%cd it's not there"), HasSubstr("\"it's not there\""));
  EXPECT_THAT(TracebackOf("%run 'x"), HasSubstr("ValueError: %run 'x: No closing quotation"));
  EXPECT_THAT(Run("%ls").stdout_text(), HasSubstr("inner\n"));
  EXPECT_EQ(Run("%env CELLAR_X=1 2").stdout_text(), "env: CELLAR_X=1 2\n");
  EXPECT_THAT(Run("x = %env CELLAR_X\nx"), ResultIs("'1 2'"));
  EXPECT_THAT(TracebackOf("%env CELLAR_NONE"), HasSubstr("CELLAR_NONE is not set"));
  EXPECT_TRUE(Run("%matplotlib inline").ok());
}

TEST_F(MagicsTest, ADirectoryThatIsDeletedCanBeLeft) {
  EXPECT_THAT(Run("import os, sys\nos.mkdir('gone')\n%cd gone\nos.rmdir(os.getcwd())"), Succeeds());
  EXPECT_EQ(Run("%cd /").stdout_text(), "/\n");
  EXPECT_THAT(Run("sys.path[0]"), ResultIs("'/'"));
}

TEST_F(MagicsTest, AFutureImportMayStandBelowThem) {
  const std::string lines = "from __future__ import annotations\ndef f(x: nothing): pass\n";
  EXPECT_THAT(Run("%matplotlib inline\n" + lines), Succeeds());
  for (const char* magic : {"%%time\n", "%%capture\n", "%%time\n%matplotlib inline\n"}) {
    EXPECT_THAT(Run(magic + lines), Succeeds()) << magic;
    EXPECT_THAT(Run("f.__annotations__"), ResultIs("{'x': 'nothing'}"));
  }
  EXPECT_THAT(TracebackOf("x = 1\n%matplotlib inline\n" + lines),
              HasSubstr("must occur at the beginning"));
}

TEST_F(MagicsTest, FilesOfTheUserDoNotTakeTheStandardLibrarysPlace) {
  Run("for name in ('shlex', 'resource', 'codeop', 'pkgutil'): write(name + '.py', 'raise "
      "SystemExit(name)')");
  EXPECT_THAT(Run("%time 1 + 1"), ResultIs("2"));
  // An answer that is late is an error: on a busy machine one may have to ask again.
  EXPECT_TRUE(Eventually([&] { return session().Complete("import o").ok(); }));
  EXPECT_TRUE(Eventually([&] { return session().IsComplete("x").ok(); }));
}

TEST_F(MagicsTest, NamesAreListedAndForgotten) {
  EXPECT_EQ(Run("wagon = 4\nread = 'mine'\n%who").stdout_text(), "read  wagon\n");
  EXPECT_EQ(Run("%whos int").stdout_text(), "Variable  Type  Value\nwagon     int   4\n");
  EXPECT_EQ(Run("%reset -f\n%who").stdout_text(), "no names\n");
  EXPECT_THAT(Run("callable(read), 'wagon' in globals(), __name__"),
              ResultIs("(True, False, '__main__')"));
}

TEST_F(MagicsTest, QuestionsShowWhatAnObjectIs) {
  Run("def area(width, height=2):\n    '''Of a rectangle.'''\n    return width * height");
  EXPECT_EQ(Run("area?").stdout_text(),
            "Signature: area(width, height=2)\nType:      function\nDocstring:\nOf a rectangle.\n");
  EXPECT_THAT(Run("?area").stdout_text(), HasSubstr("Of a rectangle."));
  EXPECT_THAT(Run("area??").stdout_text(), HasSubstr("return width * height"));
  EXPECT_EQ(Run("nothing?").stdout_text(), "Object `nothing` not found.\n");
  EXPECT_THAT(Run("read?").stdout_text(), HasSubstr("Read a text file"));
  EXPECT_THAT(Run("%lsmagic").stdout_text(),
              AllOf(HasSubstr("%pip"), HasSubstr("%%writefile"), Not(HasSubstr("None"))));
}

TEST_F(MagicsTest, PipIsThatOfTheSessionsPython) {
  EXPECT_THAT(Run("%pip --version").stdout_text(), HasSubstr("(python 3.11)"));
  EXPECT_THAT(Run("!pip --version").stdout_text(), HasSubstr("(python 3.11)"));
  EXPECT_THAT(Run("!pip3 --version").stdout_text(), HasSubstr("(python 3.11)"));
  EXPECT_THAT(TracebackOf("%pip nonsense"), HasSubstr("CalledProcessError"));
}

TEST_F(MagicsTest, WhatPipInstallsCanBeImportedAtOnce) {
  Run(R"(
import os, sys, zipfile
with zipfile.ZipFile('wagon-1.0-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('wagon.py', 'wheels = 4')
    wheel.writestr('wagon-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\nName: wagon\nVersion: 1.0\n')
    wheel.writestr('wagon-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
    wheel.writestr('wagon-1.0.dist-info/RECORD', '')
os.mkdir('site')
sys.path.append(os.path.abspath('site'))
)");
  EXPECT_THAT(TracebackOf("import wagon"), HasSubstr("ModuleNotFoundError"));
  const std::string install =
      "folder = 'site'\n%pip install --no-index --no-deps --target {folder} "
      "wagon-1.0-py3-none-any.whl";
  EXPECT_THAT(Run(install).stdout_text(), HasSubstr("Successfully installed wagon-1.0"));
  EXPECT_THAT(Run("import wagon\nwagon.wheels"), ResultIs("4"));
  EXPECT_THAT(Run(install + " --upgrade").stdout_text(),
              HasSubstr("Imported before it was installed: wagon. Reset the session"));
}

}  // namespace
}  // namespace cellar::testing
