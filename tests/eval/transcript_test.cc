#include "host/eval/transcript.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/clock.h"
#include "tests/testing/sanitized.h"

namespace cellar::host {
namespace {

using Type = CellOutput::Type;
using ::testing::HasSubstr;
using wire::MimeKind;

CellOutput Printed(std::string text) { return {.type = Type::kStdout, .text = std::move(text)}; }

CellOutput Shown(std::vector<wire::MimeEntry> data) {
  return {.type = Type::kDisplay, .data = std::move(data)};
}

CellResult Complete(std::vector<CellOutput> outputs, std::string title = "") {
  return {.status = CellRunStatus::kComplete,
          .title = std::move(title),
          .outcome = {.outputs = std::move(outputs)}};
}

std::string TranscriptOfCell(CellResult cell) {
  CallResult result;
  result.cells.push_back(std::move(cell));
  return TranscriptOf(result);
}

TEST(TranscriptTest, OfOneCellIsItsOutput) {
  EXPECT_EQ(TranscriptOfCell(Complete({Printed("a\nb\n")})), "a\nb");
  EXPECT_EQ(TranscriptOfCell(Complete({Printed("a")})), "a");
  EXPECT_EQ(TranscriptOfCell(Complete({})), "(no output)");
  EXPECT_EQ(TranscriptOfCell({.status = CellRunStatus::kNotRun}), "(not run)");
}

TEST(TranscriptTest, KeepsTheOrderAndStartsLines) {
  EXPECT_EQ(TranscriptOfCell(Complete(
                {Printed("a"),
                 {.type = Type::kStderr, .text = "b"},
                 Shown({{"text/plain", MimeKind::kText, "shown"}}),
                 Printed("c\n"),
                 {.type = Type::kStatus,
                  .data = {{"application/x-cellar-status", MimeKind::kJson, "{}"}}},
                 {.type = Type::kResult, .data = {{"text/plain", MimeKind::kText, "4\x1b[1m2"}}}})),
            "ab\nshown\nc\n42");
}

TEST(TranscriptTest, ShowsImagesAsALineEach) {
  EXPECT_EQ(TranscriptOfCell(
                Complete({Shown({{"image/png", MimeKind::kBytes, std::string(12 * 1024, 'x')},
                                 {"text/plain", MimeKind::kText, "<Figure>"},
                                 {"application/json", MimeKind::kJson, "{}"}}),
                          Shown({{"image/svg+xml", MimeKind::kText, std::string(3 << 20, 'x')}}),
                          Shown({{"application/json", MimeKind::kJson, "{}"}}),
                          Shown({{"a\n[2/2] b", MimeKind::kBytes, "x"}})})),
            "<Figure>\n[image/png, 12 KiB]\n[image/svg+xml, 3.0 MiB]\n[application/json, 2 bytes]\n"
            "[a [2/2] b, 1 byte]");
}

TEST(TranscriptTest, BoundsTheTextOfDisplays) {
  const std::string text = TranscriptOfCell(
      Complete({Shown({{"text/plain", MimeKind::kText, std::string(40 * 1024, 'a')}}),
                Shown({{"text/plain", MimeKind::kText, std::string(40 * 1024, 'b')}}),
                Shown({{"text/plain", MimeKind::kText, "last"}})}));
  EXPECT_EQ(text, std::string(40 * 1024, 'a') + "\n" + std::string(3840, 'b') +
                      "\n[36 KiB more of this output in the structured result]"
                      "\nlast");
}

TEST(TranscriptTest, ShowsTheResultHoweverMuchIsDisplayedBeforeIt) {
  CellOutput value = Shown({{"text/plain", MimeKind::kText, std::string(1000, 'v')}});
  value.type = CellOutput::Type::kResult;
  CallResult result;
  result.text_budget = 8000;
  result.cells.push_back(Complete(
      {Shown({{"text/plain", MimeKind::kText, std::string(9000, 'a')}}), std::move(value)}));
  EXPECT_EQ(TranscriptOf(result), std::string(7000, 'a') +
                                      "\n[2 KiB more of this output in the structured result]\n" +
                                      std::string(1000, 'v'));
}

TEST(TranscriptTest, HtmlThatHasNoRoomIsNotRead) {
  const std::string html = "<b>" + std::string(200, 'b') + "</b>";
  EXPECT_EQ(
      TranscriptOfCell(Complete({Shown({{"text/plain", MimeKind::kText, std::string(44'800, 'a')}}),
                                 Shown({{"text/html", MimeKind::kText, html}})})),
      std::string(44'800, 'a') + "\n[207 bytes more of this output in the structured result]");
}

TEST(TranscriptTest, ManyDisplaysOfMuchHtmlAndLittleTextAreReadOnlyUntilItIsEnough) {
  std::string html = "<b>short</b>";
  html.append(100 * 1024 - html.size(), ' ');
  const CellOutput shown = Shown({{"text/html", MimeKind::kText, html}});
  EXPECT_EQ(TranscriptOfCell(Complete({shown, shown, shown, shown})),
            "**short**\n**short**\n"
            "**short**\n[44 KiB more of this output in the structured result]\n"
            "[100 KiB more of this output in the structured result]");
}

TEST(TranscriptTest, ACallOfManyCellsWithHtmlThatIsMadeToHurtDoesNotHoldUpTheLoop) {
  std::string html;
  for (int i = 0; i < 40'000; ++i) html += "<b>";
  CallResult result;
  for (int i = 0; i < 40; ++i) {
    result.cells.push_back(Complete({Shown({{"text/html", MimeKind::kText, html}})}));
  }
  const absl::Duration before = ThreadCpuTime();
  const std::string text = TranscriptOf(result);
  EXPECT_LT(ThreadCpuTime() - before, kSlowness * absl::Seconds(2));
  EXPECT_THAT(text, HasSubstr("more of this output in the structured result"));
}

TEST(TranscriptTest, SaysOfATextThatIsInAFileOnlyWhereItIs) {
  CellOutput output = Shown({{"text/html", MimeKind::kText, "<p>start</p>"}});
  output.saved = {
      {.mime = "text/html", .bytes = 20 << 20, .artifact_id = "id", .artifact_path = "/a/id"}};
  EXPECT_EQ(TranscriptOfCell(Complete({output})),
            "start\n[text/html, 20.0 MiB: artifact://id (/a/id)]");
}

TEST(TranscriptTest, TellsDataThatIsNotInAFileFromDataThatIsNowhere) {
  CellOutput kept = Shown({{"image/png", MimeKind::kBytes, std::string(2048, 'x')}});
  kept.saved = {{.mime = "image/png", .bytes = 2048, .error = "disk full"}};
  CellOutput lost = Shown({});
  lost.saved = {{.mime = "image/png", .bytes = 2048, .error = "disk full"}};
  EXPECT_EQ(TranscriptOfCell(Complete({kept, lost})),
            "[image/png, 2 KiB: in the structured result, not in a file: disk full]\n"
            "[image/png, 2 KiB: not kept: disk full]");
}

TEST(TranscriptTest, HasTheTracebackWhole) {
  const std::string traceback =
      "Traceback (most recent call last):\n  File \"<cell 1>\", line 1\nValueError: x";
  CellResult cell{.status = CellRunStatus::kError,
                  .outcome = {.status = CellStatus::kError,
                              .outputs = {Printed("before")},
                              .error = CellError{"ValueError", "x", traceback}}};
  EXPECT_EQ(TranscriptOfCell(cell), "before\n" + traceback);
  cell.outcome.error->traceback = "";
  EXPECT_EQ(TranscriptOfCell(cell), "before\nValueError: x");
}

TEST(TranscriptTest, SaysWhatTheWorkerDiedOfAndWhere) {
  EXPECT_EQ(
      TranscriptOfCell(
          {.status = CellRunStatus::kError,
           .outcome = {.status = CellStatus::kError,
                       .error = CellError{"WorkerDied", "the worker died of SIGSEGV", "stack\n"},
                       .death = WorkerExit{.signal = 11},
                       .state = StateAfter::kLost,
                       .state_detail = "the worker died of SIGSEGV, state lost"}}),
      "WorkerDied: the worker died of SIGSEGV\nstack\n"
      "[the worker died of SIGSEGV, state lost]");
}

TEST(TranscriptTest, SaysWhatBecameOfTimeAndState) {
  EXPECT_EQ(TranscriptOfCell({.status = CellRunStatus::kCancelled,
                              .outcome = {.status = CellStatus::kCancelled,
                                          .timed_out = true,
                                          .state_detail = "interrupted after 1s, state kept",
                                          .notices = {"timed out after 1 second"}},
                              .clamp_note = "timeout 0.5 s was clamped to 1 s"}),
            "(no output)\n[timeout 0.5 s was clamped to 1 s]\n[timed out after 1 second]\n"
            "[interrupted after 1s, state kept]");
}

TEST(TranscriptTest, SaysWhereTheWholeOutputIs) {
  CellResult cell = Complete({Printed("a\n")});
  Truncation& truncation = cell.outcome.truncation.emplace();
  truncation.text_bytes = 100 * 1024;
  truncation.kept_bytes = 50 * 1024;
  EXPECT_EQ(TranscriptOfCell(cell),
            "a\n[output shortened to 50 KiB of 100 KiB; the whole was not saved]");
  truncation.artifact_id = "id";
  truncation.artifact_path = "/a/id";
  EXPECT_EQ(TranscriptOfCell(cell),
            "a\n[output shortened to 50 KiB of 100 KiB; the whole is in artifact://id (/a/id)]");
  truncation.artifact_bytes = 2048;
  truncation.missing_bytes = 10;
  truncation.error = "disk full";
  EXPECT_EQ(
      TranscriptOfCell(cell),
      "a\n[output shortened to 50 KiB of 100 KiB; the first 2 KiB are in artifact://id (/a/id), "
      "10 bytes are missing: disk full]");
  truncation.omitted_bytes = 50 * 1024;  // the mark in the text says it
  EXPECT_EQ(TranscriptOfCell(cell), "a\n[output shortened to 50 KiB of 100 KiB]");
}

TEST(TranscriptTest, OfSeveralCellsHasHeadingsAndNamesTheOneThatFailed) {
  CallResult result;
  result.cells = {Complete({Printed("1")}, "load\nit"),
                  Complete({}),
                  {.status = CellRunStatus::kError,
                   .title = "fit",
                   .outcome = {.status = CellStatus::kError, .error = CellError{"E", "x", "E: x"}}},
                  {.status = CellRunStatus::kNotRun, .title = "plot"},
                  {.status = CellRunStatus::kNotRun}};
  EXPECT_EQ(TranscriptOf(result),
            "[1/5] load it\n1\n[2/5]\n(no output)\n[3/5] fit\nE: x\nCell 3 failed\n"
            "[4/5] plot: not run\n[5/5]: not run");
}

TEST(TranscriptTest, TellsACancelledCellFromOneThatTimedOut) {
  CallResult result;
  result.cells = {{.status = CellRunStatus::kCancelled}, {.status = CellRunStatus::kNotRun}};
  EXPECT_EQ(TranscriptOf(result), "[1/2]\n(no output)\nCell 1 was cancelled\n[2/2]: not run");
  result.cells[0].outcome.timed_out = true;
  EXPECT_EQ(TranscriptOf(result), "[1/2]\n(no output)\nCell 1 timed out\n[2/2]: not run");
}

TEST(TranscriptTest, PutsBackgroundOutputUnderAHeading) {
  CallResult result;
  result.cells.push_back(Complete({Printed("a")}));
  result.background = {Printed("tick\n"), Printed("tock\n")};
  EXPECT_EQ(TranscriptOf(result), "a\n[background output]\ntick\ntock");
}

TEST(TranscriptTest, HasNoHeadingWhenTheBackgroundOnlyToldOfProgress) {
  CallResult result;
  result.cells.push_back(Complete({Printed("a")}));
  result.background = {{.type = CellOutput::Type::kStatus}};
  EXPECT_EQ(TranscriptOf(result), "a");
}

}  // namespace
}  // namespace cellar::host
