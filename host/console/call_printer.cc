#include "host/console/call_printer.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "host/base/fds.h"
#include "host/output/mime_text.h"
#include "host/output/printable.h"

namespace cellar::host {
namespace {

constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kReset = "\x1b[0m";

std::string TextOf(const std::vector<wire::MimeEntry>& bundle) {
  std::vector<MimeData> entries;
  entries.reserve(bundle.size());
  for (const wire::MimeEntry& entry : bundle) entries.push_back({entry.mime, entry.data});
  return TranscriptText(entries).value_or("");
}

// "[image/png, 12.3 KB]" for what text cannot show.
std::string ImagesOf(const std::vector<wire::MimeEntry>& bundle) {
  std::string text;
  for (const wire::MimeEntry& entry : bundle) {
    if (!entry.mime.starts_with("image/")) continue;
    char size[32];
    std::snprintf(size, sizeof(size), ", %.1f KB]", static_cast<double>(entry.data.size()) / 1024);
    text += (text.empty() ? "[" : " [") + Printable(entry.mime) + size;
  }
  return text;
}

}  // namespace

CallPrinter::CallPrinter(std::function<void()> on_reader_gone)
    : out_{STDOUT_FILENO, IsTerminal(STDOUT_FILENO), WantsColour(STDOUT_FILENO)},
      err_{STDERR_FILENO, IsTerminal(STDERR_FILENO), WantsColour(STDERR_FILENO)},
      on_reader_gone_(std::move(on_reader_gone)) {}

void CallPrinter::OnText(Stream stream, std::string_view text) {
  Print(stream == Stream::kStdout ? out_ : err_, text);
}

void CallPrinter::OnDisplay(const wire::Display& display) {
  if (display.kind == wire::DisplayKind::kStatus || display.kind == wire::DisplayKind::kClear)
    return;
  std::string images = ImagesOf(display.data);
  if (std::string text = TextOf(display.data); !text.empty()) PrintLine(out_, text);
  if (!images.empty()) PrintLine(out_, images, kDim);
}

void CallPrinter::OnCellFinished(size_t, const CellResult& result) {
  const CellOutcome& outcome = result.outcome;
  if (outcome.error) {
    std::string text = Printable(outcome.error->traceback);
    if (outcome.death) text += Printable(outcome.error->ename + ": " + outcome.error->evalue);
    PrintLine(err_, text, kRed);
  }
  for (const std::string& notice : outcome.notices) {
    PrintLine(err_, "cellar: " + Printable(notice), kDim);
  }
  if (!outcome.state_detail.empty()) {
    PrintLine(err_, "cellar: " + Printable(outcome.state_detail), kDim);
  }
}

void CallPrinter::EndLine() {
  if (!out_.at_line_start) Print(out_, "\n");
}

void CallPrinter::Print(Side& side, std::string_view text) {
  if (text.empty()) return;
  // The two streams share a terminal, and so the line.
  out_.at_line_start = err_.at_line_start = text.back() == '\n';
  side.is_terminal ? Write(side, side.filter.Filter(text)) : Write(side, text);
}

void CallPrinter::Write(Side& side, std::string_view text) {
  if (WriteAll(side.fd, text) || side.fd != STDOUT_FILENO || !on_reader_gone_) return;
  std::exchange(on_reader_gone_, nullptr)();
}

void CallPrinter::PrintLine(Side& side, std::string_view text, std::string_view colour) {
  std::string line;
  if (!side.at_line_start && side.is_terminal) line += '\n';
  while (text.ends_with('\n')) text.remove_suffix(1);
  bool coloured = side.has_colour && !colour.empty();
  if (coloured) line += colour;
  line += text;
  if (coloured) line += kReset;
  line += '\n';
  out_.at_line_start = err_.at_line_start = true;
  Write(side, line);
}

}  // namespace cellar::host
