// A host that is there to be killed: opens a session for each argument, runs the argument in it as
// a cell, says "ready" when every cell has said so, and waits.
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "cellar/cellar.h"

namespace {

class ReadyCounter : public cellar::CellObserver {
 public:
  explicit ReadyCounter(absl::BlockingCounter& counter) : counter_(counter) {}
  void OnText(cellar::Stream, std::string_view text) override {
    if (ready_ || text.find("ready") == std::string_view::npos) return;
    ready_ = true;
    counter_.DecrementCount();
  }

 private:
  absl::BlockingCounter& counter_;
  bool ready_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  absl::StatusOr<std::unique_ptr<cellar::Host>> host = cellar::Host::Start();
  if (!host.ok()) {
    std::fprintf(stderr, "%s\n", std::string(host.status().message()).c_str());
    return 1;
  }
  absl::BlockingCounter not_ready(argc - 1);
  std::vector<std::unique_ptr<cellar::Session>> sessions;
  std::vector<std::unique_ptr<ReadyCounter>> observers;
  std::vector<std::thread> cells;
  for (int i = 1; i < argc; ++i) {
    sessions.push_back((*host)->Open().value());
    observers.push_back(std::make_unique<ReadyCounter>(not_ready));
    cells.emplace_back(
        [&session = *sessions.back(), &observer = *observers.back(), code = argv[i]] {
          (void)session.Run(code, {.timeout = absl::ZeroDuration(), .observer = &observer});
        });
  }
  not_ready.Wait();
  std::puts("ready");
  std::fflush(stdout);
  while (true) pause();
}
