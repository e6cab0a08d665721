// What the worker learns from an audit hook of its own: that someone else may begin to write to fd
// 1 and 2, that limits may change, that there may be timers. Those of cells are in audit_hooks.h.
#pragma once

namespace cellar::embed {

// Called once, under the GIL.
void WatchAuditEvents();

}  // namespace cellar::embed
