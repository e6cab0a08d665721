// What snapshots cost, next to a bare fork() of the same process: for small sessions, loaded
// libraries, large arrays and many objects. And what a cell costs with policy `auto`, next to
// `off`, in turns. Prints a table; --quick only sees that it runs.
#include <cstdio>
#include <cstring>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cellar/cellar.h"
#include "tests/bench/processes.h"
#include "tests/bench/samples.h"

namespace cellar::bench {
namespace {

template <typename T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) Fail(value.status().ToString());
  return *std::move(value);
}

std::string Run(Session& session, const std::string& code) {
  CellOutcome outcome = Must(session.Run(code, {.timeout = absl::InfiniteDuration()}));
  if (!outcome.ok()) Fail(outcome.error ? outcome.error->traceback : "a cell failed");
  return outcome.result().value_or("");
}

// Milliseconds that the process stands still for os.fork().
constexpr char kFork[] = R"(
def fork_ms():
    import os, time
    start = time.perf_counter()
    pid = os.fork()
    if pid == 0: os._exit(0)
    taken = time.perf_counter() - start
    os.waitpid(pid, 0)
    return 1000 * taken
)";

void MeasureState(Host& host, const std::string& name, const std::string& code, int rounds) {
  auto session = Must(host.Open(
      {.snapshots = SnapshotOptions{.policy = SnapshotPolicy::kAlways, .memory_share = 1}}));
  Run(*session, kFork);
  Run(*session, code);
  Samples fork, snapshot, restore;
  for (int i = 0; i < rounds; ++i) {
    double fork_ms = 0;
    if (!absl::SimpleAtod(Run(*session, "fork_ms()"), &fork_ms)) Fail("no time of a fork");
    fork.Add(fork_ms);
    snapshot.Add(absl::ToDoubleMilliseconds(Must(session->Snapshots()).kept.back().cost));
    const absl::Time start = absl::Now();
    Must(session->Rewind());
    restore.Add(absl::ToDoubleMilliseconds(absl::Now() - start));
  }
  const SnapshotStatus status = Must(session->Snapshots());
  const double base = fork.Quantile(0.5);
  std::printf(
      "%-24s fork %7.2f ms   snapshot %7.2f ms (%.2f x)   restore %7.2f ms (%.2f x)   "
      "%.1f MiB each\n",
      name.c_str(), base, snapshot.Quantile(0.5), snapshot.Quantile(0.5) / base,
      restore.Quantile(0.5), restore.Quantile(0.5) / base,
      static_cast<double>(status.memory) / (1 << 20) / static_cast<double>(status.kept.size()));
}

void MeasureCells(Host& host, int rounds, int cells) {
  auto with = Must(host.Open({.snapshots = SnapshotOptions{}}));
  auto without = Must(host.Open({.snapshots = SnapshotOptions{.policy = SnapshotPolicy::kOff}}));
  Samples with_us, without_us;
  auto measure = [&](Session& session, Samples& samples) {
    const absl::Time start = absl::Now();
    for (int i = 0; i < cells; ++i) Run(session, absl::StrCat("x = ", i));
    samples.Add(absl::ToDoubleMicroseconds(absl::Now() - start) / cells);
  };
  for (int i = 0; i < rounds; ++i) {
    measure(*with, with_us);
    measure(*without, without_us);
  }
  std::printf("a cell                   off %.0f us   auto %.0f us (%.2f x; the bar is 1.2)\n",
              without_us.Quantile(0.5), with_us.Quantile(0.5),
              with_us.Quantile(0.5) / without_us.Quantile(0.5));
}

int Main(bool quick) {
  auto host = Must(Host::Start());
  MeasureCells(*host, quick ? 2 : 50, quick ? 20 : 100);
  const int rounds = quick ? 2 : 15;
  MeasureState(*host, "bare", "1", rounds);
  if (!quick) {
    MeasureState(*host, "numpy and pandas", "import numpy, pandas", rounds);
    MeasureState(*host, "1 GB of arrays",
                 "import numpy; arrays = [numpy.ones(1 << 24) for _ in range(8)]", rounds);
    MeasureState(*host, "10 M small objects", "objects = [str(i) for i in range(10_000_000)]",
                 rounds);
  }
  return 0;
}

}  // namespace
}  // namespace cellar::bench

int main(int argc, char** argv) {
  return cellar::bench::Main(argc > 1 && std::strcmp(argv[1], "--quick") == 0);
}
