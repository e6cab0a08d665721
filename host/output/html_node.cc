#include "host/output/html_node.h"

namespace cellar::host {

HtmlRole RoleOf(const GumboNode* node) {
  if (node->type != GUMBO_NODE_ELEMENT && node->type != GUMBO_NODE_TEMPLATE)
    return HtmlRole::kInline;
  switch (node->v.element.tag) {
    case GUMBO_TAG_HEAD:
    case GUMBO_TAG_SCRIPT:
    case GUMBO_TAG_STYLE:
    case GUMBO_TAG_TEMPLATE:
    case GUMBO_TAG_SVG:
    case GUMBO_TAG_IFRAME:
    case GUMBO_TAG_NOSCRIPT:
      return HtmlRole::kSkip;
    case GUMBO_TAG_H1:
    case GUMBO_TAG_H2:
    case GUMBO_TAG_H3:
    case GUMBO_TAG_H4:
    case GUMBO_TAG_H5:
    case GUMBO_TAG_H6:
      return HtmlRole::kHeading;
    case GUMBO_TAG_UL:
    case GUMBO_TAG_OL:
    case GUMBO_TAG_MENU:
      return HtmlRole::kList;
    case GUMBO_TAG_TABLE:
      return HtmlRole::kTable;
    case GUMBO_TAG_PRE:
    case GUMBO_TAG_XMP:
    case GUMBO_TAG_LISTING:
    case GUMBO_TAG_PLAINTEXT:
      return HtmlRole::kPre;
    case GUMBO_TAG_BLOCKQUOTE:
      return HtmlRole::kQuote;
    case GUMBO_TAG_HR:
      return HtmlRole::kRule;
    case GUMBO_TAG_HTML:
    case GUMBO_TAG_BODY:
    case GUMBO_TAG_P:
    case GUMBO_TAG_DIV:
    case GUMBO_TAG_CENTER:
    case GUMBO_TAG_SECTION:
    case GUMBO_TAG_ARTICLE:
    case GUMBO_TAG_ASIDE:
    case GUMBO_TAG_HEADER:
    case GUMBO_TAG_FOOTER:
    case GUMBO_TAG_HGROUP:
    case GUMBO_TAG_MAIN:
    case GUMBO_TAG_NAV:
    case GUMBO_TAG_ADDRESS:
    case GUMBO_TAG_FIGURE:
    case GUMBO_TAG_FIGCAPTION:
    case GUMBO_TAG_FORM:
    case GUMBO_TAG_FIELDSET:
    case GUMBO_TAG_LEGEND:
    case GUMBO_TAG_DETAILS:
    case GUMBO_TAG_SUMMARY:
    case GUMBO_TAG_DIR:
    case GUMBO_TAG_DL:
    case GUMBO_TAG_DT:
    case GUMBO_TAG_DD:
    case GUMBO_TAG_LI:
    case GUMBO_TAG_CAPTION:
    case GUMBO_TAG_TR:
      return HtmlRole::kContainer;
    default:
      return HtmlRole::kInline;
  }
}

bool HasTag(const GumboNode* node, GumboTag tag) {
  return node->type == GUMBO_NODE_ELEMENT && node->v.element.tag == tag;
}

std::vector<const GumboNode*> ChildrenOf(const GumboNode* node) {
  if (node->type != GUMBO_NODE_ELEMENT) return {};
  const GumboVector& children = node->v.element.children;
  auto* const* data = reinterpret_cast<GumboNode* const*>(children.data);
  return {data, data + children.length};
}

std::string_view AttributeOf(const GumboNode* node, const char* name) {
  if (node->type != GUMBO_NODE_ELEMENT) return {};
  const GumboAttribute* attribute = gumbo_get_attribute(&node->v.element.attributes, name);
  return attribute == nullptr ? std::string_view() : attribute->value;
}

std::string_view OwnText(const GumboNode* node) {
  const bool is_text = node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE ||
                       node->type == GUMBO_NODE_CDATA;
  return is_text ? node->v.text.text : std::string_view();
}

std::string TextBelow(const GumboNode* node) {
  std::string text;
  std::vector<const GumboNode*> ahead = {node};
  while (!ahead.empty()) {
    const GumboNode* next = ahead.back();
    ahead.pop_back();
    text += OwnText(next);
    if (HasTag(next, GUMBO_TAG_BR)) text += '\n';
    if (RoleOf(next) == HtmlRole::kSkip) continue;
    const std::vector<const GumboNode*> children = ChildrenOf(next);
    ahead.insert(ahead.end(), children.rbegin(), children.rend());
  }
  return text;
}

}  // namespace cellar::host
