// Hostile cells, several at a time and each in a session of its own: one result, in time; what it
// says of the state is true; the session goes on; nothing is left; the host does not grow.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/eval/transcript.h"
#include "tests/hostile/hostile_cell.h"
#include "tests/testing/calls_test.h"
#include "tests/testing/files.h"
#include "tests/testing/leftovers.h"
#include "tests/testing/own_memory.h"
#include "tests/testing/sanitized.h"

namespace cellar::host {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Four cells at once that print for ever keep a host under a sanitizer busy.
constexpr absl::Duration kGrace = absl::Milliseconds(kHostSanitized ? 3000 : 600);
// For a result that must come at a certain moment, on a machine that may be busy.
constexpr absl::Duration kPatience = absl::Seconds(5 * kSlowness);
// A process with much memory or many threads takes its time to end.
constexpr absl::Duration kEndOfProcesses = absl::Seconds(2 * kSlowness);
constexpr size_t kAtOnce = 6;
constexpr int64_t kMaxGrowth = 24 << 20;  // bytes of the host's memory, over all cells

// A sanitizer needs memory of its own, also for each thread.
const std::set<std::string> kTakesAllMemory = {
    "MemoryLimit",   "NoMoreMemory",   "FullOfSmallObjects", "FullAddressSpace",
    "FullAndSilent", "FullWhileShown", "21-threadbomb"};

struct Mode {
  const char* name;
  SnapshotPolicy snapshots;
  bool second_of_call;  // the cell before it is in the same call
};

void PrintTo(const Mode& mode, std::ostream* out) { *out << mode.name; }

constexpr Mode kModes[] = {
    {"Alone", SnapshotPolicy::kOff, false},
    {"SecondOfCall", SnapshotPolicy::kOff, true},
    {"AloneWithSnapshots", SnapshotPolicy::kAlways, false},
    {"SecondOfCallWithSnapshots", SnapshotPolicy::kAlways, true},
};

const char* FaultsDirectory() {
  if (const char* given = std::getenv("CELLAR_FAULTS_DIR"); given != nullptr) return given;
#if defined(CELLAR_FAULTS_DIR)
  return CELLAR_FAULTS_DIR;
#else
  return nullptr;
#endif
}

// Everything that a result says of one cell.
std::string WordsOf(const CallResult& result) {
  const CellOutcome& outcome = result.cells.back().outcome;
  std::string words = absl::StrCat(TranscriptOf(result), "\n", outcome.state_detail, "\n",
                                   outcome.error ? outcome.error->traceback : "");
  for (const std::string& notice : outcome.notices) absl::StrAppend(&words, "\n", notice);
  return words;
}

Ending EndingOf(const CellOutcome& outcome) {
  const bool has_worker = outcome.state == StateAfter::kKept || outcome.state == StateAfter::kFresh;
  if (outcome.timed_out) return has_worker ? Ending::kInterrupted : Ending::kKilled;
  if (!has_worker) return Ending::kDies;
  return outcome.ok() ? Ending::kCompletes : Ending::kFails;
}

class HostileTest : public CallsTest, public testing::WithParamInterface<Mode> {
 protected:
  void SetUp() override {
    CallsTest::SetUp();
    Start({}, [](Launch& launch) {
      launch.session.interrupt_grace = kGrace;
      launch.session.snapshots.policy = GetParam().snapshots;
    });
    Warm();
  }

  // So that what is made once is there before anything is counted.
  void Warm() {
    const absl::StatusOr<CallResult> result = Run("warm", "print('x' * 200_000)");
    ASSERT_TRUE(result.ok()) << result.status();
    CloseSessions({"warm"});
    std::filesystem::remove_all(directory_ / "artifacts");
  }

  void RunAll(std::span<const HostileCell> cells) {
    const PeakGrowth growth;
    while (!cells.empty()) {
      const size_t count = std::min(kAtOnce, cells.size());
      RunTogether(cells.first(count));
      if (HasFatalFailure()) return;
      cells = cells.subspan(count);
    }
    // A sanitizer keeps what is freed.
    if (!kHostSanitized) {
      EXPECT_LE(growth.bytes(), kMaxGrowth);
    }
  }

 private:
  // A hostile cell on its way.
  struct Guest {
    const HostileCell* cell;
    absl::Duration timeout = TimeoutOf(*cell);
    absl::Time started;
    absl::Time ended;
    std::unique_ptr<Pending> call;
    std::optional<CellOutcome> outcome;
  };

  // What ends by itself may take its time under a sanitizer.
  static absl::Duration TimeoutOf(const HostileCell& cell) {
    const bool ends = cell.ending == Ending::kCompletes || cell.ending == Ending::kFails;
    return ends ? cell.timeout * kSlowness : cell.timeout;
  }

  void RunTogether(std::span<const HostileCell> cells) {
    SessionProcesses processes;
    const auto fds = CountOpenFds();
    std::vector<Guest> guests;
    for (const HostileCell& cell : cells) {
      if (kWorkerSanitized && kTakesAllMemory.contains(cell.name)) continue;
      guests.push_back({.cell = &cell});
    }
    if (!GetParam().second_of_call) {
      for (Guest& guest : guests)
        guest.call = Submit({.session = guest.cell->name, .cells = {{.code = "survivor = 4711"}}});
      RunUntil([&] { return AllDone(guests); });
    }
    for (Guest& guest : guests) Begin(guest);
    RunUntil([&] { return AllDone(guests); });
    for (Guest& guest : guests) {
      SCOPED_TRACE(guest.cell->name);
      CheckResult(guest);
    }
    for (Guest& guest : guests) {
      SCOPED_TRACE(guest.cell->name);
      CheckSessionGoesOn(guest);
    }
    std::vector<std::string> names;
    for (const Guest& guest : guests) names.push_back(guest.cell->name);
    SCOPED_TRACE(absl::StrJoin(names, ", "));
    CloseSessions(names);
    EXPECT_THAT(processes.LeftAfter(kEndOfProcesses), IsEmpty());
    EXPECT_EQ(CountOpenFds(), fds);
    std::filesystem::remove_all(directory_ / "artifacts");
    EXPECT_THAT(FilesIn(directory_.path()), IsEmpty());
  }

  void Begin(Guest& guest) {
    Call call{.session = guest.cell->name};
    if (GetParam().second_of_call) call.cells.push_back({.code = "survivor = 4711"});
    call.cells.push_back({.code = guest.cell->code, .timeout = guest.timeout});
    guest.started = absl::Now();
    guest.ended = absl::InfiniteFuture();
    guest.call = Submit(std::move(call));
    if (guest.cell->killed_after) {
      const absl::Duration when =
          std::min(*guest.cell->killed_after * kSlowness, guest.timeout / 2);
      loop_->After(when, [this, name = guest.cell->name] {
        Session* session = registry_->Find(name);
        if (session != nullptr && session->worker_pid() > 0) kill(session->worker_pid(), SIGKILL);
      });
    }
  }

  // Notes when each was.
  static bool AllDone(std::vector<Guest>& guests) {
    bool all = true;
    for (Guest& guest : guests) {
      if (!guest.call->result) {
        all = false;
      } else if (guest.ended == absl::InfiniteFuture()) {
        guest.ended = absl::Now();
      }
    }
    return all;
  }

  void CheckResult(Guest& guest) {
    const absl::StatusOr<CallResult>& result = *guest.call->result;
    ASSERT_TRUE(result.ok()) << result.status();
    const CellOutcome& outcome = result->cells.back().outcome;
    guest.outcome = outcome;
    EXPECT_EQ(result->cells.back().runs, 1);
    EXPECT_LE(guest.ended - guest.started, guest.timeout + kGrace + kPatience);
    if (guest.cell->ending) {
      EXPECT_EQ(EndingOf(outcome), *guest.cell->ending) << WordsOf(*result);
    }
    EXPECT_THAT(WordsOf(*result), HasSubstr(guest.cell->told));
    if (GetParam().snapshots == SnapshotPolicy::kAlways && !guest.cell->ends_keeper) {
      EXPECT_NE(outcome.state, StateAfter::kLost) << outcome.state_detail;
    }
    EXPECT_EQ(result->session_state, outcome.state);
  }

  void CheckSessionGoesOn(const Guest& guest) {
    if (!guest.outcome) return;
    const absl::StatusOr<CallResult> probe =
        Run({.session = guest.cell->name,
             .cells = {{.code = "globals().get('survivor')", .timeout = kPatience},
                       {.code = "async def answer(): return 6 * 7\nawait answer()"}}});
    ASSERT_TRUE(probe.ok()) << probe.status();
    // A neighbour that took all processes may have cost an idle session its worker; that is said.
    const bool made_room = absl::StrContains(WordsOf(*probe), "the machine ran out of");
    const bool is_kept = guest.outcome->state != StateAfter::kLost && !made_room;
    const bool is_there = is_kept && !guest.cell->forgets_names;
    EXPECT_EQ(probe->cells.front().outcome.result().value_or("None"), is_there ? "4711" : "None")
        << WordsOf(*probe);
    EXPECT_EQ(ValueOf(*probe), "42") << WordsOf(*probe);
    EXPECT_EQ(probe->session_state, is_kept ? StateAfter::kKept : StateAfter::kFresh);
  }

  void CloseSessions(const std::vector<std::string>& names) {
    size_t closed = 0;
    for (const std::string& name : names) registry_->Close(name, [&] { ++closed; });
    RunUntil([&] { return closed == names.size(); });
  }
};

TEST_P(HostileTest, EachOfOurs) {
  const absl::StatusOr<std::vector<HostileCell>> cells = ReadCellFiles(CELLAR_HOSTILE_CELLS);
  ASSERT_TRUE(cells.ok()) << cells.status();
  RunAll(*cells);
}

TEST_P(HostileTest, EachOfTheOthers) {
  const char* directory = FaultsDirectory();
  if (directory == nullptr) GTEST_SKIP() << "CELLAR_FAULTS_DIR is not set";
  const auto headers = ReadHeaders(CELLAR_HOSTILE_HEADERS);
  ASSERT_TRUE(headers.ok()) << headers.status();
  const absl::StatusOr<std::vector<HostileCell>> cells =
      ReadJsonCells(absl::StrCat(directory, "/cells.jsonl"), *headers);
  ASSERT_TRUE(cells.ok()) << cells.status();
  RunAll(*cells);
}

INSTANTIATE_TEST_SUITE_P(Modes, HostileTest, testing::ValuesIn(kModes),
                         [](const testing::TestParamInfo<Mode>& info) {
                           return std::string(info.param.name);
                         });

}  // namespace
}  // namespace cellar::host
