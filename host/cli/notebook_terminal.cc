#include "host/cli/notebook_terminal.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "host/console/colours.h"
#include "host/console/terminal.h"
#include "host/output/printable.h"
#include "notebook/marker.h"

namespace cellar::host {
namespace {

constexpr size_t kPreviewLines = 20;

// Calls `line_to_text` with each line, without its newline, and joins what it returns.
template <typename LineToText>
std::string ForEachLine(std::string_view text, LineToText line_to_text) {
  std::string result;
  while (!text.empty()) {
    const size_t newline = std::min(text.find('\n'), text.size());
    result += line_to_text(text.substr(0, newline));
    if (newline < text.size()) result += '\n';
    text.remove_prefix(std::min(newline + 1, text.size()));
  }
  return result;
}

}  // namespace

NotebookTerminal NotebookTerminal::OfStdout() {
  return NotebookTerminal(IsTerminal(STDOUT_FILENO), WantsColour(STDOUT_FILENO));
}

NotebookTerminal::NotebookTerminal(bool is_terminal, bool has_colour)
    : is_terminal_(is_terminal), has_colour_(has_colour) {}

std::string NotebookTerminal::CellText(std::string_view text) const {
  if (!is_terminal_) return std::string(text);
  bool in_outputs = false;
  return ForEachLine(text, [&](std::string_view line) {
    const std::optional<notebook::Marker> marker = notebook::ParseMarker(line);
    if (marker && marker->percents == 2) {
      in_outputs = !marker->type;
      return Line(line, in_outputs ? kDim : kBoldCyan);
    }
    return Line(line, in_outputs ? kDim : "");
  });
}

std::string NotebookTerminal::Diff(std::string_view diff) const {
  if (!is_terminal_) return std::string(diff);
  return ForEachLine(diff, [&](std::string_view line) {
    const char first = line.empty() ? ' ' : line[0];
    return Line(line, first == '+' ? kGreen : first == '-' ? kRed : first == '@' ? kDim : "");
  });
}

std::string NotebookTerminal::Preview(notebook::CellType type, std::string_view source) const {
  size_t lines = 0;
  size_t more = 0;
  std::string preview = ForEachLine(source, [&](std::string_view line) -> std::string {
    if (++lines > kPreviewLines) {
      ++more;
      return "";
    }
    const bool is_heading = type == notebook::CellType::kMarkdown && line.starts_with('#');
    return "  " + Line(line, is_heading ? kBold : "");
  });
  preview.erase(preview.find_last_not_of('\n') + 1);
  if (more > 0) preview += "\n  " + Line("… " + std::to_string(more) + " more lines", kDim);
  return preview.empty() ? "" : preview + "\n";
}

std::string NotebookTerminal::Plain(std::string_view text) const {
  return is_terminal_ ? WithUnwantedEscaped(text) : std::string(text);
}

std::string NotebookTerminal::Line(std::string_view line, std::string_view colour) const {
  const std::string shown = Plain(line);
  return has_colour_ && !colour.empty() ? Coloured(shown, colour) : shown;
}

void WriteToStdout(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void WriteToPager(std::string_view text) {
  constexpr int kCannotRun = 126;  // of a shell; 127 when it does not find the program
  const char* named = std::getenv("PAGER");
  FILE* pager = popen(named != nullptr && *named != '\0' ? named : "less -R", "w");
  if (pager == nullptr) return WriteToStdout(text);
  std::fwrite(text.data(), 1, text.size(), pager);
  const int status = pclose(pager);
  if (WIFEXITED(status) && WEXITSTATUS(status) >= kCannotRun) WriteToStdout(text);
}

}  // namespace cellar::host
