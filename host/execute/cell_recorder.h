// The outputs of one cell as a notebook keeps them: text raw and joined where the same stream goes
// on, displays in between, an error at the end. Bounded whatever the cell writes; what is left out
// is said in its place. Knows nothing of JSON and of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/output/stream.h"
#include "host/session/outcome.h"
#include "host/wire/channel_messages.h"

namespace cellar::host {

struct RecordedOutput {
  enum class Kind : uint8_t { kStream, kDisplay, kResult, kError };
  Kind kind = Kind::kStream;
  Stream stream = Stream::kStdout;
  std::string text;                   // of a stream: bytes as the cell wrote them
  std::vector<wire::MimeEntry> data;  // of displays and results
  std::string metadata;               // JSON object, or empty
  std::string display_id;
  CellError error;
};

class CellRecorder {
 public:
  // Text that a cell may have in a notebook: from its start, and from its end.
  static constexpr size_t kHeadBytes = size_t{8} << 20;
  static constexpr size_t kTailBytes = size_t{2} << 20;
  static constexpr size_t kDisplayBytes = size_t{128} << 20;

  void AddText(Stream stream, std::string_view bytes);
  // Takes displays, results and clear requests; status events are not outputs of a notebook.
  void AddDisplay(const wire::Display& display);
  void AddDisplay(CellOutput output);
  void AddError(CellError error);

  // Replaces what the outputs with this id show. False if there are none.
  bool Update(const std::string& display_id, const std::vector<wire::MimeEntry>& data,
              const std::string& metadata);
  // True if a later cell may update an output.
  bool HasDisplayIds() const;

  // `artifact` is where all of the text is, if anywhere; it is named where text is left out.
  std::vector<RecordedOutput> Outputs(const std::string& artifact) const;

 private:
  void Add(RecordedOutput output);
  void Clear();
  void ClearIfAsked();
  void TrimTail();

  std::vector<RecordedOutput> outputs_;
  size_t head_bytes_ = 0;
  // Where text went beyond the head: outputs_[tail_begin_] is the first of the tail.
  bool has_tail_ = false;
  size_t tail_begin_ = 0;
  size_t tail_bytes_ = 0;
  uint64_t omitted_bytes_ = 0;  // between head and tail
  size_t display_bytes_ = 0;
  size_t omitted_displays_ = 0;
  bool clear_at_next_ = false;  // clear_output(wait=True)
};

}  // namespace cellar::host
