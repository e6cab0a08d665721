// Who watches a cell while it runs.
#pragma once

#include <string_view>

#include "host/output/stream.h"
#include "host/wire/display.h"

namespace cellar::host {

// Called on the loop's thread; must neither block nor throw.
class CellObserver {
 public:
  virtual ~CellObserver() = default;
  // Raw bytes as the cell wrote them: to be sanitised before they are shown.
  virtual void OnText(Stream, std::string_view) {}
  virtual void OnDisplay(const wire::Display&) {}
  // Printed or shown meanwhile by what an earlier cell started.
  virtual void OnBackgroundText(Stream, std::string_view) {}
  virtual void OnBackgroundDisplay(const wire::Display&) {}
  // Whether prints are to wait, until Session::GoOn, because it cannot take more for now.
  virtual bool WantsPause() const { return false; }
};

}  // namespace cellar::host
