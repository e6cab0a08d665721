#include "host/execute/executed_document.h"

#include <utility>

#include "host/execute/output_json.h"
#include "notebook/cell_metadata.h"
#include "notebook/cell_writer.h"
#include "notebook/json_format.h"

namespace cellar::host {
namespace {

// "2026-11-16T06:20:43.120931Z", as nbclient writes it, in quotes.
std::string Timestamp(absl::Time time) {
  return "\"" + absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone()) + "\"";
}

// The names are those of the Jupyter messages that other tools take the times from.
std::string TimesJson(const CellRecord& record) {
  const std::string started = Timestamp(record.started);
  const std::string ended = Timestamp(record.ended);
  return "{\"iopub.execute_input\":" + started + ",\"iopub.status.busy\":" + started +
         ",\"iopub.status.idle\":" + ended + ",\"shell.execute_reply\":" + ended + "}";
}

}  // namespace

ExecutedDocument::ExecutedDocument(notebook::Document document)
    : document_(std::move(document)),
      style_(notebook::DetectStyle(document_)),
      size_(document_.bytes().size()) {}

void ExecutedDocument::Put(size_t cell, const CellRecord& record) {
  std::string text = Write(cell, record);
  const auto old = texts_.find(cell);
  const size_t old_size = old == texts_.end() ? document_.span(cell).size() : old->second.size();
  if (size_ - old_size + text.size() > notebook::kMaxNotebookBytes) {
    CellRecord cut = record;
    cut.outputs = {{.stream = Stream::kStderr,
                    .text = "[cellar: the outputs are left out: the notebook would be larger than "
                            "1 GiB]\n"}};
    text = Write(cell, cut);
  }
  size_ += text.size() - old_size;
  texts_[cell] = std::move(text);
}

std::string ExecutedDocument::Bytes() const {
  const std::string& bytes = document_.bytes();
  std::string out;
  out.reserve(size_);
  size_t done = 0;
  for (const auto& [cell, text] : texts_) {
    const notebook::Span span = document_.span(cell);
    out.append(bytes, done, span.begin - done);
    out += text;
    done = span.end;
  }
  out.append(bytes, done);
  return out;
}

std::string ExecutedDocument::Write(size_t cell, const CellRecord& record) const {
  const std::string outputs =
      OutputsJson(record.outputs, record.execution_count, document_.layout(), style_);
  notebook::CellChange change;
  change.outputs =
      record.outputs.empty() ? style_.empty_list : notebook::InStyle(outputs, style_, 0);
  change.count = CountJson(record.execution_count);
  change.metadata = notebook::MetadataWith(document_, cell, "execution", TimesJson(record), style_);
  return notebook::WriteChangedCell(document_, cell, change, style_);
}

}  // namespace cellar::host
