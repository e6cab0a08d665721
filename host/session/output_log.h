// The outputs of one cell in their order: text through a Sink, displays and results beside it.
// Knows clear_output and update_display; knows nothing of workers.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "host/output/sink.h"
#include "host/session/large_data.h"
#include "host/session/outcome.h"
#include "host/wire/channel_messages.h"

namespace cellar::host {

class OutputLog {
 public:
  OutputLog(const OutputStorage& storage, SinkOptions options);

  void AddText(Stream stream, std::string_view bytes);
  // Takes displays, results, status events, updates and clear requests.
  void AddDisplay(wire::Display display);

  void Close() { sink_->Close(); }
  bool WantsPause() const;
  bool IsSettled() const;
  bool empty() const { return empty_; }

  struct Outputs {
    std::vector<CellOutput> outputs;
    std::optional<Truncation> truncation;
  };
  Outputs Take();
  // While the cell runs on.
  Outputs SoFar();

 private:
  struct Display {
    CellOutput output;
    LargeData large;  // what `output` is without
    uint64_t bytes;   // of both
  };

  void Add(CellOutput output);
  bool HasRoomFor(uint64_t size);
  void TellFull();
  bool ReplaceShown(const wire::Display& display);
  void Clear();
  Outputs Gather(absl::FunctionRef<CellOutput(Display&)> take);

  OutputStorage storage_;
  SinkOptions options_;
  std::unique_ptr<Sink> sink_;
  std::vector<Display> displays_;  // by place in the sink
  uint64_t display_bytes_ = 0;     // of all of them
  bool is_full_ = false;           // no more are kept
  bool clear_at_next_ = false;     // clear_output(wait=True)
  bool empty_ = true;
};

}  // namespace cellar::host
