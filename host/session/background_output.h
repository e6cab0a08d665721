// What is printed and shown in a session by what earlier cells have started, until an outcome takes
// it along.
//
// Lives on the loop's thread.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "host/session/cell_request.h"
#include "host/session/output_log.h"

namespace cellar::host {

class BackgroundOutput {
 public:
  BackgroundOutput(OutputStorage storage, SinkOptions options);

  // Sees it while no cell runs; null = nobody.
  void Observe(CellObserver* observer) { observer_ = observer; }
  CellObserver* observer() const { return observer_; }
  // `observer`: who sees it now; null = nobody.
  void AddText(Stream stream, std::string_view text, CellObserver* observer);
  void AddDisplay(wire::Display display, CellObserver* observer);
  // As OutputLog's.
  bool WantsPause() const { return log_->WantsPause(); }

  // What nobody has taken yet, once more.
  void Recount(CellObserver& observer) const;
  // What there is now is for none of the outcomes until it is brought back.
  void SetAside();
  void BringBack();
  // All of it, for an outcome; null when there is none. What comes next is for the next one.
  std::unique_ptr<OutputLog> TakeLog();
  // The same, as far as it is on the disk by now.
  std::vector<CellOutput> Take();

 private:
  OutputStorage storage_;
  SinkOptions options_;
  std::unique_ptr<OutputLog> log_;
  std::unique_ptr<OutputLog> aside_;  // or null
  CellObserver* observer_ = nullptr;
};

}  // namespace cellar::host
