// What cells write, print and display, and how it reaches the host.
#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/worker/worker_test.h"

namespace cellar::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;
using Type = CellOutput::Type;

std::string DataOf(const CellOutput& output, std::string_view mime) {
  for (const wire::MimeEntry& entry : output.data) {
    if (entry.mime == mime) return entry.data;
  }
  return "";
}

std::vector<std::string> MimesOf(const CellOutput& output) {
  std::vector<std::string> mimes;
  for (const wire::MimeEntry& entry : output.data) mimes.push_back(entry.mime);
  return mimes;
}

// "out:…" and "err:…" for text, "display:…" and "result:…" with the plain text.
std::vector<std::string> Shown(const std::vector<CellOutput>& outputs) {
  std::vector<std::string> shown;
  for (const CellOutput& output : outputs) {
    switch (output.type) {
      case Type::kStdout:
        shown.push_back("out:" + output.text);
        break;
      case Type::kStderr:
        shown.push_back("err:" + output.text);
        break;
      case Type::kDisplay:
        shown.push_back("display:" + DataOf(output, "text/plain"));
        break;
      case Type::kResult:
        shown.push_back("result:" + DataOf(output, "text/plain"));
        break;
      case Type::kStatus:
        shown.push_back("status");
        break;
    }
  }
  return shown;
}

// Bytes, from /proc/self/status.
int64_t MemoryOf(std::string_view field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return std::stoll(line.substr(field.size() + 1)) * 1024;
  }
  return -1;
}

// From here on VmHWM is the peak since now.
void ForgetPeakMemory() { std::ofstream("/proc/self/clear_refs") << "5"; }

class OutputTest : public WorkerTest {};

// --- streams ------------------------------------------------------------------------------------

TEST_F(OutputTest, StdoutIsARealTextStream) {
  EXPECT_THAT(Run("import io, sys\nisinstance(sys.stdout, io.TextIOBase), sys.stdout.fileno(), "
                  "sys.stdout.encoding,"
                  " sys.stdout.isatty(), sys.stdout.writable(), sys.stdout.readable(), "
                  "sys.stdout.name, sys.stdout.mode"),
              ResultIs("(True, 1, 'utf-8', False, True, False, '<stdout>', 'w')"));
  EXPECT_THAT(
      Run("isinstance(sys.stderr, io.TextIOBase), sys.stderr.fileno(), sys.stderr.isatty()"),
      ResultIs("(True, 2, False)"));
  EXPECT_THAT(Run("sys.__stdout__ is sys.stdout, sys.__stderr__ is sys.stderr"),
              ResultIs("(True, True)"));
}

TEST_F(OutputTest, WriteReturnsTheNumberOfCharacters) {
  CellOutcome outcome = Run("import sys\nsys.stdout.write('äöü€')");
  EXPECT_THAT(outcome, ResultIs("4"));
  EXPECT_EQ(outcome.stdout_text(), "äöü€");
  EXPECT_THAT(Run("sys.stdout.writelines(['a', 'b'])"), Prints("ab"));
  EXPECT_THAT(Run("sys.stdout.write(b'bytes')"), Fails("TypeError"));
}

TEST_F(OutputTest, BytesAndTextKeepTheirOrder) {
  EXPECT_THAT(
      Run("import sys\nfor i in range(5):\n  print(i, end='')\n  sys.stdout.buffer.write(b'b')\n"
          "  sys.stdout.buffer.raw.write(b'r')"),
      Prints("0br1br2br3br4br"));
}

TEST_F(OutputTest, ReconfigureChangesTheEncodingAndBack) {
  EXPECT_THAT(Run("import sys\nsys.stdout.reconfigure(encoding='ascii', "
                  "errors='xmlcharrefreplace')\nprint('ä')\n"
                  "sys.stdout.reconfigure(encoding='utf-8')\nprint('ä')"),
              Prints("&#228;\nä\n"));
}

TEST_F(OutputTest, LoneSurrogatesAreEscaped) {
  CellOutcome outcome = Run("print('a\\ud800b')");
  EXPECT_THAT(outcome, Prints("a\\ud800b\n"));
  EXPECT_THAT(Run("'a\\ud800b'"), Succeeds());
  EXPECT_THAT(Run("raise ValueError('a\\ud800b')"), Fails("ValueError"));
}

TEST_F(OutputTest, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  EXPECT_THAT(Run("import sys\nsys.stdout.buffer.write(b'\\xff\\xfeabc\\n');"),
              Prints("\uFFFD\uFFFDabc\n"));
}

TEST_F(OutputTest, TextInPiecesOfOneCharacterStaysWhole) {
  EXPECT_THAT(Run("import sys\nfor b in 'ä€😀\\n'.encode(): sys.stdout.buffer.write(bytes([b]))"),
              Prints("ä€😀\n"));
}

TEST_F(OutputTest, AStreamCanBeRedirectedInsideACell) {
  CellOutcome outcome =
      Run("import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as f: "
          "print('in')\nprint('out')\n"
          "f.getvalue()");
  EXPECT_THAT(outcome, ResultIs("'in\\n'"));
  EXPECT_EQ(outcome.stdout_text(), "out\n");
  EXPECT_THAT(outcome.notices, IsEmpty());
  EXPECT_THAT(Run("1").notices, IsEmpty());
}

TEST_F(OutputTest, AllThreadsCanPrint) {
  CellOutcome outcome = Run(R"(
import threading
def work(name):
    for i in range(200): print(f'{name}{i}\n', end='')
threads = [threading.Thread(target=work, args=(name,)) for name in 'abcd']
for t in threads: t.start()
for t in threads: t.join()
)");
  ASSERT_TRUE(outcome.ok());
  const std::string text = outcome.stdout_text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 800);
  for (const char* line : {"a0\n", "a199\n", "b199\n", "c199\n", "d199\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST_F(OutputTest, WarningsAndLogsGoToStderr) {
  CellOutcome outcome =
      Run("import logging, warnings\nwarnings.warn('careful')\nlogging.warning('logged')");
  EXPECT_THAT(outcome.stderr_text(),
              AllOf(HasSubstr("UserWarning: careful"), HasSubstr("WARNING:root:logged\n")));
  EXPECT_EQ(outcome.stdout_text(), "");
}

// --- descriptors 1 and 2 ------------------------------------------------------------------------

TEST_F(OutputTest, WhatIsWrittenToTheDescriptorsIsCaptured) {
  CellOutcome outcome = Run("import os\nos.write(1, b'one\\n')\nos.write(2, b'two\\n');");
  EXPECT_EQ(outcome.stdout_text(), "one\n");
  EXPECT_EQ(outcome.stderr_text(), "two\n");
}

TEST_F(OutputTest, OutputOfChildProcessesIsCaptured) {
  EXPECT_THAT(Run("import subprocess, os\nsubprocess.run(['echo', 'from a "
                  "child'])\nos.system('echo from a shell');"),
              Prints("from a child\nfrom a shell\n"));
  EXPECT_EQ(Run("subprocess.run('echo to stderr >&2', shell=True);").stderr_text(), "to stderr\n");
}

TEST_F(OutputTest, WhatCCodeLeftUnflushedIsThereWhenTheCellEnds) {
  EXPECT_THAT(Run("import ctypes\nlibc = ctypes.CDLL(None)\nlibc.printf(b'no newline');"),
              Prints("no newline"));
}

TEST_F(OutputTest, CCodeAndPrintsKeepTheirOrder) {
  std::string expected;
  for (int i = 0; i < 200; ++i) absl::StrAppend(&expected, "p", i, "\nc", i, "\n");
  EXPECT_THAT(Run("import ctypes\nlibc = ctypes.CDLL(None)\nfor i in range(200):\n"
                  "    print(f'p{i}')\n    libc.printf(b'c%d\\n', i)"),
              Prints(expected));
}

TEST_F(OutputTest, PrintsAndChildrenKeepTheirOrder) {
  std::string expected;
  for (int i = 0; i < 60; ++i) absl::StrAppend(&expected, "p", i, "\nc", i, "\n");
  EXPECT_THAT(Run("import subprocess\nfor i in range(60):\n    print(f'p{i}')\n    "
                  "subprocess.run(['echo', f'c{i}'])"),
              Prints(expected));
}

TEST_F(OutputTest, PrintsAndForkedChildrenKeepTheirOrder) {
  std::string expected;
  for (int i = 0; i < 100; ++i) absl::StrAppend(&expected, "p", i, "\nc", i, "\n");
  EXPECT_THAT(
      Run("import os\nfor i in range(100):\n    print(f'p{i}')\n    pid = os.fork()\n"
          "    if not pid:\n        print(f'c{i}')\n        os._exit(0)\n    os.waitpid(pid, 0)",
          {.timeout = absl::ZeroDuration()}),
      Prints(expected));
}

TEST_F(OutputTest, StreamsDisplaysAndResultStandInOneTimeline) {
  EXPECT_THAT(
      Shown(
          Run("import sys, os\nprint('a')\nprint('b', file=sys.stderr)\ndisplay('c')\nprint('d')\n"
              "os.system('echo e')\ndisplay('f')\nprint('g', file=sys.stderr)\n'h'")
              .outputs),
      ElementsAre("out:a\n", "err:b\n", "display:'c'", "out:d\ne\n", "display:'f'", "err:g\n",
                  "result:'h'"));
}

// --- time ---------------------------------------------------------------------------------------

TEST_F(OutputTest, AChunkArrivesWhileTheCellRuns) {
  for (const char* print :
       {"print(f'at {time.time()}\\n', end='')", "os.write(1, f'at {time.time()}\\n'.encode())",
        "subprocess.run(['sh', '-c', 'echo at $(date +%s.%N)'])"}) {
    StartedCell cell(session(),
                     absl::StrCat("import os, subprocess, time\n", print, "\ntime.sleep(60)"));
    std::optional<absl::Time> arrived = cell.WaitFor("\n");
    session().Interrupt();
    const std::string text = cell.Join().stdout_text();
    double seconds = 0;
    ASSERT_TRUE(absl::SimpleAtod(text.substr(3, text.size() - 4), &seconds)) << text;
    // The bar is 50 ms; the rest is for a busy machine.
    EXPECT_LT(*arrived - absl::FromUnixMicros(static_cast<int64_t>(seconds * 1e6)),
              absl::Milliseconds(500))
        << print;
  }
}

TEST_F(OutputTest, EverythingWrittenIsThereWhenTheCellIsDone) {
  for (int i = 0; i < 50; ++i) {
    EXPECT_THAT(Run("import os\nfor i in range(20): print('x' * 50)\nos.write(1, b'last');"),
                AllOf(Prints(SizeIs(20 * 51 + 4)), Prints(EndsWith("last"))));
  }
}

TEST_F(OutputTest, NothingPrintedIsLostBySigkill) {
  std::string expected;
  for (int i = 0; i < 9000; ++i) absl::StrAppend(&expected, i, "\n");
  CellOutcome outcome =
      Run("import os, signal, sys\nprint('first', file=sys.stderr)\nos.write(2, b'second\\n')\n"
          "for i in range(9000): print(i)\nos.kill(os.getpid(), signal.SIGKILL)");
  EXPECT_THAT(outcome, Fails("WorkerDied"));
  EXPECT_EQ(outcome.stdout_text(), expected);
  EXPECT_EQ(outcome.stderr_text(), "first\nsecond\n");
}

// --- background ---------------------------------------------------------------------------------

TEST_F(OutputTest, WhatATaskPrintsAfterItsCellComesWithTheNextOutcome) {
  ScratchDirectory scratch;
  Run("import asyncio\nasync def later():\n    await asyncio.sleep(0.01)\n    print('late')\n    "
      "display('later')\n"
      "    open('" +
      (scratch / "mark").string() + "', 'w').close()\ntask = asyncio.create_task(later())");
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(scratch / "mark"); }));
  CellOutcome next = Run("print('mine')");
  EXPECT_THAT(Shown(next.outputs), ElementsAre("out:mine\n"));
  EXPECT_THAT(Shown(next.background), ElementsAre("out:late\n", "display:'later'"));
  EXPECT_THAT(Run("1").background, IsEmpty()) << "delivered once";
}

TEST_F(OutputTest, WhatAThreadPrintsAfterItsCellComesWithTheNextOutcome) {
  ScratchDirectory scratch;
  ASSERT_TRUE(session().Set("scratch", scratch.path()).ok());
  Run("import os, threading, time\ndef later():\n"
      "    while not os.path.exists(scratch + '/go'): time.sleep(0.001)\n"
      "    print('late')\n    open(scratch + '/mark', 'w').close()\n"
      "t = threading.Thread(target=later)\nt.start()");
  std::ofstream(scratch / "go") << "";  // only now has the cell ended
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(scratch / "mark"); }));
  EXPECT_THAT(Shown(Run("1").background), ElementsAre("out:late\n"));
}

TEST_F(OutputTest, WhatAnEarlierCellsThreadPrintsDuringACellIsNotThatCells) {
  Run("import threading\ngo = threading.Event()\ndef wait():\n    go.wait()\n    print('of cell "
      "1')\n"
      "t = threading.Thread(target=wait)\nt.start()");
  Watcher watcher;
  CellOutcome outcome =
      Run("print('before')\ngo.set()\nt.join()\nprint('after')", {.observer = &watcher});
  EXPECT_EQ(outcome.stdout_text(), "before\nafter\n");
  EXPECT_THAT(Shown(outcome.background), ElementsAre("out:of cell 1\n"));
  EXPECT_EQ(watcher.background(), "of cell 1\n") << "live, too";
}

TEST_F(OutputTest, WhatAPoolOfAnEarlierCellPrintsForACellIsThatCells) {
  Run("from concurrent.futures import ThreadPoolExecutor\npool = "
      "ThreadPoolExecutor(1)\npool.submit(abs, 1).result();");
  EXPECT_THAT(Run("pool.submit(print, 'for cell 2').result();"), Prints("for cell 2\n"));
}

TEST_F(OutputTest, WhatAnEarlierCellsTaskPrintsDuringACellIsNotThatCells) {
  Run("import asyncio\ngo = asyncio.Event()\nasync def wait():\n    await go.wait()\n    print('of "
      "cell 1')\n"
      "t = asyncio.create_task(wait())");
  CellOutcome outcome = Run("print('before')\ngo.set()\nawait t\nprint('after')");
  EXPECT_EQ(outcome.stdout_text(), "before\nafter\n");
  EXPECT_THAT(Shown(outcome.background), ElementsAre("out:of cell 1\n"));
}

TEST_F(OutputTest, WhatATaskOfTheCellItselfPrintsIsTheCells) {
  EXPECT_THAT(
      Run("import asyncio\nasync def say(): print('mine')\nawait asyncio.create_task(say())\n"
          "await asyncio.to_thread(print, 'mine too')"),
      Prints("mine\nmine too\n"));
}

TEST_F(OutputTest, BackgroundOutputSurvivesTheDeathOfTheWorker) {
  const int keeper = std::stoi(Evaluate(
      "import os, threading, time\ndef later():\n    time.sleep(0.01)\n    print('last words')\n"
      "    os._exit(3)\nt = threading.Thread(target=later)\nt.start()\nos.getppid()"));
  ASSERT_TRUE(Eventually([&] { return kill(keeper, 0) != 0; }));
  EXPECT_THAT(Shown(Run("1").background), ElementsAre("out:last words\n"));
}

// --- displays -----------------------------------------------------------------------------------

TEST_F(OutputTest, PlainContainersAreDisplayedAsJsonAndText) {
  CellOutcome outcome = Run("display({'a': [1, 2.5, None, 'ü']}, (1, 2))");
  ASSERT_THAT(outcome.outputs, SizeIs(2));
  EXPECT_THAT(MimesOf(outcome.outputs[0]), UnorderedElementsAre("text/plain", "application/json"));
  EXPECT_EQ(nlohmann::json::parse(DataOf(outcome.outputs[0], "application/json")),
            nlohmann::json::parse(R"({"a": [1, 2.5, null, "ü"]})"));
  EXPECT_EQ(DataOf(outcome.outputs[0], "text/plain"), "{'a': [1, 2.5, None, 'ü']}");
  EXPECT_EQ(nlohmann::json::parse(DataOf(outcome.outputs[1], "application/json")),
            nlohmann::json::parse("[1, 2]"));
}

TEST_F(OutputTest, ReprMethodsMakeABundle) {
  CellOutcome outcome = Run(R"(
class Rich:
    def _repr_html_(self): return '<b>hi</b>'
    def _repr_markdown_(self): return '**hi**'
    def _repr_png_(self): return b'\x89PNG\r\n\x1a\n'
    def _repr_latex_(self): raise RuntimeError('skipped')
    def _repr_json_(self): return {'a': 1}
    def __repr__(self): return 'plain'
Rich()
)");
  EXPECT_THAT(outcome, ResultIs("plain"));
  ASSERT_THAT(outcome.outputs, SizeIs(1));
  const CellOutput& result = outcome.outputs[0];
  EXPECT_EQ(result.type, Type::kResult);
  EXPECT_THAT(MimesOf(result), UnorderedElementsAre("text/plain", "text/html", "text/markdown",
                                                    "image/png", "application/json"));
  EXPECT_EQ(DataOf(result, "text/html"), "<b>hi</b>");
  EXPECT_EQ(DataOf(result, "image/png"), "\x89PNG\r\n\x1a\n") << "raw bytes, not base64";
}

TEST_F(OutputTest, AMimeBundleComesFirst) {
  CellOutcome outcome = Run(R"(
class Bundle:
    def _repr_mimebundle_(self, include=None, exclude=None):
        data = {'text/plain': 'from the bundle', 'application/x-own+json': {'k': [1]}}
        return data, {'application/x-own+json': {'m': 1}}
    def __repr__(self): return 'not this'
display(Bundle())
)");
  ASSERT_THAT(outcome.outputs, SizeIs(1));
  EXPECT_EQ(DataOf(outcome.outputs[0], "text/plain"), "from the bundle");
  EXPECT_EQ(nlohmann::json::parse(DataOf(outcome.outputs[0], "application/x-own+json")),
            nlohmann::json::parse(R"({"k": [1]})"));
  EXPECT_EQ(nlohmann::json::parse(outcome.outputs[0].metadata)["application/x-own+json"]["m"], 1);
}

TEST_F(OutputTest, AnUpdateReplacesTheDisplayOfItsId) {
  CellOutcome outcome =
      Run("handle = display('old', display_id='it')\ndisplay('other')\nupdate_display('new', "
          "display_id='it')");
  EXPECT_THAT(Shown(outcome.outputs), ElementsAre("display:'new'", "display:'other'"));
  EXPECT_EQ(outcome.outputs[0].display_id, "it");
  EXPECT_FALSE(outcome.outputs[0].update);
  CellOutcome later = Run("handle.update('newest')");
  ASSERT_THAT(Shown(later.outputs), ElementsAre("display:'newest'"));
  EXPECT_EQ(later.outputs[0].display_id, "it");
  EXPECT_TRUE(later.outputs[0].update) << "of a display that an earlier cell showed";
}

TEST_F(OutputTest, ClearOutputRemovesWhatCameBefore) {
  EXPECT_THAT(Shown(Run("print('a')\ndisplay('b')\nclear_output()\nprint('c')").outputs),
              ElementsAre("out:c\n"));
  EXPECT_THAT(Shown(Run("print('a')\nclear_output(wait=True)").outputs), ElementsAre("out:a\n"));
  EXPECT_THAT(Shown(Run("print('a')\nclear_output(wait=True)\nprint('b')").outputs),
              ElementsAre("out:b\n"));
}

TEST_F(OutputTest, ValuesThatJsonCannotHoldNeverBreakAFrame) {
  for (const char* code : {
           "display({'nan': float('nan'), 'inf': [float('inf'), float('-inf')]})",
           "display({'bytes': b'\\xff\\x00', 1: 2, (1, 2): 3, None: 4})",
           "a = []; a.append(a); display(a)",
           "a = {}; a['a'] = a; display({'application/json': a, 'text/plain': 'x'}, raw=True)",
           "d = []\nfor i in range(100000): d = [d]\ndisplay(d)",
           "display({'big': 10 ** 400, 's': 'a\\ud800b'})",
       }) {
    CellOutcome outcome = Run(code);
    EXPECT_TRUE(outcome.ok()) << code << ::testing::PrintToString(outcome);
    ASSERT_THAT(outcome.outputs, SizeIs(1)) << code;
    for (const wire::MimeEntry& entry : outcome.outputs[0].data) {
      if (entry.kind == wire::MimeKind::kJson) {
        EXPECT_TRUE(nlohmann::json::accept(entry.data)) << code << "\n"
                                                        << entry.data.substr(0, 200);
      }
    }
  }
  EXPECT_THAT(Run("d = []\nfor i in range(100000): d = [d]\nd"), Succeeds()) << "as a result, too";
  EXPECT_THAT(Run("1"), ResultIs("1"));
}

TEST_F(OutputTest, IPythonDisplayObjectsAreDisplayed) {
  if (Evaluate("import importlib.util\nimportlib.util.find_spec('IPython') is not None") !=
      "True") {
    GTEST_SKIP() << "IPython is not installed";
  }
  CellOutcome outcome =
      Run("from IPython.display import HTML, Markdown, display as show, clear_output\n"
          "show(HTML('<i>x</i>'))\ndisplay(Markdown('**x**'))\nHTML('<b>y</b>')");
  ASSERT_THAT(outcome.outputs, SizeIs(3)) << ::testing::PrintToString(outcome);
  EXPECT_EQ(DataOf(outcome.outputs[0], "text/html"), "<i>x</i>");
  EXPECT_EQ(DataOf(outcome.outputs[1], "text/markdown"), "**x**");
  EXPECT_EQ(DataOf(outcome.outputs[2], "text/html"), "<b>y</b>");
  EXPECT_THAT(Shown(Run("print('a')\nclear_output()\nprint('b')").outputs), ElementsAre("out:b\n"));
}

class FigureTest : public OutputTest {
 protected:
  SessionOptions Options() override { return {.sys_path = {CELLAR_TEST_MODULES}}; }
};

TEST_F(FigureTest, AnOpenFigureIsShownOnceAtTheEndOfTheCellAndClosed) {
  CellOutcome outcome =
      Run("import matplotlib\nimport matplotlib.pyplot as "
          "plt\nplt.figure()\nplt.figure()\nprint('drawn')");
  ASSERT_THAT(outcome.outputs, SizeIs(3)) << ::testing::PrintToString(outcome);
  EXPECT_EQ(outcome.outputs[0].text, "drawn\n");
  EXPECT_EQ(DataOf(outcome.outputs[1], "image/png"), "\x89PNG\r\n\x1a\nfigure 1");
  EXPECT_EQ(DataOf(outcome.outputs[2], "image/png"), "\x89PNG\r\n\x1a\nfigure 2");
  EXPECT_THAT(Run("plt.get_fignums()").outputs, SizeIs(1)) << "only the result";
}

TEST_F(FigureTest, AFigureThatTheCellShowedIsNotShownAgain) {
  Run("import matplotlib.pyplot as plt");
  EXPECT_THAT(Run("display(plt.figure())").outputs, SizeIs(1));
  EXPECT_THAT(Run("plt.figure()\nplt.show()").outputs, SizeIs(1));
  CellOutcome result = Run("plt.figure()");
  ASSERT_THAT(result.outputs, SizeIs(1));
  EXPECT_EQ(result.outputs[0].type, Type::kResult);
}

TEST_F(FigureTest, FiguresOfACellThatFailsAreShown) {
  CellOutcome outcome = Run("import matplotlib.pyplot as plt\nplt.figure()\n1 / 0");
  EXPECT_THAT(outcome, Fails("ZeroDivisionError"));
  ASSERT_THAT(outcome.outputs, SizeIs(1));
  EXPECT_EQ(DataOf(outcome.outputs[0], "image/png"), "\x89PNG\r\n\x1a\nfigure 1");
}

// --- much ---------------------------------------------------------------------------------------

TEST_F(OutputTest, AHundredMegabytesLeaveTheHostSmallAndAreCountedExactly) {
  Run("1");
  const int64_t before = MemoryOf("VmRSS:");
  ForgetPeakMemory();
  CellOutcome outcome =
      Run("line = 'x' * 99\nfor i in range(1024 * 1024): print(line)\nprint('end')",
          {.timeout = absl::ZeroDuration()});
  const int64_t peak = MemoryOf("VmHWM:");
  ASSERT_TRUE(outcome.ok());
  if (!kSanitized) {
    EXPECT_LT(peak - before, int64_t{64} << 20);
  }
  ASSERT_TRUE(outcome.truncation.has_value());
  EXPECT_EQ(outcome.truncation->total_bytes, 100u * 1024 * 1024 + 4);
  EXPECT_EQ(outcome.truncation->total_lines, 1024u * 1024 + 1);
  EXPECT_EQ(outcome.truncation->artifact_bytes, outcome.truncation->total_bytes);
  EXPECT_EQ(outcome.truncation->missing_bytes, 0u);
  EXPECT_EQ(std::filesystem::file_size(outcome.truncation->artifact_path),
            outcome.truncation->total_bytes);
  EXPECT_THAT(outcome.stdout_text(),
              AllOf(StartsWith(std::string(99, 'x') + "\n"), EndsWith("x\nend\n")));
  std::filesystem::remove(outcome.truncation->artifact_path);
}

TEST_F(OutputTest, OneHugePrintLeavesTheHostSmall) {
  Run("1");
  const int64_t before = MemoryOf("VmRSS:");
  ForgetPeakMemory();
  CellOutcome outcome = Run("print('x' * (64 << 20))", {.timeout = absl::ZeroDuration()});
  const int64_t peak = MemoryOf("VmHWM:");
  ASSERT_TRUE(outcome.ok());
  if (!kSanitized) {
    EXPECT_LT(peak - before, int64_t{64} << 20);
  }
  ASSERT_TRUE(outcome.truncation.has_value());
  EXPECT_EQ(outcome.truncation->total_bytes, (64u << 20) + 1);
  std::filesystem::remove(outcome.truncation->artifact_path);
}

TEST_F(OutputTest, AHugeErrorAndAHugeResultAreCut) {
  CellOutcome error = Run("raise ValueError('x' * (20 << 20))");
  EXPECT_THAT(error, Fails("ValueError"));
  EXPECT_LT(error.error->traceback.size() + error.error->evalue.size(), 256u * 1024);
  EXPECT_LT(Evaluate("list(range(1000000))").size(), 1024u * 1024);
}

TEST_F(OutputTest, AChildThatNeverStopsWritingDoesNotKeepTheCellFromEnding) {
  CellOutcome outcome =
      Run("import subprocess\np = subprocess.Popen(['yes'])\nimport time\ntime.sleep(0.05)\n5");
  EXPECT_THAT(outcome, ResultIs("5"));
  EXPECT_THAT(Run("p.kill()\np.wait()\n'killed'"), ResultIs("'killed'"));
}

// --- streams that a cell breaks -----------------------------------------------------------------

TEST_F(OutputTest, AStreamThatACellReplacedClosedOrRemovedIsPutBackAndSaid) {
  struct Case {
    const char* code;
    const char* said;
  };
  for (const Case& broken :
       {Case{"import io, sys\nsys.stdout = io.StringIO()", "sys.stdout"},
        Case{"sys.stdout.close()", "sys.stdout"}, Case{"del sys.stdout", "sys.stdout"},
        Case{"sys.stdout = open('/dev/full', 'w')\nprint('x')", "sys.stdout"},
        Case{"sys.stderr = None", "sys.stderr"}, Case{"sys.stdout.detach();", "sys.stdout"},
        Case{"import os\nos.close(1)", "file descriptors"},
        Case{"os.closerange(0, 3)", "file descriptors"},
        Case{"os.dup2(os.open('/dev/null', os.O_WRONLY), 2);", "file descriptors"},
        Case{"sys.stdin = None", "sys.stdin"}}) {
    Run(broken.code);
    CellOutcome next =
        Run("import sys\nprint('works')\nprint('too', file=sys.stderr)\nimport os\nos.system('echo "
            "child');");
    EXPECT_THAT(next, Prints("works\nchild\n")) << broken.code;
    EXPECT_EQ(next.stderr_text(), "too\n") << broken.code;
    EXPECT_THAT(next.notices, ElementsAre(HasSubstr(broken.said))) << broken.code;
    EXPECT_THAT(Run("1").notices, IsEmpty()) << broken.code;
  }
}

TEST_F(OutputTest, APrintAfterClosingStdoutIsAnErrorOfTheCell) {
  EXPECT_THAT(Run("import sys\nsys.stdout.close()\nprint('x')"), Fails("ValueError"));
  EXPECT_THAT(Run("print('x')"), Prints("x\n"));
}

// --- stdin --------------------------------------------------------------------------------------

TEST_F(OutputTest, AReadOfStdinEndsTheCellAndSaysSo) {
  Run("x = 1");
  for (const char* code :
       {"input('name? ')", "import getpass\ngetpass.getpass()", "import sys\nsys.stdin.read()",
        "for line in sys.stdin: pass", "sys.stdin.readline()", "sys.stdin.buffer.read()",
        "import pdb\npdb.set_trace()", "breakpoint()"}) {
    CellOutcome outcome = Run(code);
    EXPECT_THAT(outcome, Fails("StdinNotAvailable")) << code;
    EXPECT_TRUE(outcome.stdin_requested) << code;
    EXPECT_EQ(outcome.state, StateAfter::kKept) << code;
  }
  CellOutcome next = Run("x");
  EXPECT_THAT(next, ResultIs("1"));
  EXPECT_FALSE(next.stdin_requested);
}

TEST_F(OutputTest, AChildFindsStdinEmpty) {
  EXPECT_THAT(Run("import os, subprocess\nos.system('cat'), subprocess.run(['wc', '-c'], "
                  "capture_output=True).stdout"),
              ResultIs("(0, b'0\\n')"));
}

}  // namespace
}  // namespace cellar::testing
