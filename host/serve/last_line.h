// The line that a cell has begun to print and not ended: what input() shows before it waits.
#pragma once

#include <string>
#include <string_view>

#include "host/eval/call_observer.h"

namespace cellar::host {

class LastLine : public CallObserver {
 public:
  void OnText(Stream stream, std::string_view bytes) override;
  void OnCellStarted(size_t, const CallCell&) override { text_.clear(); }

  const std::string& text() const { return text_; }
  // It is ended by what a person types.
  void End() { text_.clear(); }

 private:
  std::string text_;
};

}  // namespace cellar::host
