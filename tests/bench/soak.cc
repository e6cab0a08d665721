// A long life in short: cells and resets over many sessions, and what of it stays. Fails when
// descriptors, processes or files grow, or memory by more than the bar; then shows what idle
// sessions cost. `--quick` does a fiftieth.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "cellar/session_processes.h"
#include "host/eval/call_service.h"
#include "host/session/registry.h"

namespace cellar::host {
namespace {

namespace fs = std::filesystem;

constexpr int kSessions = 20;
constexpr double kMaxBytesPerCell = 0.1 * 1024;
// Over fewer, the first use of buffers outweighs what cells leave behind.
constexpr int kCellsForASlope = 5000;
constexpr int kIdleSessions = 200;

size_t CountEntries(const std::string& directory) {
  std::error_code error;
  const auto count = std::distance(fs::directory_iterator(directory, error), {});
  return static_cast<size_t>(count);
}

double ResidentBytes() {
  long pages = 0;
  long resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// The slope of the line through the points that is nearest to all of them.
double Slope(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / n;
  const double mean_y = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double above = 0;
  double below = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    above += (x[i] - mean_x) * (y[i] - mean_y);
    below += (x[i] - mean_x) * (x[i] - mean_x);
  }
  return below == 0 ? 0 : above / below;
}

class Soak {
 public:
  explicit Soak(const Launch& launch, const LaunchQuery& query)
      : artifacts_(launch.artifacts_directory),
        loop_(*EventLoop::Create()),
        templates_(*loop_),
        launcher_(*loop_, query, launch),
        registry_(*loop_, templates_, {&writer_, artifacts_}, launcher_, {}),
        service_(*loop_, registry_) {}

  ~Soak() {
    registry_.CloseAll([this] { loop_->Stop(); });
    loop_->Run();
  }

  // Cells of all sessions, a round at a time; every tenth is a reset as well.
  bool RunCells(int cells) {
    std::vector<double> done;
    std::vector<double> resident;
    bool ok = Round(0);
    const size_t fds = CountEntries("/proc/self/fd");
    const SessionProcesses processes;
    for (int round = 1; ok && round * kSessions <= cells; ++round) {
      ok = Round(round);
      // The first tenth warms up: allocators, caches, the template's spare.
      if (round * kSessions < cells / 10) continue;
      done.push_back(round * kSessions);
      resident.push_back(ResidentBytes());
    }
    const double slope = Slope(done, resident);
    const size_t fds_after = CountEntries("/proc/self/fd");
    const std::vector<std::string> left = processes.LeftAfter(absl::Seconds(2));
    const size_t files = CountEntries(artifacts_.directory());
    // Each session has a worker and a keeper, which resets replace, and the snapshots it keeps,
    // with a channel and a pidfd each.
    const size_t snapshots = kSessions * SnapshotOptions().kept;
    const bool same_processes = left.size() <= 2 * kSessions + snapshots;
    std::printf("cells %d, resets %d: %s\n", cells, resets_, ok ? "all answered" : "FAILED");
    std::printf("host memory      %8.1f bytes a cell (bar %.1f)\n", slope, kMaxBytesPerCell);
    std::printf("descriptors      %8zu before, %zu after\n", fds, fds_after);
    std::printf("new processes    %8zu (%d sessions)\n", left.size(), kSessions);
    std::printf("files            %8zu\n", files);
    const bool memory_ok = cells < kCellsForASlope || slope <= kMaxBytesPerCell;
    return ok && memory_ok && fds_after <= fds + 2 * snapshots && same_processes && files == 0;
  }

  bool ShowIdle(int count) {
    const size_t fds = CountEntries("/proc/self/fd");
    int waiting = count;
    bool ok = true;
    for (int i = 0; i < count; ++i)
      Submit("idle " + std::to_string(i), "x = 1", false, waiting, ok);
    loop_->Run();
    std::vector<SessionInfo> infos;
    registry_.List([&](std::vector<SessionInfo> listed) {
      infos = std::move(listed);
      loop_->Stop();
    });
    loop_->Run();
    double memory = 0;
    for (const SessionInfo& info : infos) memory += static_cast<double>(info.memory_bytes);
    rusage before;
    getrusage(RUSAGE_SELF, &before);
    loop_->After(absl::Seconds(2), [this] { loop_->Stop(); });
    loop_->Run();
    rusage after;
    getrusage(RUSAGE_SELF, &after);
    std::printf(
        "idle sessions    %8zu: %.2f MiB each, %.1f descriptors each, %.1f wake-ups of the "
        "host a second\n",
        infos.size(), memory / static_cast<double>(infos.size()) / (1 << 20),
        static_cast<double>(CountEntries("/proc/self/fd") - fds) / count,
        static_cast<double>(after.ru_nvcsw - before.ru_nvcsw) / 2);
    return ok;
  }

 private:
  bool Round(int round) {
    int waiting = kSessions;
    bool ok = true;
    const bool reset = round % 10 == 9;
    if (reset) resets_ += kSessions;
    for (int i = 0; i < kSessions; ++i) {
      Submit("s" + std::to_string(i), "x = " + std::to_string(round) + "; print(x); x", reset,
             waiting, ok);
    }
    loop_->Run();
    return ok;
  }

  // Stops the loop when nothing waits any more.
  void Submit(std::string session, std::string code, bool reset, int& waiting, bool& ok) {
    Call call = {.session = std::move(session),
                 .cells = {{.code = std::move(code), .reset = reset}}};
    service_.Submit(std::move(call), nullptr, [&, this](absl::StatusOr<CallResult> result) {
      ok = ok && result.ok() && result->status == CallStatus::kOk;
      if (--waiting == 0) loop_->Stop();
    });
  }

  ArtifactStore artifacts_;
  SpillWriter writer_;
  std::unique_ptr<EventLoop> loop_;
  TemplatePool templates_;
  Launcher launcher_;
  SessionRegistry registry_;
  CallService service_;
  int resets_ = 0;
};

int Main(bool quick) {
  const fs::path scratch = fs::temp_directory_path() / ("cellar-soak-" + std::to_string(getpid()));
  fs::create_directories(scratch);
  const LaunchQuery query = {.env = CurrentEnvironment(),
                             .cwd = scratch,
                             .artifacts_directory = (scratch / "artifacts").string()};
  const absl::StatusOr<Launch> launch = PrepareLaunch(query);
  if (!launch.ok()) {
    std::fprintf(stderr, "soak: %s\n", std::string(launch.status().message()).c_str());
    return 1;
  }
  bool ok = true;
  {
    Soak soak(*launch, query);
    ok = soak.RunCells(quick ? 400 : 10'000);
    ok = soak.ShowIdle(quick ? kIdleSessions / 10 : kIdleSessions) && ok;
  }
  fs::remove_all(scratch);
  std::printf("%s\n", ok ? "ok" : "FAILED");
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace cellar::host

int main(int argc, char** argv) {
  return cellar::host::Main(argc > 1 && std::strcmp(argv[1], "--quick") == 0);
}
