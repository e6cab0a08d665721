// The data of one display that a result is not to carry: images, JSON and the like beyond a size,
// on their way into artifacts. What cannot be saved stays in the result. Knows nothing of text that
// is printed: that is the sink's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host/output/sink.h"
#include "host/session/outcome.h"
#include "host/wire/channel_messages.h"

namespace cellar::host {

// Where the complete output goes that a result has no room for.
struct OutputStorage {
  SpillWriter* writer;
  ArtifactStore artifacts;
};

class LargeData {
 public:
  LargeData() = default;
  // Takes what is too large out of `bundle` and begins to write it. The entry that makes the text
  // of the transcript stays. `storage` outlives it.
  LargeData(const OutputStorage& storage, const SinkOptions& options,
            std::vector<wire::MimeEntry>& bundle);
  LargeData(LargeData&&) = default;
  // Removes what was written, except where PutInto has said that it is there.
  LargeData& operator=(LargeData&& other) noexcept;
  ~LargeData();

  bool WantsPause() const;
  // All is written, or could not be.
  bool IsSettled() const;
  // Frees the memory of what is written; returns how much there still is.
  size_t ReleaseWritten();

  // Says in `output` where the data is; puts back what is not, or not yet, in a file.
  void PutInto(CellOutput& output);

 private:
  struct Part {
    wire::MimeEntry entry;  // its data is gone once it is written
    uint64_t bytes;
    std::unique_ptr<Spill> spill;
    bool is_told = false;  // somebody knows the file
  };

  void Discard();

  std::vector<Part> parts_;
};

}  // namespace cellar::host
