// The outputs of one cell in their order: text through a Sink, displays and results beside it.
// Knows clear_output and update_display; knows nothing of workers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "host/output/sink.h"
#include "host/session/large_data.h"
#include "host/session/outcome.h"
#include "host/wire/channel_messages.h"

namespace cellar::host {

class OutputLog {
 public:
  OutputLog(const OutputStorage& storage, SinkOptions options, uint64_t result_room = kResultRoom);

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
  // What Take() would give now; the cell runs on.
  Outputs SoFar();

 private:
  // What displays take up.
  struct Totals {
    uint64_t bytes = 0;         // of their data, as it came
    uint64_t inline_bytes = 0;  // of these, in the result
    uint64_t name_bytes = 0;    // of what is beside the data, and cannot be in a file
  };

  struct Display {
    CellOutput output;
    LargeData large;      // what `output` is without
    Totals totals;        // for one that shows it
    uint32_t source = 0;  // the place whose data it shows: its own, or the first of its id
    size_t shows = 1;     // how many show its data
  };

  void Add(CellOutput output);
  bool ReplaceShown(wire::Display& display);
  // For an output that `shows` displays show, beside what the others take up.
  bool HasRoomFor(const CellOutput& output, size_t shows, const Totals& others) const;
  void Fill(Display& shown);
  void TellFull();
  void Clear();
  Outputs Gather(absl::FunctionRef<CellOutput(Display&)> take);

  OutputStorage storage_;
  SinkOptions options_;
  uint64_t result_room_;
  std::unique_ptr<Sink> sink_;
  std::vector<Display> displays_;  // by place in the sink
  // By id. An update is held once, however many displays have its id.
  std::map<std::string, std::vector<uint32_t>> places_;
  Totals totals_;
  std::map<CellOutput::Type, size_t> counts_;
  uint64_t events_left_out_ = 0;
  bool is_full_ = false;        // no more displays are kept
  bool clear_at_next_ = false;  // clear_output(wait=True)
  bool empty_ = true;
};

}  // namespace cellar::host
