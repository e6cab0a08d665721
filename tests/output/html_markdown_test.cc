#include "host/output/html_markdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/testing/valid_utf8.h"

namespace cellar::host {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

struct Case {
  std::string_view html;
  std::string_view markdown;
};

TEST(HtmlMarkdownTest, TurnsElementsIntoMarkdown) {
  const std::vector<Case> cases = {
      {"", ""},
      {"plain  text\n here", "plain text here"},
      {"<h1>Title</h1><h3> Sub <b>bold</b></h3>", "# Title\n\n### Sub **bold**"},
      {"<p>one</p><p>two</p>", "one\n\ntwo"},
      {"a<br>b", "a\nb"},
      {"<b>b</b> <em>i</em> <del>d</del> <i></i>", "**b** *i* ~~d~~"},
      {"<b>Name: </b>Alice <i> and</i><b> </b>Bob", "**Name:** Alice *and* Bob"},
      {"see<a href=u> here </a>or<code> x </code>or<a> there</a>.",
       "see [here](u) or `x` or there."},
      {"<b>Title<br></b>text <b><br>more</b>", "**Title**\ntext \n**more**"},
      {"&lt;a&gt; &amp; &eacute;&#x6f22;", "<a> & é漢"},
      {"<code>x  = 1</code> <code>a`b</code>", "`x = 1` `` a`b ``"},
      {"<pre>def f():\n    pass</pre>", "```\ndef f():\n    pass\n```"},
      {"<pre>```</pre>", "````\n```\n````"},
      {"<a href='http://x/y'>here</a>", "[here](http://x/y)"},
      {"<a href='a (b)'>here</a>", "[here](<a (b)>)"},
      {"<a href='#top'>here</a><a href='javascript:x()'>there</a>", "herethere"},
      {"<a href='http://x'>http://x</a>", "http://x"},
      {"<img src='p.png' alt='a plot'><img src='data:image/png;base64,AAAA'>",
       "![a plot](p.png)![](data:…)"},
      {"<ul><li>a<li>b<ul><li>c</ul><li>d</ul>", "- a\n- b\n  - c\n- d"},
      {"<ol start=9><li>a</li><li>b<br>c</li></ol>", "9. a\n10. b\n    c"},
      {"<ul><li>a</li><ul><li>b</li><li>c</li></ul></ul>", "- a\n  - b\n  - c"},
      {"<blockquote><p>a</p><p>b</p></blockquote>", "> a\n> \n> b"},
      {"a<hr>b", "a\n\n---\n\nb"},
      {"<style>p {}</style><script>x()</script><p>a</p><svg><text>s</text></svg>", "a"},
      {"<div>a<div>b</div>c</div>", "a\n\nb\n\nc"},
      {"<span><table><tr><td>x</td></tr></table></span>", "| x |\n| --- |"},
      {"<table><caption>cap</caption><thead><tr><th></th><th>a|b</th></tr></thead>"
       "<tbody><tr><th>0</th><td>1<br>2</td></tr><tr><td colspan=2>w</td></tr></tbody></table>",
       "cap\n\n|  | a\\|b |\n| --- | --- |\n| 0 | 1 2 |\n| w |  |"},
      {"<table><tr><td><p>a</p><p>b</p></td></tr></table>", "| a b |\n| --- |"},
      {"<table></table>", ""},
      {"<p>unclosed <b>bold", "unclosed **bold**"},
  };
  for (const Case& test : cases) EXPECT_EQ(HtmlToMarkdown(test.html), test.markdown) << test.html;
}

TEST(HtmlMarkdownTest, ReadsTheTableOfADataFrame) {
  EXPECT_EQ(HtmlToMarkdown(R"(<div>
<style scoped>
    .dataframe tbody tr th { vertical-align: top; }
</style>
<table border="1" class="dataframe">
  <thead>
    <tr style="text-align: right;">
      <th></th>
      <th>x</th>
    </tr>
  </thead>
  <tbody>
    <tr>
      <th>0</th>
      <td>1.5</td>
    </tr>
  </tbody>
</table>
<p>1 rows × 1 columns</p>
</div>)"),
            "|  | x |\n| --- | --- |\n| 0 | 1.5 |\n\n1 rows × 1 columns");
}

std::string Repeated(std::string_view text, size_t bytes) {
  std::string all;
  while (all.size() < bytes) all += text;
  return all;
}

TEST(HtmlMarkdownTest, GivesUpOnDocumentsThatAreMadeToHurt) {
  std::string formatting = "<p>";
  for (int i = 0; i < 2000; ++i) formatting += "<b x" + std::to_string(i) + ">";
  formatting += Repeated("<p>x</p>", 100'000);
  for (const std::string& html : {Repeated("<div>", 130'000), Repeated("<ul><li>", 130'000),
                                  formatting, Repeated("<div>", 1'000) + "<FrameSet>"}) {
    EXPECT_THAT(HtmlToMarkdown(html), StartsWith("[HTML of ")) << html.substr(0, 20);
  }
}

TEST(HtmlMarkdownTest, KeepsTheTextOfWhatIsNestedTooDeep) {
  EXPECT_THAT(HtmlToMarkdown(Repeated("<div>", 5 * 1000) + "deep <b>text</b>"),
              EndsWith("deep text"));
  EXPECT_THAT(HtmlToMarkdown(Repeated("<b><i>", 6 * 300) + "deep"), HasSubstr("deep"));
  EXPECT_THAT(HtmlToMarkdown(Repeated("<ul><li>", 8 * 300) + "deep"), HasSubstr("deep"));
}

TEST(HtmlMarkdownTest, ReadsOnlyTheStartOfALargeDocument) {
  const std::string html = Repeated("<p>some text</p>", 1 << 20);
  const std::string markdown = HtmlToMarkdown(html);
  EXPECT_LT(markdown.size(), 200'000u);
  EXPECT_THAT(markdown, EndsWith("[the rest of 1048576 bytes of HTML is not shown]"));
}

TEST(HtmlMarkdownTest, BoundsTheTextOfATableWithGaps) {
  std::string html = "<table><tr>" + Repeated("<td>", 40'000) + Repeated("<tr><td>", 80'000);
  EXPECT_LT(HtmlToMarkdown(html).size(), 300'000u);
}

TEST(HtmlMarkdownTest, TakesAnyBytes) {
  const std::vector<std::string> pieces = {"<table>",
                                           "<tr>",
                                           "<td colspan=9>",
                                           "</table>",
                                           "<ul>",
                                           "<li>",
                                           "<ol start=-1>",
                                           "</ul>",
                                           "<b>",
                                           "</b>",
                                           "<a href='x'>",
                                           "</a>",
                                           "<pre>",
                                           "<p>",
                                           "<!--",
                                           "-->",
                                           "&lt;",
                                           "&#27;",
                                           "&#xD800;",
                                           "\xff",
                                           std::string(1, '\0'),
                                           "text ",
                                           "<svg>",
                                           "<math>",
                                           "<select>",
                                           "<option>",
                                           "<blockquote>",
                                           "<br>",
                                           "<h2>",
                                           "<template>",
                                           "<",
                                           ">",
                                           "\"",
                                           "<input type=hidden>"};
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    std::string html;
    for (int i = 0; i < 60; ++i) html += pieces[random() % pieces.size()];
    EXPECT_TRUE(IsValidUtf8(HtmlToMarkdown(html))) << testing::PrintToString(html);
  }
}

}  // namespace
}  // namespace cellar::host
