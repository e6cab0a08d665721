#include "host/console/block_screen.h"

#include <algorithm>

#include "host/base/fds.h"
#include "host/console/text_width.h"

namespace cellar::host {
namespace {

constexpr std::string_view kEraseLine = "\x1b[K";
constexpr std::string_view kEraseBelow = "\x1b[J";
// Without these, the cursor is seen running over the rows.
constexpr std::string_view kHideCursor = "\x1b[?25l";
constexpr std::string_view kShowCursor = "\x1b[?25h";

std::string Move(size_t count, char direction) {
  return count == 0 ? "" : "\x1b[" + std::to_string(count) + direction;
}

// Of a row as the painter makes it, whose only escape sequences are colours.
int ColumnsOfRow(std::string_view row) {
  std::string plain;
  while (!row.empty()) {
    const size_t escape = std::min(row.find('\x1b'), row.size());
    plain += row.substr(0, escape);
    row.remove_prefix(escape);
    if (!row.empty()) row.remove_prefix(std::min(row.find('m'), row.size() - 1) + 1);
  }
  return Columns(plain);
}

}  // namespace

void BlockScreen::Show(const Picture& picture, ScreenSize size) {
  const auto height = static_cast<size_t>(std::max(size.rows, 1));
  const size_t count = std::min(picture.rows.size(), height);
  // Around the cursor, and as much of what follows as there is room for.
  size_t top = picture.cursor_row + 1 > count ? picture.cursor_row + 1 - count : 0;
  std::vector<std::string> rows(picture.rows.begin() + static_cast<ptrdiff_t>(top),
                                picture.rows.begin() + static_cast<ptrdiff_t>(top + count));

  std::string out(kHideCursor);
  out += ToFirstRow();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i > 0) out += "\r\n";
    if (i < rows_.size() && rows_[i] == rows[i]) continue;
    out += rows[i];
    // A full row leaves the cursor on its last character, which erasing would take.
    if (ColumnsOfRow(rows[i]) < size.columns) out += kEraseLine;
  }
  if (rows_.size() > rows.size()) {
    out += "\r\n";
    out += kEraseBelow;
    out += Move(1, 'A');
  }
  const size_t cursor_row = picture.cursor_row - top;
  out += Move(rows.size() - 1 - cursor_row, 'A');
  out += '\r';
  out += Move(static_cast<size_t>(picture.cursor_column), 'C');
  out += kShowCursor;
  rows_ = std::move(rows);
  cursor_row_ = cursor_row;
  cursor_column_ = picture.cursor_column;
  WriteAll(fd_, out);
}

void BlockScreen::Erase() {
  if (rows_.empty()) return;
  WriteAll(fd_, ToFirstRow() + std::string(kEraseBelow));
  Forget();
}

void BlockScreen::Leave() {
  if (rows_.empty()) return;
  WriteAll(fd_, Move(rows_.size() - 1 - cursor_row_, 'B') + "\r\n");
  Forget();
}

// Terminals of today break rows that have become too long into several, so the block's first row
// is further up than it was.
void BlockScreen::OnResize(int columns) {
  if (rows_.empty()) return;
  const int width = std::max(columns, 1);
  auto above = static_cast<size_t>(cursor_column_ / width);
  for (size_t i = 0; i < cursor_row_; ++i) {
    above += static_cast<size_t>(std::max(0, ColumnsOfRow(rows_[i]) - 1) / width + 1);
  }
  cursor_row_ = above;
  Erase();
}

void BlockScreen::Forget() {
  rows_.clear();
  cursor_row_ = 0;
}

std::string BlockScreen::ToFirstRow() const { return "\r" + Move(cursor_row_, 'A'); }

}  // namespace cellar::host
