#include "host/execute/executed_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cellar::host {
namespace {

using notebook::Document;
using testing::HasSubstr;
using testing::Not;
using Kind = RecordedOutput::Kind;

std::string Ran(const std::string& bytes, CellRecord record) {
  absl::StatusOr<Document> document = Document::Parse(bytes);
  EXPECT_TRUE(document.ok()) << document.status();
  ExecutedDocument executed(*std::move(document));
  executed.Put(0, record);
  const std::string result = executed.Bytes();
  EXPECT_TRUE(Document::Parse(result).ok()) << result;
  return result;
}

CellRecord RecordOf(std::vector<RecordedOutput> outputs) {
  return {.execution_count = 3,
          .started = absl::FromUnixMicros(0),
          .ended = absl::FromUnixMicros(1'500'000),
          .outputs = std::move(outputs)};
}

RecordedOutput Result(std::vector<wire::MimeEntry> data) {
  return {.kind = Kind::kResult, .data = std::move(data), .metadata = "{}"};
}

constexpr char kTimes[] = R"("execution":{"iopub.execute_input":"1970-01-01T00:00:00.000000Z",)"
                          R"("iopub.status.busy":"1970-01-01T00:00:00.000000Z",)"
                          R"("iopub.status.idle":"1970-01-01T00:00:01.500000Z",)"
                          R"("shell.execute_reply":"1970-01-01T00:00:01.500000Z"})";

TEST(ExecutedDocumentTest, EverythingElseStaysByteForByte) {
  const std::string before =
      R"({"nbformat":4, "cells":[ {"source":"x","metadata":{"z":1e3,"a":[ ]},"outputs":[{}],)"
      R"("execution_count":7,"odd":NaN,"cell_type":"code"} ,{"cell_type":"raw","source":""}]}  )";
  EXPECT_EQ(Ran(before, RecordOf({})),
            R"({"nbformat":4, "cells":[ {"source":"x","metadata":{"z":1e3,"a":[ ],)" +
                std::string(kTimes) +
                R"(},"outputs":[],"execution_count":3,"odd":NaN,"cell_type":"code"} ,)"
                R"({"cell_type":"raw","source":""}]}  )");
}

TEST(ExecutedDocumentTest, EncodedSurrogatesAreReplacedHoweverManyTheyAre) {
  constexpr size_t kMany = 1'000'000;  // more than can be taken out of a text one by one
  std::string text = "퟿\xED\xED\xA0";
  std::string shown = R"("퟿\ufffd\ufffd\ufffd)";
  for (size_t i = 0; i < kMany; ++i) {
    text += "\xED\xA0\x80";
    shown += R"(\ufffd)";
  }
  const std::string before =
      R"({"nbformat":4,"cells":[{"cell_type":"code","source":"","outputs":[]}]})";
  const std::string after = Ran(before, RecordOf({{.text = text + "end"}}));
  EXPECT_NE(after.find(shown + "end\""), std::string::npos);
}

TEST(ExecutedDocumentTest, OutputsAreWrittenInTheStyleOfTheFile) {
  const std::string before =
      "{\n  \"cells\": [\n    {\n      \"cell_type\": \"code\",\n      \"execution_count\": null,\n"
      "      \"metadata\": {},\n      \"outputs\": [],\n      \"source\": [\n        \"1\\n\",\n"
      "        \"\\u00e9\"\n      ]\n    }\n  ],\n  \"nbformat\": 4\n}";
  const std::string after = Ran(before, RecordOf({{.text = "é\nb"}}));
  EXPECT_THAT(after, HasSubstr("      \"outputs\": [\n        {\n          \"name\": \"stdout\",\n"
                               "          \"output_type\": \"stream\",\n          \"text\": [\n"
                               "            \"\\u00e9\\n\",\n            \"b\"\n          ]\n"
                               "        }\n      ],\n"));
}

TEST(ExecutedDocumentTest, TextIsAStringWhereSourcesAre) {
  const std::string after =
      Ran(R"({"cells":[{"cell_type":"code","source":"x"}]})", RecordOf({{.text = "a\nb"}}));
  EXPECT_THAT(after, HasSubstr(R"("text":"a\nb")"));
  EXPECT_THAT(after, HasSubstr(R"("execution_count":3)"));
  EXPECT_THAT(after, HasSubstr(kTimes));
}

constexpr char kPlain[] = R"({"cells":[{"cell_type":"code","source":["x"]}]})";

TEST(ExecutedDocumentTest, BundlesAreWrittenAsNbformatSays) {
  const std::string after =
      Ran(kPlain, RecordOf({Result({{"text/plain", wire::MimeKind::kText, "a\nb"},
                                    {"image/png", wire::MimeKind::kBytes, "\x01\x02\x03"},
                                    {"application/json", wire::MimeKind::kJson, "[1, {\"a\": 2}]"},
                                    {"image/svg+xml", wire::MimeKind::kText, "<a>\n</a>"},
                                    {"text/plain", wire::MimeKind::kText, "a second one"}})}));
  EXPECT_THAT(after, HasSubstr(R"([{"data":{"application/json":[1,{"a":2}],"image/png":"AQID",)"
                               R"("image/svg+xml":["<a>\n","</a>"],"text/plain":["a\n","b"]},)"
                               R"("execution_count":3,"metadata":{},)"
                               R"("output_type":"execute_result"}])"));
}

TEST(ExecutedDocumentTest, WhatIsNotJsonOrNotText) {
  const std::string deep = std::string(1000, '[') + std::string(1000, ']');
  const std::string after =
      Ran(kPlain, RecordOf({Result({{"application/json", wire::MimeKind::kJson, deep}}),
                            Result({{"application/json", wire::MimeKind::kJson, "{}, {}"}}),
                            {.text = "\xff \xed\xa0\x80 \x1b[0m"}}));
  EXPECT_THAT(after, HasSubstr("\"application/json\":\"[[["));
  EXPECT_THAT(after, HasSubstr(R"("application/json":"{}, {}")"));
  EXPECT_THAT(after, HasSubstr(R"("\ufffd \ufffd \u001b[0m")"));
}

TEST(ExecutedDocumentTest, ErrorsHaveTheirTracebackInLines) {
  RecordedOutput error = {.kind = Kind::kError};
  error.error = {.ename = "E", .evalue = "why", .traceback = "Traceback:\n  x\nE: why\n"};
  EXPECT_THAT(Ran(kPlain, RecordOf({error})),
              HasSubstr(R"([{"ename":"E","evalue":"why","output_type":"error",)"
                        R"("traceback":["Traceback:","  x","E: why"]}])"));
}

TEST(ExecutedDocumentTest, AnOldFileKeepsItsFormat) {
  const std::string after = Ran(
      R"({"nbformat":3,"worksheets":[{"cells":[{"cell_type":"code","input":["x"],"outputs":[]}]}]})",
      RecordOf({{.text = "a"}, Result({{"text/html", wire::MimeKind::kText, "<b>"}})}));
  EXPECT_THAT(after, HasSubstr(R"({"output_type":"stream","stream":"stdout","text":["a"]})"));
  EXPECT_THAT(after, HasSubstr(R"({"html":["<b>"],"metadata":{},"output_type":"pyout",)"
                               R"("prompt_number":3})"));
  EXPECT_THAT(after, HasSubstr(R"("prompt_number":3)"));
  EXPECT_THAT(after, Not(HasSubstr("execution_count")));
}

TEST(ExecutedDocumentTest, ACellCanBePutAgain) {
  ExecutedDocument executed(*Document::Parse(kPlain));
  executed.Put(0, RecordOf({{.text = "first"}}));
  executed.Put(0, RecordOf({{.text = "second"}}));
  EXPECT_THAT(executed.Bytes(), Not(HasSubstr("first")));
  EXPECT_THAT(executed.Bytes(), HasSubstr("second"));
}

}  // namespace
}  // namespace cellar::host
