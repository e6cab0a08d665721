// The templates of a host, one for each set of options, started when first needed and again after
// one has died. One that nobody uses any more is ended after a while, or when there are too many;
// the one that was asked for last stays, since the next session most likely wants it.
//
// Lives on the loop's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "host/worker/template.h"

namespace cellar::host {

struct TemplateLimits {
  absl::Duration unused = absl::Minutes(10);  // ended after one to two times this
  size_t count = 8;                           // there are more only if all are used
};

class TemplatePool {
 public:
  explicit TemplatePool(EventLoop& loop, TemplateLimits limits = {})
      : loop_(loop), limits_(limits) {}
  ~TemplatePool() { loop_.Cancel(timer_); }
  TemplatePool(const TemplatePool&) = delete;

  // A template that is alive; the pool keeps it. With it ends all that is below it, so whoever has
  // a worker there shares it: that is what using it means.
  absl::StatusOr<Template*> Get(const TemplateOptions& options);

 private:
  struct Slot {
    std::shared_ptr<Template> source;
    uint64_t asked_for = 0;  // orders requests
    bool was_used = true;    // when last looked at

    bool is_used() const { return source.use_count() > 1; }
  };
  using Slots = std::map<TemplateOptions, Slot>;

  void LookLater();
  void EndUnused();
  void MakeRoom();
  void ForgetGone();
  Slots::iterator End(Slots::iterator slot);

  EventLoop& loop_;
  TemplateLimits limits_;
  Slots slots_;
  uint64_t requests_ = 0;
  std::vector<std::shared_ptr<Template>>
      leaving_;  // until they are gone: their end is not waited for
  EventLoop::TimerId timer_ = 0;
};

}  // namespace cellar::host
