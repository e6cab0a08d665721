// The outputs of one cell in their order: text through a Sink, displays and results beside it.
// Knows clear_output and update_display; knows nothing of workers.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "host/output/sink.h"
#include "host/session/outcome.h"
#include "host/wire/messages.h"

namespace cellar::host {

// Where the complete output goes that a result has no room for.
struct OutputStorage {
  SpillWriter* writer;
  const ArtifactStore* artifacts;
};

class OutputLog {
 public:
  OutputLog(const OutputStorage& storage, SinkOptions options);

  void AddText(Stream stream, std::string_view bytes);
  // Takes displays, results, status events, updates and clear requests.
  void AddDisplay(wire::Display display);

  void Close() { sink_->Close(); }
  bool WantsPause() const { return sink_->WantsPause(); }
  bool IsSettled() const { return sink_->IsSettled(); }
  bool empty() const { return empty_; }

  struct Outputs {
    std::vector<CellOutput> outputs;
    std::optional<Truncation> truncation;
  };
  Outputs Take();
  // While the cell runs on.
  Outputs SoFar() const;

 private:
  void Add(CellOutput output);
  bool ReplaceShown(const wire::Display& display);
  void Clear();
  Outputs Gather(absl::FunctionRef<CellOutput(uint32_t place)> display) const;

  OutputStorage storage_;
  SinkOptions options_;
  std::unique_ptr<Sink> sink_;
  std::vector<CellOutput> displays_;  // by place in the sink
  size_t display_bytes_ = 0;
  bool clear_at_next_ = false;  // clear_output(wait=True)
  bool empty_ = true;
};

}  // namespace cellar::host
