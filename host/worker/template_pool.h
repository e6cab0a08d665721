// The templates of a host, one for each set of options, started when first needed and again after
// one has died.
#pragma once

#include <map>
#include <memory>

#include "host/worker/template.h"

namespace cellar::host {

class TemplatePool {
 public:
  explicit TemplatePool(EventLoop& loop) : loop_(loop) {}

  // A template that is alive; the pool keeps it.
  absl::StatusOr<Template*> Get(const TemplateOptions& options);

 private:
  EventLoop& loop_;
  std::map<TemplateOptions, std::shared_ptr<Template>> templates_;
};

}  // namespace cellar::host
