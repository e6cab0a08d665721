#include "host/serve/background_dial.h"

#include <system_error>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "host/base/signal_block.h"
#include "host/serve/dial.h"

namespace cellar::host {

struct BackgroundDial::Waiting {
  Callback done;  // on the loop's thread only
  absl::Mutex mutex;
  EventLoop* loop ABSL_GUARDED_BY(mutex) = nullptr;  // null: nobody waits any more

  static void Dial(const std::shared_ptr<Waiting>& waiting, const Environment& env) {
    absl::StatusOr<std::unique_ptr<Client>> client = DialOrStartDaemon(env);
    absl::MutexLock lock(&waiting->mutex);
    if (waiting->loop == nullptr) return;
    waiting->loop->Post([waiting, client = std::move(client)]() mutable {
      if (waiting->done) std::exchange(waiting->done, nullptr)(std::move(client));
    });
  }
};

BackgroundDial::BackgroundDial(EventLoop& loop, const Environment& env, Callback done)
    : waiting_(std::make_shared<Waiting>()) {
  waiting_->done = std::move(done);
  {
    absl::MutexLock lock(&waiting_->mutex);
    waiting_->loop = &loop;
  }
  bool started = true;
  try {
    SignalBlock block;
    std::thread([waiting = waiting_, env] { Waiting::Dial(waiting, env); }).detach();
  } catch (const std::system_error&) {
    started = false;
  }
  // Where there is no room for a thread the loop waits after all.
  if (!started) Waiting::Dial(waiting_, env);
}

BackgroundDial::~BackgroundDial() {
  waiting_->done = nullptr;
  absl::MutexLock lock(&waiting_->mutex);
  waiting_->loop = nullptr;
}

}  // namespace cellar::host
