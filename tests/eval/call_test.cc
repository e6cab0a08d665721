#include "host/eval/call.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "host/eval/call_parser.h"

namespace cellar::host {
namespace {

// The message of a refusal; empty when the request is taken.
std::string Refusal(std::string_view json) {
  const absl::StatusOr<Call> call = ParseCall(json);
  if (call.ok()) return "";
  EXPECT_EQ(call.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(call.status().message());
}

TEST(ParseCallTest, ReadsEveryField) {
  const absl::StatusOr<Call> call = ParseCall(R"({
    "session": "work", "cwd": "/srv", "mode": "per-call", "env": {"A": "1", "B": null, "C": ""},
    "owner": "me", "retry": "once",
    "cells": [{"language": "py", "code": "1", "title": "one", "timeout": 2.5, "reset": true},
              {"code": "é\n"}]})");
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->session, "work");
  EXPECT_EQ(call->cwd, "/srv");
  EXPECT_EQ(call->mode, CallMode::kPerCall);
  ASSERT_EQ(call->environment.size(), 3u);
  EXPECT_EQ(call->environment[0].name, "A");
  EXPECT_EQ(call->environment[0].value, "1");
  EXPECT_EQ(call->environment[1].name, "B");
  EXPECT_EQ(call->environment[1].value, std::nullopt);
  EXPECT_EQ(call->environment[2].value, "");
  EXPECT_EQ(call->owner, "me");
  EXPECT_EQ(call->retry, Retry::kOnce);
  ASSERT_EQ(call->cells.size(), 2u);
  EXPECT_EQ(call->cells[0].code, "1");
  EXPECT_EQ(call->cells[0].title, "one");
  EXPECT_EQ(call->cells[0].timeout, absl::Seconds(2.5));
  EXPECT_TRUE(call->cells[0].reset);
  EXPECT_EQ(call->cells[1].code, "é\n");
}

TEST(ParseCallTest, HasDefaultsForAllButTheCode) {
  const absl::StatusOr<Call> call = ParseCall(R"({"cells": [{"code": "1"}]})");
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->session, "");
  EXPECT_EQ(call->cwd, "");
  EXPECT_EQ(call->mode, CallMode::kSession);
  EXPECT_TRUE(call->environment.empty());
  EXPECT_EQ(call->retry, std::nullopt);
  EXPECT_EQ(call->cells[0].title, "");
  EXPECT_EQ(call->cells[0].timeout, absl::Seconds(30));
  EXPECT_FALSE(call->cells[0].reset);
  EXPECT_EQ(call->cells[0].clamp_note, "");
}

TEST(ParseCallTest, TakesTheOlderShape) {
  const absl::StatusOr<Call> call = ParseCall(
      R"({"cells": [{"code": "1"}, {"code": "2", "timeout": 7}], "timeout": 5000, "reset": true})");
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->cells[0].timeout, absl::Hours(1));
  EXPECT_EQ(call->cells[0].clamp_note, "timeout 5000 s was clamped to 3600 s");
  EXPECT_EQ(call->cells[1].timeout, absl::Seconds(7));
  EXPECT_EQ(call->cells[1].clamp_note, "");
  EXPECT_TRUE(call->cells[0].reset);
  EXPECT_FALSE(call->cells[1].reset);
}

TEST(ParseCallTest, NamesEveryWrongFieldByItsPath) {
  EXPECT_EQ(
      Refusal(R"({"session": 1, "mode": "weekly", "env": {"A": 1, "": "x", "B=C": "y"},
                        "retry": null, "reset": "yes", "nonsense": 0,
                        "cells": [{"code": "1", "timeout": "5"}, 7, {"title": []},
                                  {"code": 1, "language": "js", "Code": "2"}]})"),
      "session: expected a string, found number\n"
      "mode: expected \"session\" or \"per-call\", found \"weekly\"\n"
      "env.: cannot be the name of a variable\n"
      "env.A: expected a string or null, found number\n"
      "env.B=C: cannot be the name of a variable\n"
      "retry: expected \"never\" or \"once\", found null\n"
      "reset: expected true or false, found \"yes\"\n"
      "cells[0].timeout: expected a number of seconds, found \"5\"\n"
      "cells[1]: expected an object, found number\n"
      "cells[2].code: is missing\n"
      "cells[2].title: expected a string, found array\n"
      "cells[3].language: expected \"py\", found \"js\"\n"
      "cells[3].code: expected a string, found number\n"
      "cells[3].Code: unknown field; known are language, code, title, timeout, reset\n"
      "nonsense: unknown field; known are session, cwd, mode, env, owner, retry, background_after, "
      "parent, timeout, "
      "reset, cells");
}

TEST(ParseCallTest, RefusesWhatHasNothingToRun) {
  EXPECT_EQ(Refusal("{}"), "cells: is missing");
  EXPECT_EQ(Refusal(R"({"cells": []})"), "cells: expected at least one cell, found none");
  EXPECT_EQ(Refusal(R"({"cells": {}})"), "cells: expected a list of cells, found object");
  EXPECT_EQ(Refusal(R"({"cells": [{"code": ""}, {"code": " \n\t"}]})"),
            "cells[0].code: is empty\ncells[1].code: is empty");
}

TEST(ParseCallTest, RefusesTextThatPythonCannotTake) {
  EXPECT_EQ(Refusal(R"({"cells": [{"code": "a\u0000b"}]})"),
            "cells[0].code: has a NUL character (byte 1)");
  EXPECT_EQ(Refusal(R"({"cwd": "\u0000", "env": {"A": "\u0000"}, "cells": [{"code": "1"}]})"),
            "cwd: has a NUL character (byte 0)\nenv.A: has a NUL character (byte 0)");
  EXPECT_EQ(Refusal("{\"cells\": [{\"code\": \"\xff\"}]}"),
            "request: parse error at line 1, column 22: syntax error while parsing value - invalid "
            "string: ill-formed UTF-8 byte; last read: '\"\uFFFD'");
}

TEST(ParseCallTest, SaysWhereTheSyntaxIsWrong) {
  EXPECT_EQ(Refusal("{\n  \"cells\": [,]\n}").substr(0, 42),
            "request: parse error at line 2, column 13:");
  EXPECT_NE(Refusal(""), "");
  EXPECT_NE(Refusal(R"({"cells": [{"code": "1"}]} x)"), "");
  EXPECT_NE(Refusal(R"({"cells": [{"code": "1", "timeout": NaN}]})"), "");
  EXPECT_EQ(Refusal("null"), "request: expected an object, found null");
}

TEST(ParseCallTest, RefusesAFieldThatStandsTwice) {
  EXPECT_EQ(Refusal(R"({"env": {}, "cells": [1, {"code": "1", "title": "a", "code": "2"}]})"),
            "cells[1].code: stands twice");
  EXPECT_EQ(Refusal(R"({"session": "a", "cells": [], "session": "b"})"), "session: stands twice");
}

TEST(ParseCallTest, IsBounded) {
  EXPECT_EQ(Refusal(std::string(1'000'000, '[')), "request: nested deeper than 16 levels");
  EXPECT_EQ(Refusal(std::string((64 << 20) + 1, ' ')),
            "request: has 67108865 bytes, more than 67108864");
  EXPECT_EQ(Refusal(R"({"session": ")" + std::string(257, 's') + R"(", "cells": [{"code": "1"}]})"),
            "session: has 257 bytes, more than 256");
  std::string cells;
  for (int i = 0; i < 1000; ++i) cells += "1,";
  EXPECT_EQ(Refusal("{\"cells\": [" + cells + "1]}"), "cells: has 1001 cells, more than 1000");
}

TEST(ParseCallTest, KeepsARefusalShort) {
  std::string fields;
  for (int i = 10; i < 40; ++i)
    fields += "\"" + std::string(1000, 'x') + std::to_string(i) + "\":1,";
  const std::string refusal = Refusal("{" + fields + "\"cells\": [{\"code\": \"1\"}]}");
  EXPECT_LT(refusal.size(), 5000u);
  EXPECT_EQ(refusal.substr(refusal.rfind('\n')), "\nand 10 more");
}

TEST(ParseCallTest, ShowsNothingThatDrivesATerminal) {
  EXPECT_EQ(Refusal(R"({"mode": "\u001b[31mred", "cells": [{"code": "1"}]})"),
            "mode: expected \"session\" or \"per-call\", found \"red\"");
}

TEST(SetTimeoutTest, ClampsAndSaysSo) {
  const double infinity = std::numeric_limits<double>::infinity();
  struct Case {
    double seconds;
    double allowed;
    std::string note;
  };
  for (const Case& c : std::vector<Case>{
           {0, 0, ""},
           {1, 1, ""},
           {3600, 3600, ""},
           {0.5, 1, "timeout 0.5 s was clamped to 1 s"},
           {-1, 1, "timeout -1 s was clamped to 1 s"},
           {9999, 3600, "timeout 9999 s was clamped to 3600 s"},
           {infinity, 3600, "timeout inf s was clamped to 3600 s"},
           {std::nan(""), 1, "timeout nan s was clamped to 1 s"},
       }) {
    CallCell cell;
    SetTimeout(c.seconds, cell);
    EXPECT_EQ(cell.timeout, absl::Seconds(c.allowed)) << c.seconds;
    EXPECT_EQ(cell.clamp_note, c.note);
  }
}

TEST(ValidateCellTest, AsksOfTheCommandLineWhatARequestMustHave) {
  EXPECT_TRUE(ValidateCell({.code = "print('é𝄞')"}, 0).ok());
  const auto message = [](CallCell cell) { return std::string(ValidateCell(cell, 2).message()); };
  EXPECT_EQ(message({.code = ""}), "cell 3 is empty");
  EXPECT_EQ(message({.code = std::string("a\0", 2)}), "cell 3 has a NUL character (byte 1)");
  // Overlong, a surrogate, beyond U+10FFFF, cut short, a continuation alone.
  for (const char* bytes : {"\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                            "\xf5\x80\x80\x80", "\xe2\x82", "\xf0\x9d\x84", "\x80"}) {
    EXPECT_EQ(message({.code = std::string("é") + bytes}), "cell 3 is not valid UTF-8 (byte 2)");
  }
}

}  // namespace
}  // namespace cellar::host
