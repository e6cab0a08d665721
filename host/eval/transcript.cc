#include "host/eval/transcript.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/base/clock.h"
#include "host/base/utf8.h"
#include "host/output/mime_text.h"
#include "host/output/printable.h"
#include "host/output/sink.h"
#include "host/output/spoken_size.h"

namespace cellar::host {
namespace {

constexpr size_t kMaxHeadingBytes = 200;

// No longer than what is said in its place.
constexpr size_t kShortBytes = 100;

// What the displays and results of one cell may still take; streams were bounded by the sink.
class DisplayBudget {
 public:
  explicit DisplayBudget(size_t bytes) : reserve_(bytes / 8), shown_(bytes - reserve_) {}

  size_t RoomFor(const CellOutput& output, const MimeData& entry) const {
    return shown_ + (UsesReserve(output, entry) ? reserve_ : 0);
  }
  size_t ReadableOf(const CellOutput& output, const MimeData& entry) const {
    return std::max(read_, UsesReserve(output, entry) ? reserve_ : 0);
  }
  void Take(size_t shown, size_t read) {
    read_ -= std::min(read_, read);
    reserve_ -= shown - std::min(shown_, shown);
    shown_ -= std::min(shown_, shown);
  }

 private:
  static bool UsesReserve(const CellOutput& output, const MimeData& entry) {
    return output.type == CellOutput::Type::kResult || entry.data.size() <= kShortBytes;
  }

  size_t reserve_;  // for the result, which comes last, and for what is short
  size_t shown_;
  // To read HTML costs time, above all where little text comes of it.
  size_t read_ = 256 * 1024;
};

// How long the HTML of a whole call may take to read: the loop's thread does it, and other sessions
// wait. The last document may take its own limit more.
class HtmlTime {
 public:
  bool is_over() const { return left_ <= absl::ZeroDuration(); }
  std::string Read(const MimeData& entry) {
    const absl::Duration before = ThreadCpuTime();
    std::string text = ReadableText(entry);
    left_ -= ThreadCpuTime() - before;
    return text;
  }

 private:
  absl::Duration left_ = absl::Milliseconds(300);
};

// What the text of a call may take.
struct Limits {
  size_t display_bytes;  // of each cell
  HtmlTime html;
};

// For headings and the like: a newline in a title must not start a line that looks like output.
std::string OneLine(std::string_view text) {
  std::string line = Printable(text.substr(0, Utf8BorderBefore(text, kMaxHeadingBytes)));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

void EndLine(std::string& text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
}

void AddBlock(std::string_view block, std::string& text) {
  EndLine(text);
  text += block;
  EndLine(text);
}

void AddRemark(std::string_view remark, std::string& text) {
  if (!remark.empty()) AddBlock(absl::StrCat("[", Printable(remark), "]"), text);
}

// What is saved has a line that says where the whole is.
void AddDisplayText(const CellOutput& output, const MimeData& entry, bool is_saved,
                    DisplayBudget& budget, HtmlTime& html, std::string& text) {
  const bool is_html = entry.type == "text/html";
  const size_t room = is_html && html.is_over() ? 0 : budget.RoomFor(output, entry);
  const size_t wanted = room == 0 ? 0 : budget.ReadableOf(output, entry);
  const size_t read = Utf8BorderBefore(entry.data, std::min(wanted, entry.data.size()));
  const MimeData start = {entry.type, entry.data.substr(0, read)};
  const std::string readable = is_html ? html.Read(start) : ReadableText(start);
  const size_t shown = Utf8BorderBefore(readable, std::min(room, readable.size()));
  budget.Take(shown, read);
  if (shown > 0) AddBlock(std::string_view(readable).substr(0, shown), text);
  const size_t left = readable.size() - shown + entry.data.size() - read;
  if (left == 0 || is_saved) return;
  AddRemark(absl::StrCat(SpokenSize(left), " more of this output in the structured result"), text);
}

std::string Whereabouts(const SavedData& saved, std::span<const MimeData> data) {
  if (!saved.artifact_id.empty()) {
    return absl::StrCat("artifact://", saved.artifact_id, " (", saved.artifact_path, ")");
  }
  const bool is_whole = std::any_of(data.begin(), data.end(), [&saved](const MimeData& entry) {
    return entry.type == saved.mime && entry.data.size() == saved.bytes;
  });
  return absl::StrCat(is_whole ? "in the structured result, not in a file: " : "not kept: ",
                      saved.error);
}

// Images and what is saved always have a line; what else has no text has one when the bundle has no
// text at all.
void AddBundle(const CellOutput& output, DisplayBudget& budget, HtmlTime& html, std::string& text) {
  std::vector<MimeData> data;
  for (const wire::MimeEntry& entry : output.data) data.push_back({entry.mime, entry.data});
  const auto is_saved = [&output](const MimeData& entry) {
    return std::any_of(output.saved.begin(), output.saved.end(),
                       [&entry](const SavedData& saved) { return saved.mime == entry.type; });
  };
  const MimeData* shown = TranscriptEntry(data);
  if (shown != nullptr) AddDisplayText(output, *shown, is_saved(*shown), budget, html, text);
  for (const MimeData& entry : data) {
    if (is_saved(entry) || (shown != nullptr && !entry.type.starts_with("image/"))) continue;
    AddRemark(absl::StrCat(OneLine(entry.type), ", ", SpokenSize(entry.data.size())), text);
  }
  for (const SavedData& saved : output.saved) {
    AddRemark(absl::StrCat(OneLine(saved.mime), ", ", SpokenSize(saved.bytes), ": ",
                           Whereabouts(saved, data)),
              text);
  }
}

void AddOutputs(const std::vector<CellOutput>& outputs, Limits& limits, std::string& text) {
  DisplayBudget budget(limits.display_bytes);
  for (const CellOutput& output : outputs) {
    switch (output.type) {
      case CellOutput::Type::kStdout:
      case CellOutput::Type::kStderr:
        text += output.text;
        break;
      case CellOutput::Type::kDisplay:
      case CellOutput::Type::kResult:
        AddBundle(output, budget, limits.html, text);
        break;
      case CellOutput::Type::kStatus:  // progress, for who watches
        break;
    }
  }
}

void AddError(const CellOutcome& outcome, std::string& text) {
  if (!outcome.error) return;
  const CellError& error = *outcome.error;
  // The traceback of an exception ends in these words; the stack of a dead worker does not.
  if (outcome.death || error.traceback.empty()) {
    AddBlock(Printable(absl::StrCat(error.ename, error.evalue.empty() ? "" : ": ", error.evalue)),
             text);
  }
  if (!error.traceback.empty()) AddBlock(Printable(error.traceback), text);
}

void AddRemarks(const CellResult& cell, std::string& text) {
  const CellOutcome& outcome = cell.outcome;
  if (const std::optional<Truncation>& cut = outcome.truncation) {
    std::string remark = absl::StrCat("output shortened to ", SpokenSize(cut->kept_bytes), " of ",
                                      SpokenSize(cut->text_bytes));
    // Where lines are left out, the mark in their place has said it.
    if (cut->omitted_bytes == 0) absl::StrAppend(&remark, "; ", Whereabouts(*cut));
    AddRemark(remark, text);
  }
  AddRemark(cell.clamp_note, text);
  for (const std::string& notice : outcome.notices) AddRemark(notice, text);
  AddRemark(outcome.state_detail, text);
}

bool HasRun(const CellResult& cell) {
  return cell.status != CellRunStatus::kPending && cell.status != CellRunStatus::kNotRun;
}

std::string BodyOf(const CellResult& cell, Limits& limits) {
  std::string body;
  AddOutputs(cell.outcome.outputs, limits, body);
  AddError(cell.outcome, body);
  if (body.empty()) body = "(no output)";
  AddRemarks(cell, body);
  EndLine(body);
  return body;
}

// What there is to say of a cell that has not ended by itself.
std::string StatusWord(CellRunStatus status) {
  switch (status) {
    case CellRunStatus::kPending:
      return "pending";
    case CellRunStatus::kRunning:
      return "running";
    case CellRunStatus::kNotRun:
      return "not run";
    default:
      return "";
  }
}

// How the call ended at this cell; empty when it went on.
std::string Verdict(const CellResult& cell, size_t number) {
  if (cell.status == CellRunStatus::kError) return absl::StrCat("Cell ", number, " failed");
  if (cell.status != CellRunStatus::kCancelled) return "";
  return absl::StrCat("Cell ", number, cell.outcome.timed_out ? " timed out" : " was cancelled");
}

void AddCellOfSeveral(const CellResult& cell, size_t number, size_t count, Limits& limits,
                      std::string& text) {
  std::string heading = absl::StrCat("[", number, "/", count, "]");
  if (!cell.title.empty()) absl::StrAppend(&heading, " ", OneLine(cell.title));
  if (const std::string word = StatusWord(cell.status); !word.empty()) {
    absl::StrAppend(&heading, ": ", word);
  }
  AddBlock(heading, text);
  if (HasRun(cell)) text += BodyOf(cell, limits);
  if (const std::string verdict = Verdict(cell, number); !verdict.empty()) AddBlock(verdict, text);
}

}  // namespace

std::string TranscriptOf(const CallResult& result) {
  if (!result.refusal.empty()) return result.refusal;
  std::string text;
  Limits limits = {.display_bytes = result.text_budget};
  const size_t count = result.cells.size();
  if (count == 1) {
    const CellResult& cell = result.cells.front();
    text = HasRun(cell) ? BodyOf(cell, limits) : absl::StrCat("(", StatusWord(cell.status), ")\n");
  } else {
    for (size_t i = 0; i < count; ++i)
      AddCellOfSeveral(result.cells[i], i + 1, count, limits, text);
  }
  if (result.status == CallStatus::kRunning) {
    AddRemark(absl::StrCat("the call is still running; its handle is ", result.handle), text);
  }
  std::string background;
  AddOutputs(result.background, limits, background);
  if (!background.empty()) {
    AddBlock("[background output]", text);
    AddBlock(background, text);
  }
  if (!text.empty()) text.pop_back();
  return text.empty() ? "(no output)" : text;
}

}  // namespace cellar::host
