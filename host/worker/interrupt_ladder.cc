#include "host/worker/interrupt_ladder.h"

#include <algorithm>

namespace cellar::host {
namespace {

constexpr absl::Duration kRepeatAfter = absl::Milliseconds(10);
constexpr absl::Duration kInsistAfter = absl::Seconds(1);
// Enough for faulthandler to write the stacks of many threads.
constexpr absl::Duration kDumpBeforeKill = absl::Milliseconds(100);

}  // namespace

InterruptLadder::InterruptLadder(EventLoop& loop, Worker& worker, uint32_t cell,
                                 absl::Duration grace)
    : loop_(loop), worker_(worker) {
  worker_.Interrupt(cell);
  repeat_timer_ = loop_.After(kRepeatAfter, [this, cell] { worker_.RepeatInterrupt(cell); });
  insist_timer_ =
      loop_.After(std::min(kInsistAfter, grace / 3), [this, cell] { worker_.Insist(cell); });
  dump_timer_ =
      loop_.After(std::max(grace - kDumpBeforeKill, grace / 2), [this] { worker_.DumpStacks(); });
  kill_timer_ = loop_.After(grace, [this] { KillNow(); });
}

InterruptLadder::~InterruptLadder() {
  loop_.Cancel(repeat_timer_);
  loop_.Cancel(insist_timer_);
  loop_.Cancel(dump_timer_);
  loop_.Cancel(kill_timer_);
}

void InterruptLadder::KillNow() {
  killed_ = true;
  worker_.Kill();
}

}  // namespace cellar::host
