#include "host/execute/run_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cellar::host {
namespace {

using notebook::Document;
using testing::ElementsAre;

class RunPlanTest : public testing::Test {
 protected:
  std::vector<size_t> Chosen(const CellSelection& selection) {
    absl::StatusOr<std::vector<size_t>> cells = CellsToRun(document_, selection);
    EXPECT_TRUE(cells.ok()) << cells.status();
    return cells.ok() ? *cells : std::vector<size_t>();
  }

  Document document_ = *Document::Parse(
      R"({"cells":[{"cell_type":"code","id":"a","source":"0"},{"cell_type":"markdown","source":"1"},)"
      R"({"cell_type":"code","source":" \n"},{"cell_type":"code","id":"d","source":"3"},)"
      R"({"cell_type":"code","metadata":{"tags":["skip-execution"]},"source":"4"},)"
      R"({"cell_type":"code","source":"5"}]})");
};

TEST_F(RunPlanTest, CodeCellsWithSourceThatAreNotTaggedToBeSkipped) {
  EXPECT_THAT(Chosen({}), ElementsAre(0, 3, 5));
}

TEST_F(RunPlanTest, FromACellOnwards) {
  EXPECT_THAT(Chosen({.from = {{"1"}}}), ElementsAre(3, 5));
  EXPECT_THAT(Chosen({.from = {{"d"}}}), ElementsAre(3, 5));
}

TEST_F(RunPlanTest, NamedCellsInTheOrderOfTheNotebook) {
  EXPECT_THAT(Chosen({.cells = {{"4"}, {"a"}, {"0"}}}), ElementsAre(0, 4));
}

TEST_F(RunPlanTest, WhatIsNoCodeCellIsRefused) {
  EXPECT_FALSE(CellsToRun(document_, {.cells = {{"1"}}}).ok());
  EXPECT_FALSE(CellsToRun(document_, {.cells = {{"9"}}}).ok());
  EXPECT_FALSE(CellsToRun(document_, {.from = {{"no-such-id"}}}).ok());
}

absl::Status Language(const std::string& metadata) {
  return CheckLanguage(*Document::Parse("{\"cells\":[],\"metadata\":" + metadata + "}"));
}

TEST(CheckLanguageTest, PythonOrNothingIsFine) {
  EXPECT_TRUE(Language("{}").ok());
  EXPECT_TRUE(Language("[]").ok());
  EXPECT_TRUE(Language(R"({"language_info":{"name":"python"}})").ok());
  EXPECT_TRUE(Language(R"({"kernelspec":{"language":"Python"}})").ok());
  EXPECT_TRUE(Language(R"({"kernelspec":{"language":7}})").ok());
  EXPECT_EQ(Language(R"({"language_info":{"name":"R"}})").message(),
            "the notebook is written in R; cellar runs Python");
  EXPECT_FALSE(Language(R"({"kernelspec":{"language":"C#"}})").ok());
}

}  // namespace
}  // namespace cellar::host
