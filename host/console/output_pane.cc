#include "host/console/output_pane.h"

#include <algorithm>

#include "host/base/clock.h"
#include "host/base/fds.h"
#include "host/base/utf8.h"
#include "host/console/colours.h"
#include "host/console/text_width.h"

namespace cellar::host {
namespace {

constexpr absl::Duration kRedrawPause = absl::Milliseconds(50);

}  // namespace

void OutputPane::Begin(bool redraws) {
  redraws_ = redraws;
  lines_ = 0;
  left_out_ = 0;
  tail_.clear();
}

bool OutputPane::Write(std::string_view text) {
  if (!is_collapsed()) screen_.Erase();
  while (!text.empty() && !is_collapsed()) {
    size_t end = text.find('\n');
    end = end == std::string_view::npos ? text.size() : end + 1;
    if (!WriteHead(text.substr(0, end))) return false;
    text.remove_prefix(end);
  }
  if (text.empty()) return true;
  AddToTail(text);
  if (redraws_ && MonotonicNow() - drawn_ >= kRedrawPause) Draw({});
  return true;
}

// Straight to the terminal, which carries out returns and backspaces itself.
bool OutputPane::WriteHead(std::string_view text) {
  std::string shown;
  TakeCharacters(text, &shown);
  return WriteAll(fd_, shown);
}

void OutputPane::AddToTail(std::string_view text) {
  std::string ignored;
  TakeCharacters(text, &ignored);
}

// Follows the text as a terminal would, to know what the line under way shows. `shown` gets it
// without what makes a line too long.
void OutputPane::TakeCharacters(std::string_view text, std::string* shown) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = Utf8BorderAfter(text, at + 1);
    const std::string_view character = text.substr(at, end - at);
    at = end;
    if (character == "\n") {
      EndLine();
    } else if (character == "\r") {
      returned_ = true;
      line_characters_ = 0;
    } else if (character == "\b") {
      line_.resize(Utf8BorderBefore(line_, line_.empty() ? 0 : line_.size() - 1));
    } else {
      if (std::exchange(returned_, false)) line_.clear();
      if (++line_characters_ > options_.max_characters) {
        if (line_characters_ > options_.max_characters + 1) continue;
        line_ += "…";
        *shown += "…";
        continue;
      }
      line_ += character;
    }
    *shown += character;
  }
}

void OutputPane::EndLine() {
  if (is_collapsed()) {
    tail_.push_back(line_);
    // A line alone is not left out: the note would take as much room.
    const bool fits = left_out_ == 0 && tail_.size() <= options_.lines + 1;
    while (!fits && tail_.size() > options_.lines) {
      tail_.pop_front();
      ++left_out_;
    }
  }
  ++lines_;
  DropLine();
}

std::string OutputPane::Note() const {
  std::string note = "… " + std::to_string(left_out_) + (left_out_ == 1 ? " line" : " lines") +
                     " left out; " + options_.hint;
  return options_.colour ? Coloured(note, kDim) : note;
}

void OutputPane::Draw(const std::vector<std::string>& status) {
  drawn_ = MonotonicNow();
  const ScreenSize size = SizeOfScreen(fd_);
  Picture picture;
  if (is_collapsed()) {
    if (left_out_ > 0) picture.rows.push_back(Note());
    const auto width = static_cast<size_t>(size.columns);
    for (const std::string& line : tail_) picture.rows.push_back(CutToWidth(line, width));
    if (!line_.empty()) picture.rows.push_back(CutToWidth(line_, width));
  } else if (!line_.empty()) {
    return;  // the cursor is behind what the cell has begun to print
  }
  for (const std::string& row : status) {
    const std::string cut = CutToWidth(row, static_cast<size_t>(size.columns));
    picture.rows.push_back(options_.colour ? Coloured(cut, kDim) : cut);
  }
  if (picture.rows.empty()) return screen_.Erase();
  picture.cursor_row = picture.rows.size() - 1;
  screen_.Show(picture, size);
}

void OutputPane::OnResize() { screen_.OnResize(SizeOfScreen(fd_).columns); }

bool OutputPane::Hide() {
  screen_.Erase();
  if (!is_collapsed()) return true;
  std::string text;
  if (left_out_ > 0) text = Note() + "\n";
  for (const std::string& line : tail_) text += line + "\n";
  text += line_;
  tail_.clear();
  left_out_ = 0;
  // What is begun is on the terminal now; it is not written again when it ends.
  if (!line_.empty()) lines_ = 0;
  return WriteAll(fd_, text);
}

void OutputPane::DropLine() {
  line_.clear();
  line_characters_ = 0;
  returned_ = false;
}

std::string OutputPane::TakeLine() {
  Hide();
  if (!line_.empty()) {
    const int above = std::max(Columns(line_) - 1, 0) / SizeOfScreen(fd_).columns;
    const std::string up = above == 0 ? "" : "\x1b[" + std::to_string(above) + "A";
    WriteAll(fd_, "\r" + up + "\x1b[J");
  }
  line_characters_ = 0;
  return std::exchange(line_, "");
}

}  // namespace cellar::host
