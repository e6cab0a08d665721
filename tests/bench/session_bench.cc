// Measures sessions the way a program uses them, next to plain Python and to what the machine
// allows, alternating between them so that a busy moment hits both. Prints lines "name value unit";
// table.py knows the bars.
//
// Finds `cellar` and the worker program beside itself. Reads the environment and the settings as
// any host does: tests/bench/bench starts it with clean ones.
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "cellar/cellar.h"
#include "host/runtime/worker_program.h"
#include "tests/bench/bridge.h"
#include "tests/bench/cells.h"
#include "tests/bench/completion.h"
#include "tests/bench/endings.h"
#include "tests/bench/limits.h"
#include "tests/bench/memory.h"
#include "tests/bench/must.h"
#include "tests/bench/processes.h"
#include "tests/bench/samples.h"

namespace cellar::bench {
namespace {

struct Counts {
  int cold_starts = 40;
  int sessions = 100;
  int respawns = 100;
  int print_rounds = 15;
  int printed_lines = 200'000;
  int endings = 100;
  int completions = 20;
  BridgeCounts bridge;
  CellCounts cells;
  MemoryCounts memory;
};

constexpr Counts kQuick = {
    .cold_starts = 2,
    .sessions = 2,
    .respawns = 2,
    .print_rounds = 2,
    .printed_lines = 2000,
    .endings = 2,
    .completions = 1,
    .bridge = {.rounds = 2, .calls_per_round = 32},
    .cells = {.rounds = 2, .cells_per_round = 5, .queued = 200},
    .memory = {.idle_sessions = 2, .idle_pythons = 2, .printed_bytes = 4 << 20}};

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

void PrintLoad(std::string_view name) {
  double load = 0;
  if (getloadavg(&load, 1) == 1) PrintValue(name, load, "processes");
}

std::unique_ptr<Host> StartHost() {
  std::unique_ptr<Host> host = Must(Host::Start({.artifacts_directory = "artifacts"}));
  std::unique_ptr<Session> session = Must(host->Open());
  MustRun(*session, "1+1");  // the template is up
  return host;
}

void MeasureAll(const Counts& counts) {
  PrintLoad("load_before");
  ProcessPingPong ping_pong;
  MeasureColdStart(counts);
  MeasureWarmCall(counts);
  const std::unique_ptr<Host> host = StartHost();
  MeasureNewSession(*host, counts);
  MeasureRespawn(*host, counts);
  MeasureDeath(*host, counts.endings);
  MeasureCells(*host, ping_pong, counts.cells);
  MeasureBridge(ping_pong, counts.bridge);
  MeasureCompletion(*host, counts.completions);
  MeasurePrints(*host, counts);
  MeasureInterrupts(*host, counts.endings);
  MeasureMemory(*host, counts.memory);
  PrintLoad("load_after");
}

}  // namespace
}  // namespace cellar::bench

int main(int argc, char** argv) {
  using namespace cellar::bench;
  Counts counts;
  bool cells_only = false;
  for (std::string_view option : std::span(argv, argc).subspan(1)) {
    if (option == "--quick") {
      counts = kQuick;
    } else if (option == "--cells") {
      cells_only = true;
    } else {
      std::fputs("usage: session_bench [--quick] [--cells]\n", stderr);
      return 2;
    }
  }
  if (cells_only) {
    ProcessPingPong ping_pong;
    MeasureCells(*StartHost(), ping_pong, counts.cells);
  } else {
    MeasureAll(counts);
  }
}
