#include "host/output/html_markdown.h"

#include <gumbo.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <vector>

#include "host/base/utf8.h"
#include "host/output/html_node.h"
#include "host/output/html_tree.h"

namespace cellar::host {
namespace {

constexpr size_t kMaxHtmlBytes = 128 * 1024;
constexpr size_t kMaxMarkdownBytes = 256 * 1024;
constexpr int kMaxDepth = 100;  // of nested elements; what lies deeper is plain text
constexpr size_t kMaxColspan = 100;
constexpr std::string_view kSpaces = " \t\n\f\r";

bool IsSpace(char byte) { return kSpaces.find(byte) != std::string_view::npos; }

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

// Adds text in which any run of white space counts as one space, none at the start.
void AddCollapsed(std::string_view text, std::string* out) {
  for (char byte : text) {
    if (!IsSpace(byte)) {
      out->push_back(byte);
    } else if (!out->empty() && !IsSpace(out->back())) {
      out->push_back(' ');
    }
  }
}

// `text` with `first` before its first line and `others` before the others.
std::string Prefixed(std::string_view text, std::string_view first, std::string_view others) {
  std::string out(first);
  for (size_t i = 0; i < text.size() && out.size() < kMaxMarkdownBytes; ++i) {
    out.push_back(text[i]);
    if (text[i] == '\n') out += others;
  }
  return out;
}

// Backticks that `text` does not contain, `least` or more.
std::string Fence(std::string_view text, size_t least) {
  size_t run = 0;
  for (char byte : text) {
    run = byte == '`' ? run + 1 : 0;
    least = std::max(least, run + 1);
  }
  return std::string(least, '`');
}

size_t NumberOr(std::string_view text, size_t otherwise) {
  size_t number = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Each function below takes the depth of its node.
std::string Blocks(const GumboNode* node, std::string_view separator, int depth);
void AddInline(const GumboNode* node, int depth, std::string* line);

// With the white space at both ends.
std::string WholeInlineOf(const GumboNode* node, int depth) {
  std::string line = "|";  // at the start of a line white space would be left out
  for (const GumboNode* child : ChildrenOf(node)) AddInline(child, depth + 1, &line);
  return line.substr(1);
}

std::string InlineOf(const GumboNode* node, int depth) {
  return std::string(Trimmed(WholeInlineOf(node, depth)));
}

void AddBlanks(std::string_view blanks, std::string* line) {
  if (blanks.find('\n') != std::string_view::npos) {
    line->push_back('\n');
  } else {
    AddCollapsed(blanks, line);
  }
}

// Adds `inner` between marks. White space at its ends goes outside of them: inside, the marks would
// be none.
void AddMarked(std::string_view inner, std::string_view before, std::string_view after,
               std::string* line) {
  const std::string_view text = Trimmed(inner);
  if (text.empty()) return AddBlanks(inner, line);
  const size_t begin = static_cast<size_t>(text.data() - inner.data());
  AddBlanks(inner.substr(0, begin), line);
  line->append(before).append(text).append(after);
  AddBlanks(inner.substr(begin + text.size()), line);
}

void AddEmphasis(const GumboNode* node, std::string_view mark, int depth, std::string* line) {
  AddMarked(WholeInlineOf(node, depth), mark, mark, line);
}

void AddCode(const GumboNode* node, std::string* line) {
  std::string code = "|";  // see WholeInlineOf
  AddCollapsed(TextBelow(node), &code);
  code.erase(0, 1);
  const std::string fence = Fence(code, 1);
  const std::string gap = fence.size() > 1 ? " " : "";
  AddMarked(code, fence + gap, gap + fence, line);
}

void AddLink(const GumboNode* node, int depth, std::string* line) {
  const std::string inner = WholeInlineOf(node, depth);
  const std::string_view target = Trimmed(AttributeOf(node, "href"));
  const bool leads_somewhere = !target.empty() && target.front() != '#' &&
                               target.substr(0, 5) != "data:" &&
                               target.substr(0, 11) != "javascript:";
  if (!leads_somewhere || Trimmed(inner) == target) return AddMarked(inner, "", "", line);
  const bool needs_brackets = target.find_first_of(" \t\n()") != std::string_view::npos;
  std::string end = needs_brackets ? "](<" : "](";
  AddCollapsed(target, &end);
  end += needs_brackets ? ">)" : ")";
  AddMarked(inner, "[", end, line);
}

void AddImage(const GumboNode* node, std::string* line) {
  const std::string_view source = Trimmed(AttributeOf(node, "src"));
  line->append("![");
  line->append(Trimmed(AttributeOf(node, "alt"))).append("](");
  line->append(source.substr(0, 5) == "data:" ? "data:…" : source).append(")");
}

void AddInline(const GumboNode* node, int depth, std::string* line) {
  if (line->size() > kMaxMarkdownBytes) return;
  AddCollapsed(OwnText(node), line);
  const HtmlRole role = RoleOf(node);
  if (node->type != GUMBO_NODE_ELEMENT || role == HtmlRole::kSkip) return;
  if (depth > kMaxDepth) {
    AddCollapsed(TextBelow(node), line);
    return;
  }
  switch (node->v.element.tag) {
    case GUMBO_TAG_BR:
      line->push_back('\n');
      return;
    case GUMBO_TAG_B:
    case GUMBO_TAG_STRONG:
      return AddEmphasis(node, "**", depth, line);
    case GUMBO_TAG_I:
    case GUMBO_TAG_EM:
      return AddEmphasis(node, "*", depth, line);
    case GUMBO_TAG_S:
    case GUMBO_TAG_DEL:
      return AddEmphasis(node, "~~", depth, line);
    case GUMBO_TAG_CODE:
    case GUMBO_TAG_KBD:
    case GUMBO_TAG_SAMP:
      return AddCode(node, line);
    case GUMBO_TAG_A:
      return AddLink(node, depth, line);
    case GUMBO_TAG_IMG:
      return AddImage(node, line);
    default:
      break;
  }
  // A block in the middle of a line, as in a table cell, is set off by spaces.
  if (role != HtmlRole::kInline) AddCollapsed(" ", line);
  for (const GumboNode* child : ChildrenOf(node)) AddInline(child, depth + 1, line);
  if (role != HtmlRole::kInline) AddCollapsed(" ", line);
}

std::string List(const GumboNode* list, int depth) {
  if (depth > kMaxDepth) return TextBelow(list);
  const bool is_ordered = HasTag(list, GUMBO_TAG_OL);
  size_t number = NumberOr(AttributeOf(list, "start"), 1);
  std::string out;
  for (const GumboNode* item : ChildrenOf(list)) {
    if (item->type != GUMBO_NODE_ELEMENT || out.size() > kMaxMarkdownBytes) continue;
    if (!out.empty()) out += '\n';
    if (RoleOf(item) == HtmlRole::kList) {
      out += Prefixed(List(item, depth + 1), "  ", "  ");
      continue;
    }
    const std::string marker = is_ordered ? std::to_string(number++) + ". " : "- ";
    out += Prefixed(Blocks(item, "\n", depth + 1), marker, std::string(marker.size(), ' '));
  }
  return out;
}

using Row = std::vector<std::string>;

void AddCells(const GumboNode* row, int depth, Row* cells) {
  for (const GumboNode* cell : ChildrenOf(row)) {
    if (!HasTag(cell, GUMBO_TAG_TD) && !HasTag(cell, GUMBO_TAG_TH)) continue;
    std::string text;
    for (char byte : InlineOf(cell, depth + 1)) {
      if (byte == '|') text.push_back('\\');
      text.push_back(byte == '\n' ? ' ' : byte);
    }
    cells->push_back(std::move(text));
    const size_t span = std::min(NumberOr(AttributeOf(cell, "colspan"), 1), kMaxColspan);
    for (size_t i = 1; i < span; ++i) cells->emplace_back();
  }
}

std::string TableRow(const Row& cells, size_t columns) {
  std::string line = "|";
  for (size_t i = 0; i < columns && line.size() < kMaxMarkdownBytes; ++i) {
    line.append(" ").append(i < cells.size() ? cells[i] : "").append(" |");
  }
  return line;
}

// The first row is the heading, whatever its cells are: markdown has no table without one.
std::string Table(const GumboNode* table, int depth) {
  std::string caption;
  std::vector<Row> rows;
  for (const GumboNode* part : ChildrenOf(table)) {
    if (HasTag(part, GUMBO_TAG_CAPTION)) caption = InlineOf(part, depth + 1);
    for (const GumboNode* row : ChildrenOf(part)) {
      if (HasTag(row, GUMBO_TAG_TR)) AddCells(row, depth + 2, &rows.emplace_back());
    }
  }
  size_t columns = 0;
  for (const Row& row : rows) columns = std::max(columns, row.size());
  if (columns == 0) return caption;
  std::string out = caption.empty() ? "" : caption + "\n\n";
  out += TableRow(rows.front(), columns) + "\n" + TableRow(Row(columns, "---"), columns);
  for (size_t i = 1; i < rows.size() && out.size() < kMaxMarkdownBytes; ++i) {
    out += "\n" + TableRow(rows[i], columns);
  }
  return out;
}

std::string Preformatted(const GumboNode* node) {
  std::string code = TextBelow(node);
  if (code.empty() || code.back() != '\n') code += '\n';
  const std::string fence = Fence(code, 3);
  return fence + "\n" + code + fence;
}

std::string Block(const GumboNode* node, HtmlRole role, std::string_view separator, int depth) {
  switch (role) {
    case HtmlRole::kHeading: {
      const std::string text = InlineOf(node, depth);
      const size_t level = node->v.element.tag - GUMBO_TAG_H1 + 1;
      return text.empty() ? "" : std::string(level, '#') + " " + text;
    }
    case HtmlRole::kList:
      return List(node, depth);
    case HtmlRole::kTable:
      return Table(node, depth);
    case HtmlRole::kPre:
      return Preformatted(node);
    case HtmlRole::kQuote:
      return Prefixed(Blocks(node, "\n\n", depth), "> ", "> ");
    case HtmlRole::kRule:
      return "---";
    default:
      return Blocks(node, separator, depth);
  }
}

// An inline element around blocks, such as a link around a table, only hides them.
bool HoldsBlocks(const GumboNode* node) {
  const std::vector<const GumboNode*> children = ChildrenOf(node);
  return std::any_of(children.begin(), children.end(), [](const GumboNode* child) {
    return RoleOf(child) != HtmlRole::kInline && RoleOf(child) != HtmlRole::kSkip;
  });
}

void AddBlock(std::string_view block, std::string_view separator, std::string* out) {
  if (block.empty() || out->size() > kMaxMarkdownBytes) return;
  if (!out->empty()) out->append(separator);
  out->append(block);
}

// The children of `node`: blocks, and between them paragraphs of what is inline.
std::string Blocks(const GumboNode* node, std::string_view separator, int depth) {
  if (depth > kMaxDepth) return std::string(Trimmed(TextBelow(node)));
  std::string out;
  std::string paragraph;
  for (const GumboNode* child : ChildrenOf(node)) {
    HtmlRole role = RoleOf(child);
    if (role == HtmlRole::kSkip) continue;
    if (role == HtmlRole::kInline && HoldsBlocks(child)) role = HtmlRole::kContainer;
    if (role == HtmlRole::kInline) {
      AddInline(child, depth + 1, &paragraph);
      continue;
    }
    AddBlock(Trimmed(paragraph), separator, &out);
    paragraph.clear();
    AddBlock(Block(child, role, separator, depth + 1), separator, &out);
  }
  AddBlock(Trimmed(paragraph), separator, &out);
  return out;
}

}  // namespace

std::string HtmlToMarkdown(std::string_view html) {
  const std::string_view start = html.substr(0, kMaxHtmlBytes);
  const std::optional<HtmlTree> tree = HtmlTree::Parse(start);
  if (!tree) {
    return "[HTML of " + std::to_string(html.size()) + " bytes, too complex to show as text]";
  }
  std::string markdown = Blocks(tree->root(), "\n\n", 0);
  const bool is_cut = start.size() < html.size() || markdown.size() > kMaxMarkdownBytes;
  if (!is_cut) return markdown;
  markdown.resize(Utf8BorderBefore(markdown, std::min(markdown.size(), kMaxMarkdownBytes)));
  return markdown + "\n\n[the rest of " + std::to_string(html.size()) +
         " bytes of HTML is not shown]";
}

}  // namespace cellar::host
