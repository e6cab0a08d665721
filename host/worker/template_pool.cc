#include "host/worker/template_pool.h"

#include <utility>

namespace cellar::host {

absl::StatusOr<Template*> TemplatePool::Get(const TemplateOptions& options) {
  auto slot = slots_.find(options);
  if (slot != slots_.end() && !slot->second.source->alive()) {
    End(slot);
    slot = slots_.end();
  }
  if (slot == slots_.end()) {
    MakeRoom();
    CELLAR_ASSIGN_OR_RETURN(std::shared_ptr<Template> source, Template::Start(loop_, options));
    slot = slots_.emplace(options, Slot{.source = std::move(source)}).first;
    LookLater();
  }
  slot->second.asked_for = ++requests_;
  return slot->second.source.get();
}

void TemplatePool::LookLater() {
  if (timer_ != 0 || slots_.size() < 2) return;
  timer_ = loop_.After(limits_.unused, [this] {
    timer_ = 0;
    EndUnused();
    LookLater();
  });
}

void TemplatePool::EndUnused() {
  ForgetGone();
  for (auto slot = slots_.begin(); slot != slots_.end();) {
    const bool is_used = slot->second.is_used();
    const bool was_used = std::exchange(slot->second.was_used, is_used);
    const bool stays = is_used || was_used || slot->second.asked_for == requests_;
    slot = stays ? std::next(slot) : End(slot);
  }
}

void TemplatePool::MakeRoom() {
  if (slots_.size() < limits_.count) return;
  auto oldest = slots_.end();
  for (auto slot = slots_.begin(); slot != slots_.end(); ++slot) {
    if (slot->second.is_used()) continue;
    if (oldest == slots_.end() || slot->second.asked_for < oldest->second.asked_for) oldest = slot;
  }
  if (oldest != slots_.end()) End(oldest);
}

void TemplatePool::ForgetGone() {
  std::erase_if(leaving_, [](const auto& source) { return source->gone(); });
}

TemplatePool::Slots::iterator TemplatePool::End(Slots::iterator slot) {
  slot->second.source->Leave();
  leaving_.push_back(std::move(slot->second.source));
  ForgetGone();
  return slots_.erase(slot);
}

}  // namespace cellar::host
