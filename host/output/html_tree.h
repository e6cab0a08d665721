// Parsed HTML from an untrusted source, within limits of memory and time. It does not interpret the
// tree.
#pragma once

#include <gumbo.h>

#include <memory>
#include <optional>
#include <string_view>

namespace cellar::host {

class HtmlTree {
 public:
  // Nothing if the document is too complex: nesting makes the parser's work grow with the square of
  // the size. `html` must outlive the tree.
  static std::optional<HtmlTree> Parse(std::string_view html);

  HtmlTree(HtmlTree&&) noexcept;
  ~HtmlTree();

  const GumboNode* root() const { return output_->root; }

 private:
  class Arena;

  HtmlTree(std::unique_ptr<Arena> arena, const GumboOutput* output);

  std::unique_ptr<Arena> arena_;  // owns all of the tree
  const GumboOutput* output_;
};

}  // namespace cellar::host
