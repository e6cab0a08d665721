#include "host/serve/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace cellar::host {
namespace {

using ::testing::StartsWith;

TEST(ParseRequestTest, ReadsABareRequest) {
  RequestId id;
  absl::StatusOr<Request> request =
      ParseRequest(R"({"id": "r", "code": "1", "cwd": "/tmp", "silent": true})", id);
  ASSERT_TRUE(request.ok()) << request.status();
  const auto& eval = std::get<EvalRequest>(request->what);
  EXPECT_TRUE(eval.is_bare);
  EXPECT_EQ(eval.call.cwd, "");
  EXPECT_EQ(eval.call.enter, "/tmp");
  EXPECT_EQ(eval.call.cells[0].timeout, absl::ZeroDuration());
  EXPECT_EQ(id.json, "\"r\"");
}

TEST(ParseRequestTest, KeepsTheIdOfARequestThatItRefuses) {
  RequestId id;
  EXPECT_EQ(ParseRequest(R"({"id": 7, "type": "eval", "cells": []})", id).status().message(),
            "cells: expected at least one cell, found none");
  EXPECT_EQ(id.json, "7");
}

TEST(ParseRequestTest, TellsTheIdOfALineThatIsNotJson) {
  for (const std::string_view line :
       {R"({"id": 7, "type": "eval", "cells": [{"code": NaN}]})", R"({"id": 7, "code": "1)",
        R"({"cells": [{"id": 8}], "id": 7, "code": "1", "code": "2"})"}) {
    RequestId id;
    EXPECT_FALSE(ParseRequest(line, id).ok()) << line;
    EXPECT_EQ(id.json, "7") << line;
  }
}

TEST(ParseRequestTest, HalfOfASurrogatePairIsReadAsAReplacementCharacter) {
  RequestId id;
  absl::StatusOr<Request> request = ParseRequest(
      R"({"id": 1, "code": "'\\ud83d \ud83d \ude00\ud83d\ude00 \udead\ud800\\'"})", id);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(std::get<EvalRequest>(request->what).call.cells[0].code, R"('\ud83d � �😀 ��\')");
}

TEST(ParseRequestTest, NamesAFieldThatItDoesNotKnow) {
  RequestId id;
  EXPECT_EQ(ParseRequest(R"({"id": 1, "type": "close", "sesion": "x"})", id).status().message(),
            "sesion: unknown field; known are id, type, session");
}

TEST(ParseRequestTest, AReplyNeedsNoId) {
  RequestId id;
  absl::StatusOr<Request> request = ParseRequest(
      R"({"type": "reply", "call": 3, "value": {"a": [1]},
          "images": [{"mime": "image/png", "data": "QUI="}]})",
      id);
  ASSERT_TRUE(request.ok()) << request.status();
  const auto& reply = std::get<ReplyRequest>(request->what);
  EXPECT_EQ(reply.call, 3u);
  EXPECT_EQ(reply.answer.value, R"({"a":[1]})");
  EXPECT_EQ(reply.answer.images[0].data, "AB");
}

TEST(ParseRequestTest, ANumberMayBeAsLargeAsTheFieldHolds) {
  const auto cell = [](const std::string& number) {
    RequestId id;
    absl::StatusOr<Request> request =
        ParseRequest(R"({"id": 1, "type": "rewind", "cell": )" + number + "}", id);
    return request.ok() ? std::to_string(*std::get<RewindRequest>(request->what).cell)
                        : std::string(request.status().message());
  };
  EXPECT_EQ(cell("4294967295"), "4294967295");
  EXPECT_EQ(cell("4294967296"), "cell: expected a whole number");
  EXPECT_EQ(cell("-1"), "cell: expected a whole number");
}

TEST(ParseRequestTest, AReplyThatCannotBeReadIsAnError) {
  for (const std::string_view line :
       {R"({"type": "reply", "call": 3, "value": NaN})",
        R"({"type": "reply", "call": 3, "value": 1, "extra": 1})",
        R"({"type": "reply", "call": 3, "images": [{"mime": "image/png", "data": "?"}]})"}) {
    RequestId id;
    absl::StatusOr<Request> request = ParseRequest(line, id);
    ASSERT_TRUE(request.ok()) << request.status();
    const auto& reply = std::get<ReplyRequest>(request->what);
    EXPECT_EQ(reply.call, 3u);
    EXPECT_THAT(reply.answer.error.value_or(""), StartsWith("its answer cannot be read: ")) << line;
  }
  RequestId id;
  EXPECT_FALSE(ParseRequest(R"({"type": "reply", "call": -3, "value": NaN})", id).ok());
}

TEST(ParseRequestTest, SaysWhatIsWrongWithATool) {
  const auto problem = [](std::string_view fields) {
    RequestId id;
    const std::string line =
        absl::StrCat(R"({"id": 1, "type": "tools", )", std::string(fields), "}");
    return std::string(ParseRequest(line, id).status().message());
  };
  EXPECT_EQ(problem(R"("tools": 3)"), "tools: expected a list");
  EXPECT_EQ(problem(R"("tools": [{"name": "a"}, 3])"), "tools[1]: expected an object");
  EXPECT_EQ(problem(R"("tools": [{}])"), "tools[0]: name: is missing");
  EXPECT_THAT(problem(R"("tools": [{"name": ""}])"), StartsWith("tools[0]: name: expected one"));
  EXPECT_THAT(problem(R"("tools": [{"name": "$x"}])"), StartsWith("tools[0]: name: expected one"));
  EXPECT_EQ(problem(R"("tools": [{"name": "a", "id": 1}])"),
            "tools[0]: id: unknown field; known are name, description, schema");
  EXPECT_EQ(problem(R"("tools": [{"name": "a", "schema": 3}])"),
            "tools[0]: schema: expected an object");
  EXPECT_EQ(problem(R"("tools": [], "budget": {"total": "1"})"),
            "budget: expected total and spent, which are numbers, and hard, true or false");
  EXPECT_EQ(problem(R"("tools": [], "x": 1)"),
            "x: unknown field; known are id, type, tools, budget");
  EXPECT_EQ(problem(R"("tools": [], "budget": {"total": null, "spent": 1.5, "hard": true})"), "");
}

TEST(ParseRequestTest, AnErrorThatIsNullIsNone) {
  RequestId id;
  absl::StatusOr<Request> request =
      ParseRequest(R"({"type": "reply", "call": 3, "value": 1, "error": null})", id);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_FALSE(std::get<ReplyRequest>(request->what).answer.error.has_value());
}

TEST(ParseRequestTest, PathsOfNotebooksAreThoseOfTheClientsDirectory) {
  RequestId id;
  absl::StatusOr<Request> request = ParseRequest(
      R"({"id": 1, "type": "notebook.convert", "cwd": "/w", "file": "a.ipynb", "to": "/b.py"})",
      id);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(std::get<NotebookFileRequest>(request->what).files,
            (std::vector<std::string>{"/w/a.ipynb", "/b.py"}));
}

TEST(ParseRequestTest, ParametersOfANotebookBecomePython) {
  RequestId id;
  absl::StatusOr<Request> request = ParseRequest(
      R"({"id": 1, "type": "notebook.run", "file": "a", "cells": [0, "x"],
          "parameters": {"p": {"k": [true, null, 1.5, "é\n\""]}}})",
      id);
  ASSERT_TRUE(request.ok()) << request.status();
  const NotebookRunRequest& run = std::get<NotebookSessionRun>(request->what).run;
  EXPECT_EQ(run.selection.cells,
            (std::vector<notebook::CellAddress>{{"0"}, {"x", /*id_first=*/true}}));
  ASSERT_EQ(run.parameters.size(), 1u);
  EXPECT_EQ(run.parameters[0].literal, R"({"k": [True, None, 1.5, "é\n\""]})");
}

}  // namespace
}  // namespace cellar::host
