#include "tests/bench/memory.h"

#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/bench/must.h"
#include "tests/bench/processes.h"
#include "tests/bench/samples.h"

namespace cellar::bench {
namespace {

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

void MeasureIdleMemory(Host& host, const MemoryCounts& counts) {
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

void MeasureBigPrint(Host& host, const MemoryCounts& counts) {
  std::unique_ptr<Session> session = Must(host.Open());
  MustRun(*session, "for i in range(100000): print(i)");  // buffers have their usual size
  ForgetPeak();
  const double before = ResidentMemory();
  CellOutcome outcome;
  const double seconds = SecondsOf([&] {
    outcome = MustRun(*session, absl::StrCat("print('x' * ", counts.printed_bytes, ")"));
  });
  const double after = PeakMemory();
  const auto expected = static_cast<uint64_t>(counts.printed_bytes) + 1;
  if (!outcome.truncation || outcome.truncation->total_bytes != expected) {
    Fail("bytes of a big print are missing");
  }
  PrintValue("big_print_memory", after - before, "B");
  PrintValue("big_print/median", seconds, "s");
  PrintValue("big_print_python/median",
             SecondsOfProgram({"/bin/sh", "-c",
                               absl::StrCat(kPython, " -c \"print('x' * ", counts.printed_bytes,
                                            ")\" | cat > /dev/null")}),
             "s");
}

}  // namespace

void MeasureMemory(Host& host, const MemoryCounts& counts) {
  MeasureIdleMemory(host, counts);
  MeasureBigPrint(host, counts);
}

}  // namespace cellar::bench
