// Where the output of one cell goes: it makes the text that the result shows and sees to it that
// what the text leaves out is in an artifact. It does not read from the worker and does not word
// the result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/output/artifacts.h"
#include "host/output/line_clamp.h"
#include "host/output/output_window.h"
#include "host/output/sanitiser.h"
#include "host/output/spill_writer.h"
#include "host/output/stream.h"
#include "host/output/truncation.h"

namespace cellar::host {

struct SinkOptions {
  size_t budget_bytes = 50 * 1024;    // of text in the result, marks not counted
  size_t head_bytes = 20 * 1024;      // of those at the start, the rest at the end
  size_t max_line_characters = 4000;  // 0: lines are not cut
  uint64_t max_artifact_bytes = uint64_t{1} << 30;
  // Of one image or other data of a display, which do not pass through the sink; larger ones become
  // artifacts of their own. 0: none do.
  size_t max_inline_bytes = size_t{1} << 20;
  // Called on any thread when WantsPause() or IsSettled() may have changed. May only post: see
  // Spill.
  std::function<void()> on_progress;
};

struct OutputPiece {
  enum class Kind : uint8_t {
    kText,   // stream, text
    kMark,   // text: says what is left out here, a line of its own; at most one
    kPlace,  // place
  };
  Kind kind = Kind::kText;
  Stream stream = Stream::kStdout;
  std::string text;
  uint32_t place = 0;
};

struct SinkOutput {
  // In the order they were written; adjacent text of one stream is one piece.
  std::vector<OutputPiece> pieces;
  std::optional<Truncation> truncation;
};

// Where the whole output is, or what there is of it.
std::string Whereabouts(const Truncation& truncation);

// Lines are split at newlines; when the other stream or a place comes in the middle of a line, the
// part before it stands as it is. Memory is bounded whatever is written: budget, one line under
// way, and what waits for the disk (see Spill). Used by one thread; nothing blocks. `writer` and
// `store` outlive it.
class Sink {
 public:
  Sink(SpillWriter* writer, const ArtifactStore* store, SinkOptions options);

  // Takes any bytes. Not after Close.
  void Write(Stream stream, std::string_view bytes);

  // Something that is not text of a stream (a display) comes here; it returns as a piece of its
  // own. The caller limits how many there are.
  void Place(uint32_t place);

  // The cell has ended. Without it the destructor removes the artifact.
  void Close();

  // The disk cannot keep up: stop reading from the worker until on_progress, then ask again.
  bool WantsPause() const;

  // Closed, and nothing waits for the disk: Output() is final. One that never settles (the disk
  // hangs) can be taken after a deadline; it then says that bytes are not yet written.
  bool IsSettled() const;

  // What there is so far, at any time.
  SinkOutput Output() const;

 private:
  static size_t Index(Stream stream) { return stream == Stream::kStdout ? 0 : 1; }
  void WriteBlock(Stream stream, std::string_view bytes);
  void SwitchTo(Stream stream);
  void EndLine();
  void FinishStream(Stream stream);
  void SpillIfNeeded();
  bool LeavesOut() const { return clamp_.has_cut() || window_.HasGap(); }
  Truncation CountTruncation(const std::vector<OutputWindow::Item>& items) const;

  SpillWriter* writer_;
  const ArtifactStore* store_;
  SinkOptions options_;
  std::array<Sanitiser, 2> sanitisers_;  // one for each stream
  Stream current_ = Stream::kStdout;     // the only stream with a line under way
  LineClamp clamp_;
  OutputWindow window_;
  std::string text_;  // scratch
  std::string raw_;   // all of the output, until there is a spill
  uint64_t total_bytes_ = 0;
  std::optional<Spill> spill_;
  bool is_closed_ = false;
};

}  // namespace cellar::host
