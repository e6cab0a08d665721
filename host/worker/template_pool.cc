#include "host/worker/template_pool.h"

namespace cellar::host {

absl::StatusOr<Template*> TemplatePool::Get(const TemplateOptions& options) {
  std::shared_ptr<Template>& slot = templates_[options];
  if (slot == nullptr || !slot->alive()) {
    CELLAR_ASSIGN_OR_RETURN(slot, Template::Start(loop_, options));
  }
  return slot.get();
}

}  // namespace cellar::host
