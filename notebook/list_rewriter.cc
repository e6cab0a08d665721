#include "notebook/list_rewriter.h"

namespace cellar::notebook {

ListRewriter::ListRewriter(std::string_view bytes, Span list, std::span<const Span> items,
                           const Gaps& gaps, std::string* out)
    : bytes_(bytes), list_(list), items_(items), gaps_(gaps), out_(out) {}

void ListRewriter::Keep(size_t item) { Replace(item, Slice(bytes_, items_[item])); }

void ListRewriter::Replace(size_t item, std::string_view text) {
  WriteGapBefore(item);
  out_->append(text);
  previous_ = item;
}

void ListRewriter::Add(std::string_view text) {
  WriteGapBefore(std::nullopt);
  out_->append(text);
  previous_.reset();
}

void ListRewriter::Finish() {
  const char close = bytes_[list_.end - 1];
  if (is_first_ && items_.empty()) {
    out_->append(Slice(bytes_, list_));
  } else if (is_first_) {
    *out_ += bytes_[list_.begin];
    *out_ += close;
  } else if (items_.empty()) {
    out_->append(gaps_.close);
    *out_ += close;
  } else {
    out_->append(Slice(bytes_, {items_.back().end, list_.end}));
  }
}

void ListRewriter::WriteGapBefore(std::optional<size_t> item) {
  if (is_first_) {
    is_first_ = false;
    if (items_.empty()) {
      *out_ += bytes_[list_.begin];
      out_->append(gaps_.open);
    } else {
      out_->append(Slice(bytes_, {list_.begin, items_[0].begin}));
    }
  } else if (item && previous_ && *item == *previous_ + 1) {
    out_->append(Slice(bytes_, {items_[*previous_].end, items_[*item].begin}));
  } else if (items_.size() > 1) {
    out_->append(Slice(bytes_, {items_[0].end, items_[1].begin}));
  } else {
    out_->append(gaps_.between);
  }
}

}  // namespace cellar::notebook
