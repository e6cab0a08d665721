#include "tests/bench/cells.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/bench/must.h"
#include "tests/bench/processes.h"
#include "tests/bench/samples.h"
#include "tests/testing/loop_session.h"

namespace cellar::bench {
namespace {

using testing::LoopSession;

constexpr absl::Duration kTimeout = absl::Seconds(30);

host::SessionOptions OptionsHere() {
  return Must(host::PrepareLaunch({.env = host::CurrentEnvironment()})).session;
}

void StartNext(LoopSession& on_loop, int number, int end, Samples& seconds) {
  if (number == end) return on_loop.loop().Stop();
  on_loop.session().Run(
      {.code = absl::StrCat("x = ", number), .timeout = kTimeout},
      [&on_loop, number, end, &seconds, start = Clock::now()](absl::StatusOr<CellOutcome> outcome) {
        if (!Must(std::move(outcome)).ok()) Fail("a cell has failed");
        seconds.Add(SecondsSince(start));
        StartNext(on_loop, number + 1, end, seconds);
      });
}

// One after the other, each asked for when the one before has its outcome.
void RunEach(LoopSession& on_loop, int first, int count, Samples& seconds) {
  StartNext(on_loop, first, first + count, seconds);
  on_loop.loop().Run();
}

// All asked for at once; `done` gets the outcomes as they come.
template <typename Done>
void RunQueued(LoopSession& on_loop, const std::vector<std::string>& codes, Done done) {
  size_t left = codes.size();
  for (const std::string& code : codes) {
    on_loop.session().Run({.code = code, .timeout = kTimeout},
                          [&](absl::StatusOr<CellOutcome> outcome) {
                            done(Must(std::move(outcome)));
                            if (--left == 0) on_loop.loop().Stop();
                          });
  }
  on_loop.loop().Run();
}

constexpr char kPrompt[] = ">>> ";

void MeasureEach(Host& host, LoopSession& on_loop, ProcessPingPong& limit,
                 const CellCounts& counts) {
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
  RunEach(on_loop, 0, 1, ignored);
  for (int round = 0; round < counts.rounds; ++round) {
    const int first = round * counts.cells_per_round;
    for (int i = first; i < first + counts.cells_per_round; ++i) {
      blocking.Add(SecondsOf([&] { MustRun(*session, absl::StrCat("x = ", i)); }));
    }
    RunEach(on_loop, first, counts.cells_per_round, looping);
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

void MeasureQueue(LoopSession& on_loop, const CellCounts& counts) {
  std::vector<std::string> codes;
  std::string lines;
  for (int i = 0; i < counts.queued; ++i) {
    codes.push_back(absl::StrCat(i));
    absl::StrAppend(&lines, i, "\n");
  }
  ForgetPeak();
  const double before = ResidentMemory();
  int in_order = 0;
  int arrived = 0;
  const double seconds = SecondsOf([&] {
    RunQueued(on_loop, codes, [&](const CellOutcome& outcome) {
      if (outcome.result() == codes[arrived++]) ++in_order;
    });
  });
  PrintValue("queue_memory", PeakMemory() - before, "B");
  PrintValue("queue_in_order", in_order, "cells");
  PrintValue("queue_asked", counts.queued, "cells");
  PrintValue("queue_rate", counts.queued / seconds, "cells/s");

  Program python({kPython, "-i", "-q"});
  python.ReadUntil(kPrompt);
  const double python_seconds = SecondsOf([&] {
    python.Write(lines);
    python.CloseInput();
    python.ReadToEnd();
  });
  PrintValue("queue_rate_python", counts.queued / python_seconds, "cells/s");
}

}  // namespace

void MeasureCells(Host& host, ProcessPingPong& limit, const CellCounts& counts) {
  // As the command-line program has it.
  LoopSession on_loop(OptionsHere(), "artifacts");
  MeasureEach(host, on_loop, limit, counts);
  MeasureQueue(on_loop, counts);
}

}  // namespace cellar::bench
