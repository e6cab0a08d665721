// A notebook as text to read and edit: each cell is a marker line, `# %% [code] cell:3`, followed
// by its source.
//
// A source line that looks like a marker has one `%` more in the text, so that the text says
// exactly what the cells are. A block that starts with `# %% [outputs]` shows what a cell printed
// and is skipped on the way back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "notebook/cell.h"
#include "notebook/document.h"
#include "notebook/span.h"

namespace cellar::notebook {

struct TextViewOptions {
  bool outputs = false;
  // Say in the markers which cell of the document it is, without which the text cannot be put back.
  bool numbers = true;
};

// Every cell's source is followed by a newline that is not part of it; an empty one is a marker
// alone.
std::string RenderText(const Document& document, const TextViewOptions& options = {});

// One cell of edited text. Sources are decoded on demand: a million of them would not fit beside
// the text.
struct TextCell {
  static constexpr uint32_t kNoOrigin = UINT32_MAX;

  Span body;
  uint32_t origin = kNoOrigin;  // the cell:N of the marker
  CellType type = CellType::kCode;
};

class EditedText {
 public:
  // Fails with the line if the text does not start with a marker. A text whose first line ends in
  // CRLF has been through an editor that did this to all lines; it is read as if they ended in LF.
  static absl::StatusOr<EditedText> Parse(std::string text);

  const std::vector<TextCell>& cells() const { return cells_; }
  std::string Source(const TextCell& cell) const;
  const std::string& text() const { return text_; }
  bool had_crlf() const { return had_crlf_; }

 private:
  EditedText() = default;

  std::string text_;
  std::vector<TextCell> cells_;
  bool had_crlf_ = false;
};

struct LineRange {
  size_t first = 1;
  size_t last = 1;  // inclusive; may lie past the end
};

// "3", "3-8", "3-", or several of them between commas.
absl::StatusOr<std::vector<LineRange>> ParseLineRanges(std::string_view ranges);
// The lines of `text`, range by range. Fails if a range starts past the end.
absl::StatusOr<std::string> SelectLines(std::string_view text,
                                        const std::vector<LineRange>& ranges);

// Every line end CRLF made LF.
std::string WithoutCarriageReturns(std::string_view text);

}  // namespace cellar::notebook
