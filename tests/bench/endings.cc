#include "tests/bench/endings.h"

#include <signal.h>

#include <future>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "tests/bench/must.h"
#include "tests/bench/processes.h"
#include "tests/bench/samples.h"
#include "tests/testing/process_stat.h"

namespace cellar::bench {
namespace {

// A cell that goes on until something is done to it.
class LongCell : private CellObserver {
 public:
  // Returns when the cell has printed "go".
  LongCell(Session& session, std::string code) {
    outcome_ = std::async(std::launch::async, [this, &session, code = std::move(code)] {
      absl::StatusOr<CellOutcome> outcome = session.Run(code, {.observer = this});
      ended_ = Clock::now();
      return outcome;
    });
    started_.WaitForNotification();
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

struct Interruptible {
  const char* name;
  const char* cell;    // after `import asyncio, time`
  const char* script;  // of plain Python: a function `wait`
  bool sleeps;         // after "go"; otherwise it is in its loop at once
};

constexpr Interruptible kInterruptibles[] = {
    {"interrupt_busy", "print('go', flush=True)\nwhile True: pass",
     "def wait():\n  print('go', flush=True)\n  while True: pass\n", /*sleeps=*/false},
    {"interrupt_sleep", "print('go', flush=True)\ntime.sleep(60)",
     "def wait():\n  print('go', flush=True)\n  time.sleep(60)\n", /*sleeps=*/true},
    {"interrupt_await", "print('go', flush=True)\nawait asyncio.sleep(60)",
     "async def work():\n  print('go', flush=True)\n  await asyncio.sleep(60)\n"
     "def wait(): asyncio.run(work())\n",
     /*sleeps=*/true},
};

// Idle until it is told to go, so that it takes no processor from the cell.
constexpr char kInterruptLoop[] =
    "while sys.stdin.readline():\n"
    "  try: wait()\n"
    "  except KeyboardInterrupt: print('out', flush=True)\n";

pid_t WorkerOf(Session& session) {
  pid_t worker = 0;
  if (!absl::SimpleAtoi(*MustRun(session, "import asyncio, os, time; os.getpid()").result(),
                        &worker)) {
    Fail("a worker does not know its pid");
  }
  return worker;
}

void WaitUntilAsleep(pid_t pid) {
  const absl::Time deadline = absl::Now() + absl::Seconds(10);
  while (!testing::IsAsleep(pid)) {
    if (absl::Now() > deadline) Fail("a cell that sleeps is busy, or gone");
    absl::SleepFor(absl::Microseconds(100));
  }
}

void MeasureInterrupt(Host& host, const Interruptible& what, int count) {
  std::unique_ptr<Session> session = Must(host.Open());
  const pid_t worker = WorkerOf(*session);
  Program python(
      {kPython, "-c", absl::StrCat("import asyncio, sys, time\n", what.script, kInterruptLoop)});
  Samples ours;
  Samples plain;
  for (int i = 0; i < count; ++i) {
    LongCell cell(*session, what.cell);
    if (what.sleeps) WaitUntilAsleep(worker);
    const Clock::time_point interrupted = Clock::now();
    session->Interrupt();
    const CellOutcome outcome = cell.Outcome();
    if (outcome.status != CellStatus::kCancelled || outcome.state != StateAfter::kKept) {
      Fail(absl::StrCat(what.name, ": not interrupted, or the state is lost"));
    }
    ours.Add(cell.SecondsFrom(interrupted));

    python.Write("\n");
    python.ReadUntil("go\n");
    if (what.sleeps) WaitUntilAsleep(python.pid());
    plain.Add(SecondsOf([&] {
      kill(python.pid(), SIGINT);
      python.ReadUntil("out\n");
    }));
  }
  PrintSeconds(what.name, ours);
  PrintSeconds(absl::StrCat(what.name, "_python"), plain);
}

}  // namespace

void MeasureDeath(Host& host, int count) {
  std::unique_ptr<Session> session = Must(host.Open());
  Samples noticed;
  for (int i = 0; i < count; ++i) {
    const pid_t worker = WorkerOf(*session);
    LongCell cell(*session, "print('go', flush=True); time.sleep(60)");
    WaitUntilAsleep(worker);
    const Clock::time_point killed = Clock::now();
    kill(worker, SIGKILL);
    if (!cell.Outcome().death) Fail("a killed worker is not reported as dead");
    noticed.Add(cell.SecondsFrom(killed));
  }
  PrintSeconds("death", noticed);
}

void MeasureInterrupts(Host& host, int count) {
  for (const Interruptible& what : kInterruptibles) MeasureInterrupt(host, what, count);
}

}  // namespace cellar::bench
