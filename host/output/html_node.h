// What the nodes of parsed HTML are to a reader, and access to their parts.
#pragma once

#include <gumbo.h>

#include <string>
#include <string_view>
#include <vector>

namespace cellar::host {

enum class HtmlRole {
  kSkip,       // not for readers
  kContainer,  // a block of blocks or of text
  kHeading,
  kList,
  kTable,
  kPre,
  kQuote,
  kRule,
  kInline,  // part of a line: text, emphasis, links, anything unknown
};

HtmlRole RoleOf(const GumboNode* node);

bool HasTag(const GumboNode* node, GumboTag tag);

std::vector<const GumboNode*> ChildrenOf(const GumboNode* node);

// Empty if `node` has no such attribute.
std::string_view AttributeOf(const GumboNode* node, const char* name);

// The text of a text node; empty for any other.
std::string_view OwnText(const GumboNode* node);

// All text below `node`, white space as it is. Takes any depth.
std::string TextBelow(const GumboNode* node);

}  // namespace cellar::host
