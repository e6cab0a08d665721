#include "host/repl/source_answer.h"

#include <unistd.h>

#include <utility>

#include "host/base/fds.h"
#include "host/console/terminal.h"
#include "host/output/printable.h"
#include "host/repl/highlight.h"

namespace cellar::host {
namespace {

// More than any source that is told.
constexpr size_t kMaxBytes = size_t{1} << 20;

// "NAME??", or "??NAME".
bool AsksForSource(std::string_view cell) {
  return cell.find('\n') == std::string_view::npos &&
         (cell.ends_with("??") || cell.starts_with("??"));
}

}  // namespace

void SourceAnswer::Begin(std::string_view cell) {
  if (AsksForSource(cell) && WantsColour(STDOUT_FILENO)) text_.emplace();
}

bool SourceAnswer::Take(std::string_view text) {
  if (!text_) return false;
  *text_ += text;
  if (text_->size() > kMaxBytes) Show();
  return true;
}

void SourceAnswer::Show() {
  if (!text_) return;
  const std::string answer = *std::exchange(text_, std::nullopt);
  constexpr std::string_view kHeading = "Source:\n";
  size_t source = answer.find(kHeading);
  source = source == std::string::npos ? answer.size() : source + kHeading.size();
  printer_.OnText(Stream::kStdout, answer.substr(0, source));
  if (source == answer.size()) return;
  printer_.EndLine();
  WriteAll(STDOUT_FILENO, Highlight(Printable(std::string_view(answer).substr(source))));
}

}  // namespace cellar::host
