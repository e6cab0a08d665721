#include "host/eval/result.h"

#include <gtest/gtest.h>

#include "host/eval/result_json.h"
#include "nlohmann/json.hpp"

namespace cellar::host {
namespace {

using nlohmann::json;
using Type = CellOutput::Type;
using wire::MimeKind;

CallResult OneCell(CellOutcome outcome) {
  outcome.execution_count = 1;
  CallResult result;
  result.cells.push_back({.status = CellRunStatus::kComplete, .outcome = std::move(outcome)});
  return result;
}

json Outputs(std::vector<CellOutput> outputs) {
  const std::string text = ResultToJson(OneCell({.outputs = std::move(outputs)}), false);
  return json::parse(text, nullptr, false)["cells"][0]["outputs"];
}

TEST(CellRunStatusFromNameTest, IsTheInverseOfNameOf) {
  using enum CellRunStatus;
  for (CellRunStatus status : {kPending, kRunning, kComplete, kError, kCancelled, kNotRun}) {
    EXPECT_EQ(CellRunStatusFromName(NameOf(status)), status) << NameOf(status);
  }
  EXPECT_EQ(CellRunStatusFromName("ok"), std::nullopt);
}

TEST(ResultToJsonTest, HasTheWholeSchemaInItsOrder) {
  CallResult result = OneCell(
      {.duration = absl::Microseconds(12345), .outputs = {{.type = Type::kStdout, .text = "a\n"}}});
  result.session_id = "work";
  EXPECT_EQ(
      ResultToJson(result, /*pretty=*/false),
      R"({"status":"ok","text":"a","session":{"id":"work","state":"kept","reason":""},)"
      R"("background":[],"cells":[{"status":"complete","title":"","execution_count":1,)"
      R"("duration_ms":12.345,"runs":1,"outputs":[{"type":"stdout","text":"a\n"}],)"
      R"("error":null,"cancelled":false,"timed_out":false,"stdin_requested":false,)"
      R"("state":"kept","state_detail":"","notices":[],"truncation":null,"artifact":null}]})");
}

TEST(ResultToJsonTest, IsTheSameWhenPretty) {
  CallResult result = OneCell({.outputs = {{.type = Type::kStderr, .text = "a\n"}}});
  result.background.push_back({.text = "tick\n"});
  const std::string pretty = ResultToJson(result, /*pretty=*/true);
  EXPECT_EQ(pretty.substr(0, 22), "{\n  \"status\": \"ok\",\n  ");
  EXPECT_EQ(json::parse(pretty, nullptr, false),
            json::parse(ResultToJson(result, /*pretty=*/false), nullptr, false));
}

TEST(ResultToJsonTest, TellsOfAFailedCellAndOfOneNotRun) {
  CallResult result;
  result.status = CallStatus::kError;
  result.session_state = StateAfter::kLost;
  result.session_reason = "why";
  result.cells.push_back({.status = CellRunStatus::kError,
                          .title = "t",
                          .outcome = {.status = CellStatus::kError,
                                      .execution_count = 3,
                                      .error = CellError{"SystemExit", "3", "SystemExit: 3", 3},
                                      .stdin_requested = true,
                                      .state = StateAfter::kLost,
                                      .state_detail = "why",
                                      .notices = {"noted"}},
                          .runs = 2,
                          .clamp_note = "clamped"});
  result.cells.push_back({.status = CellRunStatus::kNotRun, .runs = 0});
  const json document = json::parse(ResultToJson(result, false), nullptr, false);
  EXPECT_EQ(document["status"], "error");
  EXPECT_EQ(document["session"], json({{"id", ""}, {"state", "lost"}, {"reason", "why"}}));
  const json& failed = document["cells"][0];
  EXPECT_EQ(failed["status"], "error");
  EXPECT_EQ(failed["error"], json({{"ename", "SystemExit"},
                                   {"evalue", "3"},
                                   {"traceback", "SystemExit: 3"},
                                   {"exit_code", 3}}));
  EXPECT_EQ(failed["runs"], 2);
  EXPECT_EQ(failed["stdin_requested"], true);
  EXPECT_EQ(failed["state"], "lost");
  EXPECT_EQ(failed["notices"], json({"clamped", "noted"}));
  const json& not_run = document["cells"][1];
  EXPECT_EQ(not_run["status"], "not_run");
  EXPECT_EQ(not_run["execution_count"], nullptr);
  EXPECT_EQ(not_run["runs"], 0);
}

TEST(ResultToJsonTest, TellsOfACancelledCell) {
  CallResult result;
  result.status = CallStatus::kCancelled;
  result.cells.push_back(
      {.status = CellRunStatus::kCancelled,
       .outcome = {
           .status = CellStatus::kCancelled, .timed_out = true, .state = StateAfter::kFresh}});
  const json document = json::parse(ResultToJson(result, false), nullptr, false);
  EXPECT_EQ(document["status"], "cancelled");
  EXPECT_EQ(document["cells"][0]["status"], "cancelled");
  EXPECT_EQ(document["cells"][0]["cancelled"], true);
  EXPECT_EQ(document["cells"][0]["timed_out"], true);
  EXPECT_EQ(document["cells"][0]["state"], "fresh");
}

TEST(ResultToJsonTest, GivesBytesAsBase64AndJsonAsValues) {
  EXPECT_EQ(Outputs({{.type = Type::kDisplay,
                      .data = {{"image/png", MimeKind::kBytes, "\x89PNG"},
                               {"application/json", MimeKind::kJson, R"({"a": [1, null]})"},
                               {"text/plain", MimeKind::kText, "{'a'}"}},
                      .metadata = R"({"width": 3})",
                      .display_id = "d1",
                      .update = true}})[0],
            json({{"type", "display"},
                  {"data",
                   {{"image/png", "iVBORw=="},
                    {"application/json", {{"a", {1, nullptr}}}},
                    {"text/plain", "{'a'}"}}},
                  {"metadata", {{"width", 3}}},
                  {"display_id", "d1"},
                  {"update", true}}));
}

TEST(ResultToJsonTest, GivesStatusEventsAsValues) {
  EXPECT_EQ(
      Outputs({{.type = Type::kStatus,
                .data = {{"application/x-cellar-status", MimeKind::kJson, R"({"op": "log"})"}}},
               {.type = Type::kStatus}}),
      json({{{"type", "status"}, {"event", {{"op", "log"}}}},
            {{"type", "status"}, {"event", json::object()}}}));
}

TEST(ResultToJsonTest, SurvivesWhateverAWorkerSends) {
  const std::string deep(200'000, '[');
  const json outputs = Outputs({{.type = Type::kStdout, .text = "\xff"},
                                {.type = Type::kResult,
                                 .data = {{"application/json", MimeKind::kJson, deep},
                                          {"a/b", MimeKind::kJson, "{not json"},
                                          {"a/b", MimeKind::kText, "again"},
                                          {"\xfe", MimeKind::kText, "\xc3"}},
                                 .metadata = "[1]"}});
  EXPECT_EQ(outputs[0]["text"], "\uFFFD");
  EXPECT_EQ(
      outputs[1],
      json({{"type", "result"},
            {"data", {{"application/json", deep}, {"a/b", "{not json"}, {"\uFFFD", "\uFFFD"}}},
            {"metadata", json::object()}}));
}

TEST(ResultToJsonTest, SaysWhatIsLeftOut) {
  CellOutcome outcome;
  outcome.truncation = Truncation{.total_lines = 10,
                                  .total_bytes = 100,
                                  .text_bytes = 90,
                                  .kept_bytes = 50,
                                  .omitted_lines = 4,
                                  .omitted_bytes = 30,
                                  .clamped_lines = 1,
                                  .clamped_bytes = 10,
                                  .artifact_id = "cellar-x.txt",
                                  .artifact_path = "/a/cellar-x.txt",
                                  .artifact_bytes = 70,
                                  .missing_bytes = 30,
                                  .error = "disk full"};
  const json document = json::parse(ResultToJson(OneCell(outcome), false), nullptr, false);
  EXPECT_EQ(document["cells"][0]["artifact"], "cellar-x.txt");
  EXPECT_EQ(document["cells"][0]["truncation"], json({{"total_lines", 10},
                                                      {"total_bytes", 100},
                                                      {"text_bytes", 90},
                                                      {"kept_bytes", 50},
                                                      {"omitted_lines", 4},
                                                      {"omitted_bytes", 30},
                                                      {"clamped_lines", 1},
                                                      {"clamped_bytes", 10},
                                                      {"artifact_path", "/a/cellar-x.txt"},
                                                      {"artifact_bytes", 70},
                                                      {"missing_bytes", 30},
                                                      {"error", "disk full"}}));
}

}  // namespace
}  // namespace cellar::host
