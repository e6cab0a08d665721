#include "host/repl/painter.h"

#include <algorithm>

#include "host/console/colours.h"
#include "host/console/text_width.h"
#include "host/repl/highlight.h"

namespace cellar::host {
namespace {

constexpr std::string_view kPromptColour = "\x1b[1;32m";
constexpr std::string_view kContinuationColour = "\x1b[32m";
constexpr std::string_view kBelowColour = "\x1b[90m";
// Highlighting reads the whole text with every key; nobody types this much, and a paste that is
// longer is better quick than coloured.
constexpr size_t kMaxHighlighted = 256u << 10;

class Painter {
 public:
  Painter(const Typed& typed, int columns, bool colour)
      : typed_(typed), width_(std::max(columns, 4)), colour_(colour) {
    if (colour && typed.text.size() <= kMaxHighlighted) tokens_ = FindTokens(typed.text);
  }

  Picture Paint() {
    picture_.rows.emplace_back();
    Put(typed_.prompt, kPromptColour);
    BeginLine();
    size_t at = 0;
    while (at < typed_.text.size()) {
      MarkCursor(at);
      at += PutCharacter(at);
    }
    MarkCursor(at);
    SetColour({});
    for (const std::string& line : typed_.below) {
      picture_.rows.emplace_back();
      column_ = 0;
      Put(CutToColumns(line, width_), kBelowColour);
    }
    return std::move(picture_);
  }

 private:
  // Returns how many bytes of the text it took.
  size_t PutCharacter(size_t at) {
    const char c = typed_.text[at];
    if (c == '\n') {
      SetColour({});
      NewRow();
      Put(typed_.continuation, kContinuationColour);
      BeginLine();
      return 1;
    }
    SetColour(ColourAt(at));
    if (c == '\t') {
      const int spaces = kTabColumns - (line_columns_ % kTabColumns);
      for (int i = 0; i < spaces; ++i) PutGlyph({1, 1, " "});
      return 1;
    }
    const Glyph glyph = FirstGlyph(typed_.text.substr(at));
    PutGlyph(glyph);
    return glyph.bytes;
  }

  void PutGlyph(const Glyph& glyph) {
    if (column_ + glyph.columns > width_) Wrap();
    picture_.rows.back() += glyph.shown;
    column_ += glyph.columns;
    line_columns_ += glyph.columns;
  }

  // Prompts and what is below: their own colour, plain again after them.
  void Put(std::string_view text, std::string_view colour) {
    if (text.empty()) return;
    SetColour(colour);
    while (!text.empty()) {
      const Glyph glyph = FirstGlyph(text);
      PutGlyph(glyph);
      text.remove_prefix(glyph.bytes);
    }
    SetColour({});
  }

  void BeginLine() { line_columns_ = 0; }

  void NewRow() {
    picture_.rows.emplace_back();
    column_ = 0;
  }

  // Goes on in the next row with the same colour.
  void Wrap() {
    const std::string_view colour = current_;
    SetColour({});
    NewRow();
    SetColour(colour);
  }

  void MarkCursor(size_t at) {
    if (at != typed_.cursor) return;
    // After the last column the cursor stands where the next character will.
    if (column_ >= width_) Wrap();
    picture_.cursor_row = picture_.rows.size() - 1;
    picture_.cursor_column = column_;
  }

  std::string_view ColourAt(size_t at) {
    while (next_token_ < tokens_.size() && tokens_[next_token_].end <= at) ++next_token_;
    if (next_token_ == tokens_.size() || tokens_[next_token_].begin > at) return {};
    return ColourOf(tokens_[next_token_].kind);
  }

  void SetColour(std::string_view colour) {
    if (!colour_ || colour == current_) return;
    if (!current_.empty()) picture_.rows.back() += kReset;
    picture_.rows.back() += colour;
    current_ = colour;
  }

  const Typed& typed_;
  const int width_;
  const bool colour_;
  std::vector<Token> tokens_;
  size_t next_token_ = 0;
  Picture picture_;
  int column_ = 0;        // of the row
  int line_columns_ = 0;  // of the line of text, over all its rows
  std::string_view current_;
};

}  // namespace

Picture Paint(const Typed& typed, int columns, bool colour) {
  return Painter(typed, columns, colour).Paint();
}

}  // namespace cellar::host
