#include "host/repl/completer.h"

#include <unistd.h>

#include <algorithm>

#include "host/base/utf8.h"
#include "host/console/terminal.h"
#include "host/console/text_width.h"
#include "host/library/query_answers.h"
#include "host/output/printable.h"

namespace cellar::host {
namespace {

constexpr size_t kMaxRows = 10;

size_t ByteAt(std::string_view text, size_t characters) {
  size_t at = 0;
  while (characters > 0 && at < text.size()) {
    at = Utf8BorderAfter(text, at + 1);
    --characters;
  }
  return at;
}

std::string CommonStart(const std::vector<Completion>& matches) {
  std::string common = matches.front().text;
  for (const Completion& match : matches) {
    const auto end = std::ranges::mismatch(common, match.text).in1;
    common.erase(end, common.end());
  }
  return common.substr(0, Utf8BorderBefore(common, common.size()));
}

// In columns, as many as fit.
std::vector<std::string> Table(const std::vector<Completion>& matches, int columns) {
  int width = 1;
  for (const Completion& match : matches) width = std::max(width, Columns(match.text) + 2);
  const auto per_row = static_cast<size_t>(std::max(1, columns / width));
  std::vector<std::string> rows;
  for (size_t i = 0; i < matches.size(); ++i) {
    if (i % per_row == 0) {
      if (rows.size() == kMaxRows) {
        rows.push_back("… " + std::to_string(matches.size() - i) + " more");
        break;
      }
      rows.emplace_back();
    }
    const std::string text = Printable(matches[i].text);
    rows.back() += text + std::string(static_cast<size_t>(std::max(0, width - Columns(text))), ' ');
  }
  return rows;
}

// One for each that can be called; nothing when they are too many to be read.
std::vector<std::string> Signatures(const std::vector<Completion>& matches) {
  constexpr size_t kMaxSignatures = 3;
  std::vector<std::string> lines;
  if (matches.size() > kMaxSignatures) return lines;
  for (const Completion& match : matches) {
    if (!match.signature.empty()) lines.push_back(Printable(match.signature));
  }
  return lines;
}

}  // namespace

void Completer::Complete(PromptSession& session, std::string text, size_t cursor) {
  const auto characters = static_cast<uint32_t>(CountCharacters(text.substr(0, cursor)));
  session.Complete(text, characters, [this, text](absl::StatusOr<std::string> answer) {
    if (editor_.text() != text) return;
    if (answer.ok()) return OnAnswer(text, *answer);
    editor_.ShowBelow({Printable(std::string(answer.status().message()))});
  });
}

void Completer::OnAnswer(const std::string& text, const std::string& answer) {
  absl::StatusOr<Completions> completions = ParseCompletions(answer);
  if (!completions.ok()) return editor_.ShowBelow({});
  Offer(completions->matches, ByteAt(text, completions->start), ByteAt(text, completions->end));
}

void Completer::Offer(const std::vector<Completion>& matches, size_t start, size_t end) {
  if (matches.empty()) return editor_.ShowBelow({});
  const std::string common = CommonStart(matches);
  if (common.size() > end - start || matches.size() == 1) editor_.Replace(start, end, common);
  std::vector<std::string> below = Signatures(matches);
  if (matches.size() > 1 && below.size() != matches.size()) {
    below = Table(matches, SizeOfScreen(STDOUT_FILENO).columns);
  }
  editor_.ShowBelow(std::move(below));
}

}  // namespace cellar::host
