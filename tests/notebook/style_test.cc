// What cellar adds to a file looks like the file: one case per way of writing that real files have.
#include <gtest/gtest.h>

#include <string>

#include "notebook/action.h"
#include "notebook/document.h"
#include "notebook/outputs.h"

namespace cellar::notebook {
namespace {

std::string Inserted(const std::string& bytes, size_t index, CellType type,
                     const std::string& source) {
  absl::StatusOr<ActionResult> result = InsertCell(*Document::Parse(bytes), index, type, source);
  return result.ok() ? result->document.bytes() : std::string(result.status().message());
}

std::string Edited(const std::string& bytes, size_t index, const std::string& source) {
  absl::StatusOr<ActionResult> result = EditCell(*Document::Parse(bytes), index, source);
  return result.ok() ? result->document.bytes() : std::string(result.status().message());
}

TEST(StyleTest, OneLine) {
  EXPECT_EQ(
      Inserted(
          R"({"cells": [{"cell_type": "raw", "metadata": {}, "source": ["x"]}], "nbformat": 4})", 1,
          CellType::kRaw, "a\nb"),
      R"({"cells": [{"cell_type": "raw", "metadata": {}, "source": ["x"]}, )"
      R"({"cell_type": "raw", "metadata": {}, "source": ["a\n", "b"]}], "nbformat": 4})");
}

TEST(StyleTest, Minified) {
  EXPECT_EQ(Inserted(R"({"nbformat":4,"cells":[]})", 0, CellType::kCode, "a\nb"),
            R"({"nbformat":4,"cells":[{"cell_type":"code","execution_count":null,"metadata":{},)"
            R"("outputs":[],"source":["a\n","b"]}]})");
}

TEST(StyleTest, FourSpacesWithoutFinalNewline) {
  EXPECT_EQ(
      Inserted("{\n    \"cells\": [],\n    \"nbformat\": 4\n}", 0, CellType::kMarkdown, "a\nb"),
      "{\n    \"cells\": [\n        {\n            \"cell_type\": \"markdown\",\n"
      "            \"metadata\": {},\n            \"source\": [\n                \"a\\n\",\n"
      "                \"b\"\n            ]\n        }\n    ],\n    \"nbformat\": 4\n}");
}

TEST(StyleTest, TabsAndCrlf) {
  EXPECT_EQ(
      Inserted("{\r\n\t\"cells\": [],\r\n\t\"nbformat\": 4\r\n}\r\n", 0, CellType::kRaw, ""),
      "{\r\n\t\"cells\": [\r\n\t\t{\r\n\t\t\t\"cell_type\": \"raw\",\r\n\t\t\t\"metadata\": {},\r\n"
      "\t\t\t\"source\": []\r\n\t\t}\r\n\t],\r\n\t\"nbformat\": 4\r\n}\r\n");
}

TEST(StyleTest, SpacesAfterCommasAndAroundColons) {
  EXPECT_EQ(Inserted("{\n \"nbformat\" : 4, \n \"cells\" : []\n}", 0, CellType::kRaw, "x"),
            "{\n \"nbformat\" : 4, \n \"cells\" : [\n  {\n   \"cell_type\" : \"raw\", \n"
            "   \"metadata\" : {}, \n   \"source\" : [\n    \"x\"\n   ]\n  }\n ]\n}");
}

TEST(StyleTest, EmptyContainersOverTwoLines) {
  const std::string cell =
      "{\n      \"cell_type\": \"code\",\n      \"execution_count\": 1,\n      \"metadata\": {\n   "
      "   },\n"
      "      \"outputs\": [1],\n      \"source\": \"x\"\n    }";
  const std::string bytes = "{\n  \"cells\": [\n    " + cell + "\n  ]\n}";
  std::string cleared = bytes;
  cleared.replace(cleared.find("[1]"), 3, "[\n      ]");
  EXPECT_EQ(Edited(bytes, 0, "y"), cleared.replace(cleared.find("\"x\""), 3, "\"y\""));
}

TEST(StyleTest, KeysInTheOrderOfASibling) {
  EXPECT_EQ(
      Inserted(R"({"cells":[{"source":[],"cell_type":"code","outputs":[],"metadata":{},)"
               R"("execution_count":1,"extra":1}],"nbformat":4})",
               0, CellType::kCode, "x"),
      R"({"cells":[{"source":["x"],"cell_type":"code","outputs":[],"metadata":{},"execution_count":null},)"
      R"({"source":[],"cell_type":"code","outputs":[],"metadata":{},"execution_count":1,"extra":1}],"nbformat":4})");
}

TEST(StyleTest, EscapesAsTheFileHasThem) {
  EXPECT_EQ(Edited(R"({"cells":[{"cell_type":"raw","source":["\u00e9\n","x"]}]})", 0, "é\ny\nü"),
            R"({"cells":[{"cell_type":"raw","source":["\u00e9\n","y\n","\u00fc"]}]})");
  EXPECT_EQ(
      Edited(R"({"cells":[{"cell_type":"raw","source":["\u003cb\u003e\n","x"]}]})", 0, "<b>\n<i>"),
      R"({"cells":[{"cell_type":"raw","source":["\u003cb\u003e\n","\u003ci\u003e"]}]})");
  EXPECT_EQ(
      Edited(R"({"cells":[{"cell_type":"raw","source":["\u001B\n","é"]}]})", 0, "\x1b\nü\x1b"),
      R"({"cells":[{"cell_type":"raw","source":["\u001B\n","ü\u001B"]}]})");
}

TEST(StyleTest, SourcesThatAreStringsStayStrings) {
  EXPECT_EQ(Edited(R"({"cells":[{"cell_type":"raw","source":"x"}]})", 0, "a\nb"),
            R"({"cells":[{"cell_type":"raw","source":"a\nb"}]})");
  EXPECT_EQ(
      Inserted(R"({"cells":[{"cell_type":"raw","source":"x"}],"a":1})", 1, CellType::kRaw, "a\nb"),
      R"({"cells":[{"cell_type":"raw","source":"x"},{"cell_type":"raw","metadata":{},"source":"a\nb"}],"a":1})");
}

TEST(StyleTest, LinesSplitOddlyKeepTheirBytes) {
  EXPECT_EQ(Edited(R"({"cells":[{"cell_type":"raw","source":["a\nb\n" , "c\n",  "d\n", "e"]}]})", 0,
                   "a\nb\nC\nd\ne"),
            R"({"cells":[{"cell_type":"raw","source":["a\nb\n" , "C\n",  "d\n", "e"]}]})");
}

TEST(StyleTest, LinesWithoutEndsInWorksheetsAreWrittenAnew) {
  EXPECT_EQ(Edited(R"({"worksheets":[{"cells":[{"cell_type":"code","input":["a","b"]}]}]})", 0,
                   "a\nb\nc"),
            R"({"worksheets":[{"cells":[{"cell_type":"code","input":["a\n","b\n","c"]}]}]})");
}

TEST(StyleTest, WorksheetCellChangesTypeWithItsKeys) {
  const Document document = *Document::Parse(
      R"({"worksheets":[{"cells":[{"cell_type":"code","collapsed":true,"input":"a","language":"python","outputs":[],"prompt_number":1}]}]})");
  const Document text = EditCell(document, 0, "a", {.type = CellType::kMarkdown})->document;
  EXPECT_EQ(text.bytes(), R"({"worksheets":[{"cells":[{"cell_type":"markdown","source":"a"}]}]})");
  EXPECT_EQ(EditCell(text, 0, "a", {.type = CellType::kCode})->document.bytes(),
            R"({"worksheets":[{"cells":[{"cell_type":"code","collapsed":false,"language":"python",)"
            R"("outputs":[],"prompt_number":null,"input":"a"}]}]})");
}

TEST(StyleTest, NotebookWithoutWorksheetsTakesNoCell) {
  EXPECT_EQ(Inserted(R"({"worksheets":[]})", 0, CellType::kCode, "x"),
            "adding a cell: the notebook has no worksheet to hold it");
}

TEST(StyleTest, MissingSourceIsAdded) {
  EXPECT_EQ(Edited(R"({"cells":[{"cell_type":"raw","metadata":{}}],"nbformat":4})", 0, "x"),
            R"({"cells":[{"cell_type":"raw","metadata":{},"source":["x"]}],"nbformat":4})");
}

TEST(StyleTest, OfDuplicateKeysTheLastIsEdited) {
  EXPECT_EQ(Edited(R"({"cells":[{"cell_type":"raw","source":"1","source":"2"}]})", 0, "x"),
            R"({"cells":[{"cell_type":"raw","source":"1","source":"x"}]})");
}

TEST(StyleTest, ByteOrderMarkOddNumbersAndLoneSurrogatesStay) {
  const std::string head =
      "\xef\xbb\xbf{\"metadata\":{\"a\":1E5,\"b\":-0,\"c\":NaN,\"d\":\"\\ud800\"},\"cells\":[";
  EXPECT_EQ(
      Edited(head + R"({"cell_type":"raw","source":["\udead\n","x"]}]} )", 0, "\xed\xba\xad\ny"),
      head + R"({"cell_type":"raw","source":["\udead\n","y"]}]} )");
}

TEST(StyleTest, ClearTouchesOnlyOutputsAndCounts) {
  const Document document = *Document::Parse(
      R"({"cells": [ {"cell_type":"code" , "execution_count":3, "outputs" : [ {} ]} , )"
      R"({"cell_type":"code", "execution_count": null, "outputs": [ ]}]})");
  EXPECT_EQ(ClearOutputs(document)->bytes(),
            R"({"cells": [ {"cell_type":"code" , "execution_count":null, "outputs" : []} , )"
            R"({"cell_type":"code", "execution_count": null, "outputs": [ ]}]})");
}

}  // namespace
}  // namespace cellar::notebook
