// What cells write and print, and how it reaches the host.
#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/own_memory.h"
#include "tests/testing/scratch_directory.h"
#include "tests/testing/worker_test.h"
#include "tests/worker/shown_outputs.h"

namespace cellar::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Of the host, whatever a cell prints.
constexpr int64_t kMaxGrowth = int64_t{16} << 20;

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

TEST_F(OutputTest, WhatIsPrintedWithoutWriteThroughIsThereWhenTheCellEnds) {
  EXPECT_THAT(Run("import sys\nsys.stdout.reconfigure(encoding='latin-1', write_through=False)\n"
                  "print('hi')"),
              Prints("hi\n"));
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

TEST_F(OutputTest, AWarningIsShownInEachCellOnce) {
  Run("import warnings\ndef warn(): warnings.warn('look')");
  for (int cell = 0; cell < 2; ++cell) {
    const std::string text = Run("warn(); warn()").stderr_text();
    EXPECT_EQ(text.find("UserWarning: look"), text.rfind("UserWarning: look"));
    EXPECT_THAT(text, HasSubstr("UserWarning: look")) << cell;
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

TEST_F(OutputTest, PrintsAndOtherFilesOnTheDescriptorsKeepTheirOrder) {
  std::string expected;
  for (int i = 0; i < 200; ++i) absl::StrAppend(&expected, "p", i, "\nf", i, "\n");
  for (const char* file : {"open(1, 'w', 1, closefd=False)", "open('/dev/stdout', 'w', 1)",
                           "open(os.dup(sys.stdout.fileno()), 'w', 1)"}) {
    EXPECT_THAT(Run(absl::StrCat("import os, sys\nf = ", file,
                                 "\nfor i in range(200):\n    print(f'p{i}')\n"
                                 "    print(f'f{i}', file=f)")),
                Prints(expected))
        << file;
    Run("os._exit(1)");  // the next worker expects none
  }
}

TEST_F(OutputTest, AnAuditEventOfACellsOwnDoesNoHarm) {
  EXPECT_THAT(Run("import sys\n"
                  "for event in ('open', 'subprocess.Popen', 'os.fork', 'resource.setrlimit', "
                  "'ctypes.dlopen'):\n"
                  "    sys.audit(event)\n    sys.audit(event, None)\n"
                  "sys.audit('open', 1 << 100)\nsys.audit('open', '\\ud800')\n1"),
              ResultIs("1"));
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

// --- much ---------------------------------------------------------------------------------------

TEST_F(OutputTest, AHundredMegabytesLeaveTheHostSmallAndAreCountedExactly) {
  Run("1");
  const PeakGrowth growth;
  CellOutcome outcome =
      Run("line = 'x' * 99\nfor i in range(1024 * 1024): print(line)\nprint('end')",
          {.timeout = absl::ZeroDuration()});
  ASSERT_TRUE(outcome.ok());
  if (!kHostSanitized) {
    EXPECT_LT(growth.bytes(), kMaxGrowth);
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
  const PeakGrowth growth;
  CellOutcome outcome = Run("print('x' * (64 << 20))", {.timeout = absl::ZeroDuration()});
  ASSERT_TRUE(outcome.ok());
  if (!kHostSanitized) {
    EXPECT_LT(growth.bytes(), kMaxGrowth);
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
        Case{"sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')", "sys.stdout"},
        Case{"sys.stdin = None", "sys.stdin"}}) {
    Run(broken.code);
    CellOutcome next =
        Run("import sys\nprint('works', flush=True)\nprint('too', file=sys.stderr)\nimport os\nos.system('echo "
            "child');");
    EXPECT_THAT(next, Prints("works\nchild\n")) << broken.code;
    EXPECT_EQ(next.stderr_text(), "too\n") << broken.code;
    EXPECT_THAT(next.notices, ElementsAre(HasSubstr(broken.said))) << broken.code;
    EXPECT_THAT(Run("1").notices, IsEmpty()) << broken.code;
  }
}

TEST_F(OutputTest, ChildrenLoseNothingAfterACellThatMadeTheDescriptorsNonBlocking) {
  ASSERT_TRUE(Run("import os\nos.set_blocking(1, False)").ok());
  const CellOutcome outcome = Run("os.system('seq 1 100000; echo END')");
  EXPECT_THAT(outcome, ResultIs("0"));
  EXPECT_THAT(outcome.stdout_text(), EndsWith("100000\nEND\n"));
  EXPECT_EQ(outcome.stderr_text(), "");
}

TEST_F(OutputTest, AStreamThatCannotBeFlushedIsNoErrorOfTheCell) {
  ScratchDirectory scratch;
  const CellOutcome closed =
      Run(absl::StrCat("import sys\nwith open('", scratch.path(),
                       "/f', 'w') as sys.stdout, sys.stdout as sys.stderr: print('x')"));
  EXPECT_THAT(closed, Succeeds());
  EXPECT_THAT(closed.notices, IsEmpty());
  const CellOutcome without = Run("class Stream:\n  write = len\nsys.stderr = Stream()");
  EXPECT_THAT(without, Succeeds());
  EXPECT_THAT(without.notices, ElementsAre(HasSubstr("put back")));
  const CellOutcome full = Run("sys.stdout = open('/dev/full', 'w')\nprint('x')");
  EXPECT_THAT(full, Succeeds());
  EXPECT_THAT(full.notices, ElementsAre(HasSubstr("put back"),
                                        HasSubstr("sys.stdout could not be flushed: OSError")));
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
        "try: exit()\nexcept SystemExit: list(sys.stdin)", "sys.stdin.buffer.read1(5)",
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
