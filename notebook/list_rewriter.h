// Writes a JSON list or object anew from its old items and new ones, and keeps every byte that can
// be kept: old items, and the whitespace between items that were neighbours before.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "notebook/span.h"
#include "notebook/style.h"

namespace cellar::notebook {

// Call Keep, Replace and Add in the order of the result, then Finish once. Old items not named are
// dropped. `bytes`, `items`, `gaps` and `out` must outlive the rewriter.
class ListRewriter {
 public:
  // `list` spans the brackets, `items` what is between the commas. `gaps` are used where the list
  // itself has none to copy.
  ListRewriter(std::string_view bytes, Span list, std::span<const Span> items, const Gaps& gaps,
               std::string* out);

  void Keep(size_t item);
  // `text` takes the place of the old item.
  void Replace(size_t item, std::string_view text);
  void Add(std::string_view text);
  void Finish();

 private:
  void WriteGapBefore(std::optional<size_t> item);

  std::string_view bytes_;
  Span list_;
  std::span<const Span> items_;
  const Gaps& gaps_;
  std::string* out_;
  bool is_first_ = true;
  std::optional<size_t> previous_;  // the old item just written
};

}  // namespace cellar::notebook
