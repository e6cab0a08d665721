#include "tests/bench/cells.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/bench/must.h"
#include "tests/bench/processes.h"
#include "tests/bench/samples.h"

namespace cellar::bench {
namespace {

// Sessions on a loop that the calling thread runs itself, as the command-line program has them.
class LoopSession {
 public:
  explicit LoopSession(const std::string& artifacts)
      : loop_(Must(EventLoop::Create())), templates_(*loop_), store_(artifacts) {
    const host::Launch launch = Must(host::PrepareLaunch({.env = host::CurrentEnvironment()}));
    session_ = std::make_unique<host::Session>(
        *loop_, templates_, host::OutputStorage{.writer = &writer_, .artifacts = store_},
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
  on_loop.RunEach(0, 1, ignored);
  for (int round = 0; round < counts.rounds; ++round) {
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
    on_loop.RunQueued(codes, [&](const CellOutcome& outcome) {
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
  LoopSession on_loop("artifacts");
  MeasureEach(host, on_loop, limit, counts);
  MeasureQueue(on_loop, counts);
}

}  // namespace cellar::bench
