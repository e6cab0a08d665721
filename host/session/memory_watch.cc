#include "host/session/memory_watch.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/session/memory.h"

namespace cellar::host {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(1);
// The limit in the worker itself is one of data: what it may fill with that comes on top of its
// program, its libraries and what is reserved for the runtime.
constexpr uint64_t kBesideData = uint64_t{48} << 20;

std::string Mebibytes(uint64_t bytes) { return absl::StrCat((bytes + (1 << 19)) >> 20, " MiB"); }

}  // namespace

MemoryWatch::MemoryWatch(EventLoop& loop, ForEachSession for_each)
    : loop_(loop), for_each_(std::move(for_each)) {}

MemoryWatch::~MemoryWatch() {
  lifeline_.Cut();
  loop_.Cancel(timer_);
}

void MemoryWatch::Add(const Session& session) {
  if (session.memory_cap() == 0 || std::exchange(is_watching_, true)) return;
  LookLater();
}

void MemoryWatch::LookLater() {
  timer_ = loop_.After(kInterval, [this] {
    timer_ = 0;
    is_watching_ = false;
    std::vector<pid_t> workers;
    for_each_([&](Session& session) {
      if (session.memory_cap() == 0) return;
      is_watching_ = true;
      if (int pid = session.worker_pid(); pid > 0) workers.push_back(pid);
    });
    if (!is_watching_) return;
    Measure(workers, [this](const std::map<pid_t, uint64_t>& sizes) {
      Check(sizes);
      LookLater();
    });
  });
}

void MemoryWatch::Check(const std::map<pid_t, uint64_t>& sizes) {
  for_each_([&](Session& session) {
    const uint64_t cap = session.memory_cap();
    const auto size = sizes.find(session.worker_pid());
    if (cap == 0 || size == sizes.end() || size->second <= cap + kBesideData) return;
    session.KillWorker(absl::StrCat("it used ", Mebibytes(size->second),
                                    " of memory, more than the cap of ", Mebibytes(cap)));
  });
}

void MemoryWatch::Measure(const std::vector<pid_t>& workers, MeasureCallback done) {
  asked_workers_.insert(workers.begin(), workers.end());
  asked_.push_back(std::move(done));
  if (!is_measuring_) MeasureAsked();
}

// One look answers all who have asked before it, so that many askers do not wait for each other.
void MemoryWatch::MeasureAsked() {
  is_measuring_ = true;
  std::set<pid_t> workers;
  workers.swap(asked_workers_);
  std::vector<MeasureCallback> asked;
  asked.swap(asked_);
  thread_.Run([this, &loop = loop_, alive = lifeline_.watch(),
               workers = std::vector<pid_t>(workers.begin(), workers.end()),
               asked = std::move(asked)]() mutable {
    std::map<pid_t, uint64_t> sizes = SessionMemory(workers);
    loop.Post([this, alive, sizes = std::move(sizes), asked = std::move(asked)]() mutable {
      if (!*alive) return;
      is_measuring_ = false;
      if (!asked_.empty()) MeasureAsked();
      for (MeasureCallback& done : asked) {
        if (*alive) done(sizes);
      }
    });
  });
}

}  // namespace cellar::host
