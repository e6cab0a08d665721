// Edits a cell as a block, or a line, on the terminal. Keys, kill ring, undo, inputrc and history
// search are GNU readline's; what is on the screen is ours (painter.h), but for terminals that
// cannot move the cursor, where readline shows one line at a time.
//
// Gets its keys from Feed, so it does not block; only a command that wants another key at once, as
// some of vi mode do, waits for the terminal. There is one terminal and readline has global state:
// one editor at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "host/console/block_screen.h"

namespace cellar::host {

class EditorListener {
 public:
  virtual ~EditorListener() = default;
  // Enter, at the end of a whole cell or of a line. The editor is closed.
  virtual void OnEntered(std::string text) = 0;
  // Ctrl-D at the end of what is typed. The editor is still open.
  virtual void OnEndOfInput(bool has_text) = 0;
  // Tab after something that could be completed; `cursor` counts bytes.
  virtual void OnTab(std::string text, size_t cursor) = 0;
};

struct EditStyle {
  std::string prompt;
  std::string continuation;  // before the second line and those after it
  bool is_cell = true;       // several lines, highlighted, with history; otherwise one plain line
  bool is_hidden = false;    // what is typed is not shown
};

class Editor {
 public:
  // `can_paint`: the terminal understands cursor movement.
  Editor(EditorListener& listener, bool can_paint, bool colour);
  ~Editor();
  Editor(const Editor&) = delete;

  void ClearHistory();
  void AddHistory(const std::string& cell);

  // Shows the prompt. Keys that were fed before are taken now.
  void Open(EditStyle style);
  // What is typed stays.
  void SetPrompt(const std::string& prompt, const std::string& continuation);
  // Leaves what is typed on the screen, and forgets it.
  void Close();
  bool is_open() const { return is_open_; }

  // What the user typed, as the terminal sent it.
  void Feed(std::string_view bytes);
  void DropKeys() { keys_.clear(); }

  // Ctrl-C: a fresh prompt.
  void Abandon();

  // The block is taken off the screen while something else is written in its place.
  void Suspend();
  void Resume();

  void OnResize();
  // The screen shows something else, or nothing: after a stop, say.
  void Repaint();

  // Lines under the block, until the next key.
  void ShowBelow(std::vector<std::string> lines);
  // Puts `text` in the place of the bytes from `start` to `end`.
  void Replace(size_t start, size_t end, const std::string& text);
  std::string text() const;

 private:
  struct Keys;  // the functions that keys are bound to

  void Bind();
  void OnRedisplay();
  void Paint();
  bool TakePaste();
  void TakeKey();
  void OnLine(const char* line);
  void Finish();
  int NextByte();

  EditorListener& listener_;
  const bool can_paint_;
  const bool colour_;
  BlockScreen screen_;
  EditStyle style_;
  bool is_open_ = false;
  bool is_suspended_ = false;
  bool is_feeding_ = false;
  bool needs_paint_ = false;
  bool is_pasting_ = false;
  std::string message_;  // of readline, in the prompt's place: what is searched for, say
  std::string keys_;     // fed, and not taken yet
  std::string lines_;    // of the cell, before the line that readline has; only without painting
  std::vector<std::string> below_;
};

}  // namespace cellar::host
