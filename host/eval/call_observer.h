// Who sees a call while it runs.
#pragma once

#include <cstddef>

#include "host/eval/call.h"
#include "host/eval/result.h"
#include "host/session/cell_observer.h"

namespace cellar::host {

// Between OnCellStarted and OnCellFinished it sees what that cell does.
class CallObserver : public CellObserver {
 public:
  virtual void OnCellStarted(size_t /*index*/, const CallCell&) {}
  virtual void OnCellFinished(size_t /*index*/, const CellResult&) {}
};

}  // namespace cellar::host
