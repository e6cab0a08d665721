#include "notebook/rewriter.h"

#include <algorithm>

#include "notebook/content_hash.h"
#include "notebook/json_string.h"

namespace cellar::notebook {
namespace {

constexpr size_t kIdLength = 8;
constexpr size_t kRoomToGrow = 64 << 10;  // bytes

bool HasMember(const NewCell& cell, std::string_view key) {
  return std::any_of(cell.members.begin(), cell.members.end(),
                     [&](const auto& member) { return member.first == key; });
}

}  // namespace

Rewriter::Rewriter(const Document& document)
    : document_(document), bytes_(document.bytes()), style_(DetectStyle(document)) {
  // Growing a huge file by a line must not double the memory it takes; room that is never used
  // costs nothing.
  out_.reserve(bytes_.size() + bytes_.size() / 8 + kRoomToGrow);
  if (document.lists().empty()) {
    out_ = bytes_;
  } else {
    out_.append(bytes_, 0, document.lists()[0].span.begin);
    StartList(0);
  }
}

void Rewriter::Keep(size_t cell) { Write(cell, Slice(bytes_, document_.span(cell))); }

void Rewriter::Change(size_t cell, const CellChange& change) {
  Write(cell, WriteChangedCell(document_, cell, change, style_));
}

void Rewriter::Add(NewCell cell) {
  if (!list_) {
    has_nowhere_to_add_ = true;
    return;
  }
  if (document_.has_ids() && !HasMember(cell, "id")) {
    cell.members.emplace_back("id", Quoted(FreshId(cell), style_.escapes));
  }
  list_->Add(WriteNewCell(cell, document_.layout(), style_));
  ++written_;
}

absl::StatusOr<std::string> Rewriter::Finish() {
  if (has_nowhere_to_add_) {
    return absl::InvalidArgumentError("adding a cell: the notebook has no worksheet to hold it");
  }
  while (list_) FinishList();
  return std::move(out_);
}

// A cell moved across worksheets goes to the later one of its own and its new neighbour's.
void Rewriter::Write(size_t cell, std::string_view text) {
  auto ends_before = [&](const CellList& list) { return list.first + list.count <= cell; };
  while (ends_before(document_.lists()[list_index_])) FinishList();
  const CellList& list = document_.lists()[list_index_];
  if (cell >= list.first) {
    list_->Replace(cell - list.first, text);
  } else {
    list_->Add(text);
  }
  ++written_;
}

void Rewriter::StartList(size_t list) {
  const CellList& cells = document_.lists()[list];
  const std::span<const Span> all(document_.cell_spans());
  list_index_ = list;
  list_.emplace(bytes_, cells.span, all.subspan(cells.first, cells.count), style_.cells, &out_);
}

// Ends the current list and goes on to the next one, or to the end of the file.
void Rewriter::FinishList() {
  list_->Finish();
  list_.reset();
  const auto& lists = document_.lists();
  const size_t end = lists[list_index_].span.end;
  if (list_index_ + 1 == lists.size()) {
    out_.append(bytes_, end);
  } else {
    out_.append(bytes_, end, lists[list_index_ + 1].span.begin - end);
    StartList(list_index_ + 1);
  }
}

// Made of the text and place of the cell, so that doing the same again gives the same file.
std::string Rewriter::FreshId(const NewCell& cell) {
  if (!used_ids_) {
    used_ids_.emplace();
    for (size_t i = 0; i < document_.cell_count(); ++i) {
      if (std::optional<std::string> id = document_.Id(i)) used_ids_->insert(*std::move(id));
    }
  }
  std::string seed = std::to_string(written_) + ' ' + cell.source;
  while (true) {
    seed = ContentHash(seed);
    std::string id = seed.substr(0, kIdLength);
    if (used_ids_->insert(id).second) return id;
  }
}

}  // namespace cellar::notebook
