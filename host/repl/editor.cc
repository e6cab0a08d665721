#include "host/repl/editor.h"

#include <readline/history.h>
#include <readline/readline.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "host/base/fds.h"
#include "host/base/utf8.h"
#include "host/console/terminal.h"
#include "host/console/text_width.h"
#include "host/repl/completeness.h"
#include "host/repl/edited_block.h"
#include "host/repl/history_file.h"
#include "host/repl/painter.h"
#include "host/repl/pasted_text.h"

namespace cellar::host {
namespace {

constexpr std::string_view kPasteEnd = "\x1b[201~";
constexpr std::string_view kBlank = " \t\n";

// readline's callbacks carry no context.
Editor* g_editor = nullptr;

// A cell that comes from the history as it is was whole when it was entered.
bool IsRecalled(std::string_view text) {
  const HIST_ENTRY* entry = current_history();
  return entry != nullptr && text == entry->line;
}

bool IsWhole(const std::string& text, size_t cursor) {
  if (IsRecalled(text)) return true;
  // In the middle of a block Enter does not ask for the blank line that ends one.
  const bool at_last_line = text.find('\n', cursor) == std::string::npos;
  return !NeedsMoreLines(text + (at_last_line ? "\n" : "\n\n"));
}

}  // namespace

// The signatures are readline's: a repeat count, and the key.
struct Editor::Keys {
  static int Enter(int count, int key) {
    if (!g_editor->can_paint_) return rl_newline(count, key);
    if (g_editor->style_.is_cell &&
        !IsWhole(std::string(EditedText()), static_cast<size_t>(rl_point))) {
      return NewLine(count, key);
    }
    g_editor->Finish();
    return 0;
  }

  static int NewLine(int, int) {
    if (g_editor->style_.is_cell) BreakLine();
    return 0;
  }

  static int Up(int count, int key) {
    if (MoveUp() || !g_editor->style_.is_cell) return 0;
    return rl_get_previous_history(count, key);
  }

  static int Down(int count, int key) {
    if (MoveDown() || !g_editor->style_.is_cell) return 0;
    return rl_get_next_history(count, key);
  }

  static int Rubout(int count, int key) {
    return count == 1 && RuboutIndentation() ? 0 : rl_rubout(count, key);
  }

  static int Delete(int count, int key) {
    if (rl_point < rl_end) return rl_delete(count, key);
    g_editor->listener_.OnEndOfInput(/*has_text=*/true);
    return 0;
  }

  static int Tab(int, int) {
    if (!g_editor->style_.is_cell) return rl_insert_text("\t");
    if (!InIndentation()) {
      g_editor->listener_.OnTab(std::string(EditedText()), static_cast<size_t>(rl_point));
      return 0;
    }
    Indent();
    return 0;
  }

  // Keys that need nothing but the text.
  template <void (*edit)()>
  static int Edit(int, int) {
    edit();
    return 0;
  }

  static int ClearScreen(int, int) {
    WriteAll(STDOUT_FILENO, "\x1b[H\x1b[2J");
    g_editor->screen_.Forget();
    return 0;
  }

  static int BeginPaste(int, int) {
    g_editor->is_pasting_ = true;
    return 0;
  }

  static int NextByte(FILE*) { return g_editor->NextByte(); }
  static int HasByte() { return g_editor->keys_.empty() ? 0 : 1; }
  static void Redisplay() { g_editor->OnRedisplay(); }
  static void OnLine(char* line) {
    g_editor->OnLine(line);
    std::free(line);
  }
};

Editor::Editor(EditorListener& listener, bool can_paint, bool colour)
    : listener_(listener), can_paint_(can_paint), colour_(colour), screen_(STDOUT_FILENO) {
  g_editor = this;
  UseUtf8();
  // readline sets the locale anew with every line, from the variables and not from what it is. What
  // cells get of the environment was read before.
  setenv("LC_ALL", setlocale(LC_CTYPE, nullptr), /*overwrite=*/1);
  rl_readline_name = "cellar";
  // The terminal's mode and its signals are the prompt's business.
  rl_catch_signals = 0;
  rl_catch_sigwinch = 0;
  rl_change_environment = 0;
  rl_prep_term_function = [](int) {};
  rl_deprep_term_function = [] {};
  rl_getc_function = Keys::NextByte;
  rl_input_available_hook = Keys::HasByte;
  if (can_paint_) rl_redisplay_function = Keys::Redisplay;
  rl_initialize();
  rl_tty_set_echoing(1);
  const ScreenSize size = SizeOfScreen(STDOUT_FILENO);
  rl_set_screen_size(size.rows, size.columns);
  using_history();
  stifle_history(static_cast<int>(HistoryFile::kMaxCells));
  Bind();
}

Editor::~Editor() {
  if (is_open_) rl_callback_handler_remove();
  g_editor = nullptr;
}

// Whatever keys the user's inputrc has for a function of readline, ours gets them.
void Editor::Bind() {
  const auto replace = [](rl_command_func_t* theirs, rl_command_func_t* ours) {
    char** keys = rl_invoking_keyseqs(theirs);
    for (char** key = keys; key != nullptr && *key != nullptr; ++key) {
      rl_bind_keyseq(*key, ours);
      std::free(*key);
    }
    std::free(keys);
  };
  replace(rl_newline, Keys::Enter);
  replace(rl_complete, Keys::Tab);
  if (!can_paint_) return;
  replace(rl_get_previous_history, Keys::Up);
  replace(rl_get_next_history, Keys::Down);
  replace(rl_beg_of_line, Keys::Edit<MoveToStart>);
  replace(rl_end_of_line, Keys::Edit<MoveToEnd>);
  replace(rl_kill_line, Keys::Edit<KillToEnd>);
  replace(rl_unix_line_discard, Keys::Edit<KillToStart>);
  replace(rl_rubout, Keys::Rubout);
  replace(rl_clear_screen, Keys::ClearScreen);
  replace(rl_clear_display, Keys::ClearScreen);
  rl_bind_keyseq("\\C-d", Keys::Delete);
  rl_bind_keyseq("\\e\\C-m", Keys::NewLine);
  rl_bind_keyseq("\\e\\C-j", Keys::NewLine);
  rl_bind_keyseq("\\e[Z", Keys::Edit<Outdent>);
  rl_bind_keyseq("\\e[200~", Keys::BeginPaste);
}

void Editor::ClearHistory() { clear_history(); }

void Editor::AddHistory(const std::string& cell) {
  const HIST_ENTRY* last = history_get(history_base + history_length - 1);
  if (last == nullptr || cell != last->line) add_history(cell.c_str());
}

void Editor::Open(EditStyle style) {
  style_ = std::move(style);
  is_open_ = true;
  is_suspended_ = false;
  below_.clear();
  if (!can_paint_ && style_.is_hidden) rl_redisplay_function = [] {};
  rl_callback_handler_install((lines_.empty() ? style_.prompt : style_.continuation).c_str(),
                              Keys::OnLine);
  if (!can_paint_ && style_.is_hidden) WriteAll(STDOUT_FILENO, style_.prompt);
  if (!is_feeding_) Feed("");
}

void Editor::SetPrompt(const std::string& prompt, const std::string& continuation) {
  if (!is_open_ || prompt == style_.prompt) return;
  style_.prompt = prompt;
  style_.continuation = continuation;
  rl_set_prompt((lines_.empty() ? prompt : continuation).c_str());
  if (can_paint_) Paint();
}

void Editor::Close() {
  if (!std::exchange(is_open_, false)) return;
  lines_.clear();
  below_.clear();
  rl_callback_handler_remove();
  if (!can_paint_) rl_redisplay_function = rl_redisplay;
  if (is_suspended_) return;
  can_paint_ ? screen_.Leave() : (void)WriteAll(STDOUT_FILENO, "\n");
}

void Editor::Feed(std::string_view bytes) {
  keys_ += bytes;
  is_feeding_ = true;
  while (is_open_ && !keys_.empty()) {
    if (is_pasting_) {
      if (!TakePaste()) break;
    } else {
      TakeKey();
    }
  }
  is_feeding_ = false;
  if (needs_paint_ && is_open_) Paint();
}

void Editor::TakeKey() {
  if (!below_.empty()) {
    below_.clear();
    needs_paint_ = true;
  }
  rl_callback_read_char();
}

// False while the end of the paste has not come yet.
bool Editor::TakePaste() {
  const size_t end = keys_.find(kPasteEnd);
  if (end == std::string::npos) return false;
  std::string text = CleanPaste(std::string_view(keys_).substr(0, end));
  std::erase(text, '\0');  // a text of readline's ends there
  keys_.erase(0, end + kPasteEnd.size());
  is_pasting_ = false;
  if (!style_.is_cell) std::ranges::replace(text, '\n', ' ');
  rl_begin_undo_group();
  rl_insert_text(text.c_str());
  rl_end_undo_group();
  needs_paint_ = true;
  return true;
}

int Editor::NextByte() {
  if (keys_.empty()) {
    // A command that wants its argument at once, as some of vi mode do.
    return rl_getc(stdin);
  }
  const auto byte = static_cast<unsigned char>(keys_.front());
  keys_.erase(0, 1);
  return byte;
}

// The cell is whole: shown once more without what is blank at its end, and handed over.
void Editor::Finish() {
  const size_t last = EditedText().find_last_not_of(style_.is_cell ? kBlank : std::string_view());
  const int end =
      last == std::string_view::npos ? (style_.is_cell ? 0 : rl_end) : static_cast<int>(last) + 1;
  rl_delete_text(end, rl_end);
  rl_point = rl_end;
  below_.clear();
  is_feeding_ = false;
  Paint();
  is_feeding_ = true;
  rl_done = 1;
}

void Editor::OnLine(const char* line) {
  if (line == nullptr) {
    // readline has given up the line; it is open again unless the listener closes it.
    listener_.OnEndOfInput(/*has_text=*/!lines_.empty());
    if (is_open_ && !can_paint_) WriteAll(STDOUT_FILENO, "\n");
    return;
  }
  std::string text = lines_ + line;
  if (!can_paint_ && style_.is_cell && NeedsMoreLines(text + "\n")) {
    lines_ = text + "\n";
    rl_set_prompt(style_.continuation.c_str());
    return;
  }
  is_suspended_ = !can_paint_ && !style_.is_hidden;  // readline has left the line it has shown
  Close();
  listener_.OnEntered(ReplaceInvalidUtf8(text));
}

void Editor::Abandon() {
  if (!is_open_) return;
  rl_callback_sigcleanup();  // ends a search
  rl_point = rl_end;
  below_.clear();
  is_pasting_ = false;
  keys_.clear();
  if (can_paint_) Paint();
  EditStyle style = style_;
  Close();
  rl_replace_line("", /*clear_undo=*/1);
  Open(std::move(style));
}

void Editor::Suspend() {
  if (!is_open_ || std::exchange(is_suspended_, true)) return;
  if (can_paint_) return screen_.Erase();
  WriteAll(STDOUT_FILENO, "\n");
}

void Editor::Resume() {
  if (!is_open_ || !std::exchange(is_suspended_, false)) return;
  Repaint();
}

void Editor::Repaint() {
  if (!is_open_) return;
  if (can_paint_) return Paint();
  rl_on_new_line();
  rl_redisplay();
}

void Editor::OnResize() {
  const ScreenSize size = SizeOfScreen(STDOUT_FILENO);
  rl_set_screen_size(size.rows, size.columns);
  if (!is_open_ || is_suspended_ || !can_paint_) return;
  screen_.OnResize(size.columns);
  Paint();
}

void Editor::ShowBelow(std::vector<std::string> lines) {
  if (!is_open_) return;
  if (can_paint_) {
    below_ = std::move(lines);
    return Paint();
  }
  Suspend();
  for (const std::string& line : lines) WriteAll(STDOUT_FILENO, line + "\n");
  Resume();
}

void Editor::Replace(size_t start, size_t end, const std::string& text) {
  if (!is_open_ || start > end || end > EditedText().size()) return;
  rl_begin_undo_group();
  rl_delete_text(static_cast<int>(start), static_cast<int>(end));
  rl_point = static_cast<int>(start);
  rl_insert_text(text.c_str());
  rl_end_undo_group();
  Repaint();
}

std::string Editor::text() const { return lines_ + std::string(is_open_ ? EditedText() : ""); }

// readline's message is gone when it returns.
void Editor::OnRedisplay() {
  const bool has_message = rl_display_prompt != nullptr && rl_display_prompt != rl_prompt;
  message_ = has_message ? rl_display_prompt : "";
  Paint();
}

// While keys are waiting there is no use in showing what they will change.
void Editor::Paint() {
  needs_paint_ = true;
  if (is_feeding_ || is_suspended_) return;
  needs_paint_ = false;
  const std::string hidden(style_.is_hidden ? "" : EditedText());
  const Typed typed = {.text = hidden,
                       .cursor = style_.is_hidden ? 0 : static_cast<size_t>(rl_point),
                       .prompt = message_.empty() ? style_.prompt : message_,
                       .continuation = style_.continuation,
                       .below = below_};
  const ScreenSize size = SizeOfScreen(STDOUT_FILENO);
  screen_.Show(cellar::host::Paint(typed, size.columns, colour_ && style_.is_cell), size);
}

}  // namespace cellar::host
