// Measures sessions the way a program uses them, next to plain Python and to what the machine
// allows, alternating between them so that a busy moment hits both. Prints lines "name value unit";
// table.py knows the bars.
//
// Finds `cellar` and the worker program beside itself. Reads the environment and the settings as
// any host does: tests/bench/bench starts it with clean ones.
#include <signal.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "cellar/cellar.h"
#include "host/runtime/worker_program.h"
#include "tests/bench/bridge.h"
#include "tests/bench/completion.h"
#include "tests/bench/limits.h"
#include "tests/bench/processes.h"
#include "tests/bench/samples.h"

namespace cellar::bench {
namespace {

constexpr char kPython[] = "/usr/bin/python3";
constexpr char kImports[] = "import asyncio, json";

struct Counts {
  int cold_starts = 40;
  int sessions = 100;
  int respawns = 100;
  int cell_rounds = 20;
  int cells_per_round = 100;
  int print_rounds = 15;
  int printed_lines = 200'000;
  int idle_sessions = 20;
  int idle_pythons = 5;
  int interrupts = 100;
  int big_print_bytes = 256 << 20;
  int queued_cells = 10'000;
  int completions = 20;
  BridgeCounts bridge;
};

constexpr Counts kQuick = {.cold_starts = 2,
                           .sessions = 2,
                           .respawns = 2,
                           .cell_rounds = 2,
                           .cells_per_round = 5,
                           .print_rounds = 2,
                           .printed_lines = 2000,
                           .idle_sessions = 2,
                           .idle_pythons = 2,
                           .interrupts = 2,
                           .big_print_bytes = 4 << 20,
                           .queued_cells = 200,
                           .completions = 1,
                           .bridge = {.rounds = 2, .calls_per_round = 32}};

template <typename T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) Fail(value.status().ToString());
  return *std::move(value);
}

CellOutcome MustRun(Session& session, std::string code) {
  CellOutcome outcome = Must(session.Run(std::move(code)));
  if (!outcome.ok()) Fail(outcome.error ? outcome.error->traceback : "a cell was cancelled");
  return outcome;
}

double SecondsOfColdPython() { return SecondsOfProgram({kPython, "-c", kImports}); }

// Once per call; which of the two goes first alternates.
template <typename One, typename Other>
void Alternate(int round, One one, Other other) {
  if (round % 2 == 0) {
    one();
    other();
  } else {
    other();
    one();
  }
}

void MeasureColdStart(const Counts& counts) {
  const std::string cellar = host::ExecutableDirectory() + "/cellar";
  Samples ours;
  Samples python;
  for (int i = 0; i < counts.cold_starts; ++i) {
    Alternate(
        i,
        [&] {
          ours.Add(SecondsOfProgram({cellar, "eval", "1+1"}));
        },
        [&] { python.Add(SecondsOfColdPython()); });
  }
  PrintSeconds("cold_start", ours);
  PrintSeconds("cold_start_python", python);
}

// What a call on a session of the daemon takes beyond the start of a process.
void MeasureWarmCall(const Counts& counts) {
  const std::string cellar = host::ExecutableDirectory() + "/cellar";
  const std::vector<std::string> call = {cellar, "eval", "-s", "bench", "1+1"};
  setenv("XDG_RUNTIME_DIR", std::filesystem::current_path().c_str(), /*overwrite=*/1);
  SecondsOfProgram(call);  // the daemon is up
  Samples over;
  for (int i = 0; i < counts.cold_starts; ++i) {
    over.Add(SecondsOfProgram(call) - SecondsOfProgram({cellar, "--version"}));
  }
  SecondsOfProgram({cellar, "daemon", "stop"});
  unsetenv("XDG_RUNTIME_DIR");
  PrintSeconds("warm_call", over);
}

void MeasureNewSession(Host& host, const Counts& counts) {
  Samples ours;
  Samples python;
  for (int i = 0; i < counts.sessions; ++i) {
    std::unique_ptr<Session> session;
    ours.Add(SecondsOf([&] {
      session = Must(host.Open());
      MustRun(*session, "1+1");
    }));
    session->Close();
    if (i % 4 == 0) python.Add(SecondsOfColdPython());
  }
  PrintSeconds("new_session", ours);
  PrintSeconds("new_session_python", python);
}

void MeasureRespawn(Host& host, const Counts& counts) {
  std::unique_ptr<Session> session = Must(host.Open());
  Samples respawn;
  Samples python;
  for (int i = 0; i < counts.respawns; ++i) {
    MustRun(*session, "import os");
    respawn.Add(SecondsOf([&] {
      if (!Must(session->Run("os._exit(3)")).death) Fail("a worker has survived os._exit");
      MustRun(*session, "1+1");
    }));
    if (i % 4 == 0) python.Add(SecondsOfColdPython());
  }
  PrintSeconds("respawn", respawn);
  PrintSeconds("respawn_python", python);
}

// From the word that code has begun to the moment it is surely in its wait or loop.
constexpr absl::Duration kWellInside = absl::Milliseconds(3);

// A cell that goes on until something is done to it.
class LongCell : private CellObserver {
 public:
  // Returns when the cell has printed "go" and is well inside what comes after it.
  LongCell(Session& session, std::string code) {
    outcome_ = std::async(std::launch::async, [this, &session, code = std::move(code)] {
      absl::StatusOr<CellOutcome> outcome = session.Run(code, {.observer = this});
      ended_ = Clock::now();
      return outcome;
    });
    started_.WaitForNotification();
    absl::SleepFor(kWellInside);
  }

  CellOutcome Outcome() { return Must(outcome_.get()); }
  // After Outcome().
  double SecondsFrom(Clock::time_point start) const {
    return std::chrono::duration<double>(ended_ - start).count();
  }

 private:
  void OnText(host::Stream, std::string_view) override {
    if (!started_.HasBeenNotified()) started_.Notify();
  }

  absl::Notification started_;
  Clock::time_point ended_;
  std::future<absl::StatusOr<CellOutcome>> outcome_;
};

void MeasureDeath(Host& host, const Counts& counts) {
  std::unique_ptr<Session> session = Must(host.Open());
  Samples noticed;
  for (int i = 0; i < counts.respawns; ++i) {
    pid_t worker = 0;
    if (!absl::SimpleAtoi(*MustRun(*session, "import os, time; os.getpid()").result(), &worker)) {
      Fail("a worker does not know its pid");
    }
    LongCell cell(*session, "print('go', flush=True); time.sleep(60)");
    const Clock::time_point killed = Clock::now();
    kill(worker, SIGKILL);
    if (!cell.Outcome().death) Fail("a killed worker is not reported as dead");
    noticed.Add(cell.SecondsFrom(killed));
  }
  PrintSeconds("death", noticed);
}

struct Interruptible {
  const char* name;
  const char* cell;    // after `import asyncio, time`
  const char* script;  // of plain Python: a function `wait`
};

constexpr Interruptible kInterruptibles[] = {
    {"interrupt_busy", "print('go', flush=True)\nwhile True: pass",
     "def wait():\n  print('go', flush=True)\n  while True: pass\n"},
    {"interrupt_sleep", "print('go', flush=True)\ntime.sleep(60)",
     "def wait():\n  print('go', flush=True)\n  time.sleep(60)\n"},
    {"interrupt_await", "print('go', flush=True)\nawait asyncio.sleep(60)",
     "async def work():\n  print('go', flush=True)\n  await asyncio.sleep(60)\n"
     "def wait(): asyncio.run(work())\n"},
};

// Idle until it is told to go, so that it takes no processor from the cell.
constexpr char kInterruptLoop[] =
    "while sys.stdin.readline():\n"
    "  try: wait()\n"
    "  except KeyboardInterrupt: print('out', flush=True)\n";

void MeasureInterrupt(Host& host, const Interruptible& what, const Counts& counts) {
  std::unique_ptr<Session> session = Must(host.Open());
  MustRun(*session, "import asyncio, time");
  Program python(
      {kPython, "-c", absl::StrCat("import asyncio, sys, time\n", what.script, kInterruptLoop)});
  Samples ours;
  Samples plain;
  for (int i = 0; i < counts.interrupts; ++i) {
    LongCell cell(*session, what.cell);
    const Clock::time_point interrupted = Clock::now();
    session->Interrupt();
    const CellOutcome outcome = cell.Outcome();
    if (outcome.status != CellStatus::kCancelled || outcome.state != StateAfter::kKept) {
      Fail(absl::StrCat(what.name, ": not interrupted, or the state is lost"));
    }
    ours.Add(cell.SecondsFrom(interrupted));

    python.Write("\n");
    python.ReadUntil("go\n");
    absl::SleepFor(kWellInside);
    plain.Add(SecondsOf([&] {
      kill(python.pid(), SIGINT);
      python.ReadUntil("out\n");
    }));
  }
  PrintSeconds(what.name, ours);
  PrintSeconds(absl::StrCat(what.name, "_python"), plain);
}

// Sessions on a loop that the calling thread runs itself, as the command-line program has them.
class LoopSession {
 public:
  explicit LoopSession(const std::string& artifacts)
      : loop_(Must(EventLoop::Create())), templates_(*loop_), store_(artifacts) {
    const host::Launch launch = Must(host::PrepareLaunch({.env = host::CurrentEnvironment()}));
    session_ = std::make_unique<host::Session>(
        *loop_, templates_, host::OutputStorage{.writer = &writer_, .artifacts = &store_},
        launch.session);
  }

  ~LoopSession() {
    session_->Close([this] { loop_->Stop(); });
    loop_->Run();
  }

  // One after the other, each asked for when the one before has its outcome.
  void RunEach(int first, int count, Samples& seconds) {
    StartNext(first, first + count, seconds);
    loop_->Run();
  }

  // All asked for at once; `done` gets the outcomes as they come.
  template <typename Done>
  void RunQueued(const std::vector<std::string>& codes, Done done) {
    size_t left = codes.size();
    for (const std::string& code : codes) {
      session_->Run({.code = code, .timeout = kTimeout}, [&](absl::StatusOr<CellOutcome> outcome) {
        done(Must(std::move(outcome)));
        if (--left == 0) loop_->Stop();
      });
    }
    loop_->Run();
  }

 private:
  static constexpr absl::Duration kTimeout = absl::Seconds(30);

  void StartNext(int number, int end, Samples& seconds) {
    if (number == end) return loop_->Stop();
    session_->Run(
        {.code = absl::StrCat("x = ", number), .timeout = kTimeout},
        [this, number, end, &seconds, start = Clock::now()](absl::StatusOr<CellOutcome> outcome) {
          if (!Must(std::move(outcome)).ok()) Fail("a cell has failed");
          seconds.Add(SecondsSince(start));
          StartNext(number + 1, end, seconds);
        });
  }

  std::unique_ptr<EventLoop> loop_;
  host::TemplatePool templates_;
  host::SpillWriter writer_;
  host::ArtifactStore store_;
  std::unique_ptr<host::Session> session_;
};

constexpr char kPrompt[] = ">>> ";

void MeasureCells(Host& host, LoopSession& on_loop, ProcessPingPong& limit, const Counts& counts) {
  std::unique_ptr<Session> session = Must(host.Open());
  HandedOverPingPong handed_over(limit);
  Program python({kPython, "-i", "-q"});
  python.ReadUntil(kPrompt);
  Samples blocking;
  Samples looping;
  Samples interactive;
  Samples bare;
  Samples bare_handed_over;
  Samples ignored;
  MustRun(*session, "x = 0");
  on_loop.RunEach(0, 1, ignored);
  for (int round = 0; round < counts.cell_rounds; ++round) {
    const int first = round * counts.cells_per_round;
    for (int i = first; i < first + counts.cells_per_round; ++i) {
      blocking.Add(SecondsOf([&] { MustRun(*session, absl::StrCat("x = ", i)); }));
    }
    on_loop.RunEach(first, counts.cells_per_round, looping);
    for (int i = first; i < first + counts.cells_per_round; ++i) {
      interactive.Add(SecondsOf([&] {
        python.Write(absl::StrCat("x = ", i, "\n"));
        python.ReadUntil(kPrompt);
      }));
    }
    for (int i = 0; i < counts.cells_per_round; ++i) {
      bare.Add(SecondsOf([&] { limit.RoundTrip(); }));
      bare_handed_over.Add(SecondsOf([&] { handed_over.RoundTrip(); }));
    }
  }
  PrintSeconds("cell", blocking);
  PrintSeconds("cell_on_loop", looping);
  PrintSeconds("cell_python", interactive);
  PrintSeconds("cell_limit", bare_handed_over);
  PrintSeconds("cell_on_loop_limit", bare);
}

void MeasurePrints(Host& host, const Counts& counts) {
  const std::string code = absl::StrCat("for i in range(", counts.printed_lines, "): print(i)");
  // In a file, so that neither needs to be quoted for a shell.
  const std::string script = "prints.py";
  if (FILE* file = std::fopen(script.c_str(), "w")) {
    std::fputs(code.c_str(), file);
    std::fclose(file);
  }
  const std::string piped = absl::StrCat(kPython, " ", script, " | cat > /dev/null");
  std::unique_ptr<Session> session = Must(host.Open());
  MustRun(*session, "1");
  Samples ours;
  Samples python;
  Samples python_start;
  for (int i = 0; i < counts.print_rounds; ++i) {
    Alternate(
        i, [&] { ours.Add(SecondsOf([&] { MustRun(*session, code); })); },
        [&] {
          python.Add(SecondsOfProgram({"/bin/sh", "-c", piped}));
        });
    python_start.Add(SecondsOfProgram({kPython, "-c", ""}));
  }
  std::remove(script.c_str());
  PrintSeconds("prints", ours);
  PrintSeconds("prints_python", python);
  // A session has started long ago, a script has not.
  PrintValue("prints_python_alone/median", python.Quantile(0.5) - python_start.Quantile(0.5), "s");
}

struct Memory {
  double all = 0;       // of this process and all below it
  double sessions = 0;  // of workers and keepers
};

Memory CountMemory() {
  Memory memory = {.all = ProportionalMemory(getpid())};
  for (pid_t pid : ProcessesBelowThis()) {
    const double bytes = ProportionalMemory(pid);
    const std::string name = NameOf(pid);
    memory.all += bytes;
    if (name == "cellar-worker" || name == "cellar-keeper") memory.sessions += bytes;
  }
  return memory;
}

void MeasureIdleMemory(Host& host, const Counts& counts) {
  std::vector<std::unique_ptr<Session>> sessions;
  const auto open_one = [&] {
    sessions.push_back(Must(host.Open()));
    MustRun(*sessions.back(), "1+1");
  };
  open_one();
  const Memory before = CountMemory();
  for (int i = 0; i < counts.idle_sessions; ++i) open_one();
  const Memory after = CountMemory();
  PrintValue("memory_growth", (after.all - before.all) / counts.idle_sessions, "B");
  PrintValue("memory_sessions", after.sessions / (counts.idle_sessions + 1), "B");
  sessions.clear();

  std::vector<std::unique_ptr<Program>> pythons;
  const auto start_one = [&] {
    pythons.push_back(std::make_unique<Program>(std::vector<std::string>{
        kPython, "-c",
        absl::StrCat(kImports, ", sys; print('go', flush=True); sys.stdin.read()")}));
    pythons.back()->ReadUntil("go\n");
  };
  start_one();
  const Memory one = CountMemory();
  for (int i = 0; i < counts.idle_pythons; ++i) start_one();
  PrintValue("memory_python", (CountMemory().all - one.all) / counts.idle_pythons, "B");
}

void MeasureBigPrint(Host& host, const Counts& counts) {
  std::unique_ptr<Session> session = Must(host.Open());
  MustRun(*session, "for i in range(100000): print(i)");  // buffers have their usual size
  ForgetPeak();
  const double before = ResidentMemory();
  CellOutcome outcome;
  const double seconds = SecondsOf([&] {
    outcome = MustRun(*session, absl::StrCat("print('x' * ", counts.big_print_bytes, ")"));
  });
  const double after = PeakMemory();
  const auto expected = static_cast<uint64_t>(counts.big_print_bytes) + 1;
  if (!outcome.truncation || outcome.truncation->total_bytes != expected) {
    Fail("bytes of a big print are missing");
  }
  PrintValue("big_print_memory", after - before, "B");
  PrintValue("big_print/median", seconds, "s");
  PrintValue("big_print_python/median",
             SecondsOfProgram({"/bin/sh", "-c",
                               absl::StrCat(kPython, " -c \"print('x' * ", counts.big_print_bytes,
                                            ")\" | cat > /dev/null")}),
             "s");
}

void MeasureQueue(LoopSession& on_loop, const Counts& counts) {
  std::vector<std::string> codes;
  std::string lines;
  for (int i = 0; i < counts.queued_cells; ++i) {
    codes.push_back(absl::StrCat(i));
    absl::StrAppend(&lines, i, "\n");
  }
  ForgetPeak();
  const double before = ResidentMemory();
  int in_order = 0;
  int arrived = 0;
  const double seconds = SecondsOf([&] {
    on_loop.RunQueued(codes, [&](const CellOutcome& outcome) {
      if (outcome.result() == codes[arrived++]) ++in_order;
    });
  });
  PrintValue("queue_memory", PeakMemory() - before, "B");
  PrintValue("queue_in_order", in_order, "cells");
  PrintValue("queue_asked", counts.queued_cells, "cells");
  PrintValue("queue_rate", counts.queued_cells / seconds, "cells/s");

  Program python({kPython, "-i", "-q"});
  python.ReadUntil(kPrompt);
  const double python_seconds = SecondsOf([&] {
    python.Write(lines);
    python.CloseInput();
    python.ReadToEnd();
  });
  PrintValue("queue_rate_python", counts.queued_cells / python_seconds, "cells/s");
}

void PrintLoad(std::string_view name) {
  double load = 0;
  if (getloadavg(&load, 1) == 1) PrintValue(name, load, "processes");
}

void Main(const Counts& counts) {
  PrintLoad("load_before");
  ProcessPingPong ping_pong;
  MeasureColdStart(counts);
  MeasureWarmCall(counts);
  const std::unique_ptr<Host> host = Must(Host::Start({.artifacts_directory = "artifacts"}));
  {
    std::unique_ptr<Session> session = Must(host->Open());
    MustRun(*session, "1+1");  // the template is up
  }
  MeasureNewSession(*host, counts);
  MeasureRespawn(*host, counts);
  MeasureDeath(*host, counts);
  {
    LoopSession on_loop("artifacts");
    MeasureCells(*host, on_loop, ping_pong, counts);
    MeasureQueue(on_loop, counts);
  }
  MeasureBridge(ping_pong, counts.bridge);
  MeasureCompletion(*host, counts.completions);
  MeasurePrints(*host, counts);
  for (const Interruptible& what : kInterruptibles) MeasureInterrupt(*host, what, counts);
  MeasureIdleMemory(*host, counts);
  MeasureBigPrint(*host, counts);
  PrintLoad("load_after");
}

}  // namespace
}  // namespace cellar::bench

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string_view(argv[1]) == "--quick";
  if (argc > (quick ? 2 : 1)) {
    std::fputs("usage: session_bench [--quick]\n", stderr);
    return 2;
  }
  cellar::bench::Main(quick ? cellar::bench::kQuick : cellar::bench::Counts{});
}
