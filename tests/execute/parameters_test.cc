#include "host/execute/parameters.h"

#include <gtest/gtest.h>

#include <string>

#include "notebook/text_view.h"

namespace cellar::host {
namespace {

using notebook::Document;

std::string LiteralOf(const std::string& text) {
  absl::StatusOr<Parameter> parameter = Parameter::Parse("a=" + text);
  return parameter.ok() ? parameter->literal : "refused";
}

TEST(ParametersTest, ValuesThatReadLikeOneAreNumbersAndConstants) {
  for (const char* text : {"1", "-2", "0", "1.5", "1e-3", ".5", "True", "False", "None"}) {
    EXPECT_EQ(LiteralOf(text), text);
  }
  for (const char* text : {"007", "1_0", "0x10", "true", "1 2", "", "nan", "inf", "-", "1+1"}) {
    EXPECT_EQ(LiteralOf(text), '"' + std::string(text) + '"');
  }
  EXPECT_EQ(LiteralOf("it's \"é\"\n"), R"("it's \"é\"\n")");
  EXPECT_EQ(LiteralOf("b=c"), R"("b=c")");
}

TEST(ParametersTest, WhatIsNoNameIsRefused) {
  for (const char* text : {"a", "=1", "1a=2", "a b=1", "a.b=1", "a=\xff", "class=1", "None=1"}) {
    EXPECT_FALSE(Parameter::Parse(text).ok()) << text;
  }
}

Document Parsed(const std::string& text) { return *Document::Parse(text); }

constexpr char kTagged[] =
    R"({"cells":[{"cell_type":"markdown","metadata":{"tags":["parameters"]},"source":"m"},)"
    R"({"cell_type":"code","metadata":{"tags":["x","parameters"]},"source":"a = 1"},)"
    R"({"cell_type":"code","metadata":{},"source":"a"}],"nbformat":4})";

TEST(ParametersTest, TheCellStandsBehindTheTaggedOneAndIsReplacedLater) {
  absl::StatusOr<Parameterised> once = WithParameters(Parsed(kTagged), {{"a", "2"}});
  ASSERT_TRUE(once.ok()) << once.status();
  EXPECT_EQ(once->cell, 2u);
  EXPECT_TRUE(once->is_new);
  EXPECT_EQ(once->document.Source(2), "# Parameters\na = 2");
  EXPECT_EQ(once->document.cell_count(), 4u);

  absl::StatusOr<Parameterised> twice = WithParameters(once->document, {{"b", "3"}});
  ASSERT_TRUE(twice.ok()) << twice.status();
  EXPECT_EQ(twice->cell, 2u);
  EXPECT_FALSE(twice->is_new);
  EXPECT_EQ(twice->document.cell_count(), 4u);
  EXPECT_EQ(twice->document.Source(2), "# Parameters\nb = 3");
}

TEST(ParametersTest, TheCellStandsAtTheTopWhereNoneIsTagged) {
  const Document document = Parsed(R"({"cells":[{"cell_type":"code","source":"a"}],"nbformat":4})");
  absl::StatusOr<Parameterised> result = WithParameters(document, {{"a", "2"}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->cell, 0u);
  EXPECT_EQ(notebook::RenderText(result->document),
            "# %% [code] cell:0\n# Parameters\na = 2\n# %% [code] cell:1\na\n");
}

}  // namespace
}  // namespace cellar::host
