// The data of one display that a result is not to carry: images, JSON and the like beyond a size,
// and whatever the cell's result has no room for, on their way into artifacts. Knows nothing of
// text that is printed: that is the sink's.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
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

// The extension for a file that holds the data.
std::string_view ExtensionOf(const wire::MimeEntry& entry);

class LargeData {
 public:
  // What the cell can still take.
  struct Room {
    uint64_t inline_bytes;   // of data in the result
    uint64_t waiting_bytes;  // of data that is in memory until it is in a file
    size_t files;
  };

  LargeData() = default;
  // Takes out of `bundle` what is too large, or has no room, and begins to write it. Of the entry
  // that makes the text of the transcript the start stays. `storage` outlives it.
  LargeData(const OutputStorage& storage, const SinkOptions& options, Room room,
            std::vector<wire::MimeEntry>& bundle);
  LargeData(LargeData&&) = default;
  // Removes what was written, except where PutInto has said that it is there.
  LargeData& operator=(LargeData&& other) noexcept;
  ~LargeData();

  bool WantsPause() const;
  // All is written, or could not be.
  bool IsSettled() const;
  size_t file_count() const { return parts_.size(); }
  // Frees the memory of what is written, and of what could not be and is larger than `room`, from
  // which it takes the rest. Returns how much waits to be written.
  uint64_t Release(uint64_t& room);

  // Says in `output` where the data is. Puts back what is not, or not yet, in a file, as far as
  // there is room.
  void PutInto(CellOutput& output, uint64_t& room);

 private:
  struct Part {
    wire::MimeEntry entry;  // its data is gone once it is written
    uint64_t bytes;
    std::unique_ptr<Spill> spill;  // null: there is no room for it anywhere
    bool is_told = false;          // somebody knows the file
  };

  void Discard();
  void Write(const OutputStorage& storage, const SinkOptions& options, wire::MimeEntry entry,
             Room& room);

  std::vector<Part> parts_;
};

}  // namespace cellar::host
