#include "host/execute/cell_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cellar::host {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using Kind = RecordedOutput::Kind;

wire::Display Shown(const std::string& text, const std::string& id = "",
                    wire::DisplayKind kind = wire::DisplayKind::kDisplay) {
  return {.kind = kind,
          .data = {{"text/plain", wire::MimeKind::kText, text}},
          .metadata = "{}",
          .display_id = id};
}

wire::Display ClearRequest(bool wait) {
  return {.kind = wire::DisplayKind::kClear,
          .metadata = wait ? "{\"wait\": true}" : "{\"wait\": false}"};
}

TEST(CellRecorderTest, JoinsTextOfOneStreamUntilAnotherOutputComes) {
  CellRecorder recorder;
  recorder.AddText(Stream::kStdout, "a");
  recorder.AddText(Stream::kStdout, "b\n");
  recorder.AddText(Stream::kStderr, "c");
  recorder.AddText(Stream::kStdout, "d");
  recorder.AddDisplay(Shown("e"));
  recorder.AddText(Stream::kStdout, "f");
  const auto outputs = recorder.Outputs("");
  ASSERT_THAT(outputs, SizeIs(5));
  EXPECT_EQ(outputs[0].text, "ab\n");
  EXPECT_EQ(outputs[1].text, "c");
  EXPECT_EQ(outputs[1].stream, Stream::kStderr);
  EXPECT_EQ(outputs[2].text, "d");
  EXPECT_EQ(outputs[3].kind, Kind::kDisplay);
  EXPECT_EQ(outputs[4].text, "f");
}

TEST(CellRecorderTest, ClearsAtOnceOrWhenTheNextOutputComes) {
  CellRecorder recorder;
  recorder.AddText(Stream::kStdout, "gone");
  recorder.AddDisplay(ClearRequest(/*wait=*/false));
  EXPECT_THAT(recorder.Outputs(""), SizeIs(0));
  recorder.AddText(Stream::kStdout, "still there");
  recorder.AddDisplay(ClearRequest(/*wait=*/true));
  EXPECT_THAT(recorder.Outputs(""), SizeIs(1));
  recorder.AddText(Stream::kStdout, "new");
  ASSERT_THAT(recorder.Outputs(""), SizeIs(1));
  EXPECT_EQ(recorder.Outputs("")[0].text, "new");
}

TEST(CellRecorderTest, UpdatesEveryOutputOfTheId) {
  CellRecorder recorder;
  recorder.AddDisplay(Shown("one", "x"));
  recorder.AddDisplay(Shown("other"));
  recorder.AddDisplay(Shown("one again", "x"));
  EXPECT_TRUE(recorder.Update("x", Shown("two").data, "{}"));
  EXPECT_FALSE(recorder.Update("y", Shown("three").data, "{}"));
  EXPECT_FALSE(recorder.Update("", Shown("four").data, "{}"));
  const auto outputs = recorder.Outputs("");
  ASSERT_THAT(outputs, SizeIs(3));
  EXPECT_EQ(outputs[0].data[0].data, "two");
  EXPECT_EQ(outputs[1].data[0].data, "other");
  EXPECT_EQ(outputs[2].data[0].data, "two");
  EXPECT_TRUE(recorder.HasDisplayIds());
}

TEST(CellRecorderTest, StatusEventsAreNoOutputs) {
  CellRecorder recorder;
  recorder.AddDisplay(Shown("busy", "", wire::DisplayKind::kStatus));
  EXPECT_THAT(recorder.Outputs(""), SizeIs(0));
}

TEST(CellRecorderTest, KeepsHeadAndTailOfTooMuchTextAndSaysWhatIsMissing) {
  CellRecorder recorder;
  size_t written = 0;
  std::string last;
  for (int i = 0; written < 40 << 20; ++i) {
    last = "line " + std::to_string(i) + std::string(1000, '.') + "\n";
    recorder.AddText(Stream::kStdout, last);
    written += last.size();
  }
  const auto outputs = recorder.Outputs("/some/where");
  ASSERT_THAT(outputs, SizeIs(3));
  EXPECT_THAT(outputs[0].text, testing::StartsWith("line 0."));
  EXPECT_THAT(outputs[0].text, testing::EndsWith("\n"));
  EXPECT_THAT(outputs[2].text, testing::StartsWith("line "));
  EXPECT_THAT(outputs[2].text, testing::EndsWith(last));
  const size_t missing = written - outputs[0].text.size() - outputs[2].text.size();
  EXPECT_THAT(outputs[1].text, HasSubstr(std::to_string(missing) + " bytes"));
  EXPECT_THAT(outputs[1].text, HasSubstr("/some/where"));
  EXPECT_LE(outputs[0].text.size() + outputs[2].text.size(),
            CellRecorder::kHeadBytes + 2 * CellRecorder::kTailBytes + 2000);
}

TEST(CellRecorderTest, ManyTinyOutputsAreBoundedToo) {
  CellRecorder recorder;
  for (int i = 0; i < 1'000'000; ++i) {
    recorder.AddText(i % 2 == 0 ? Stream::kStdout : Stream::kStderr, "x");
  }
  EXPECT_LT(recorder.Outputs("").size(), 150'000u);
}

TEST(CellRecorderTest, DisplaysBeyondTheLimitAreCounted) {
  CellRecorder recorder;
  const std::string large(CellRecorder::kDisplayBytes / 2, 'x');
  for (int i = 0; i < 4; ++i) recorder.AddDisplay(Shown(large));
  const auto outputs = recorder.Outputs("");
  ASSERT_THAT(outputs, SizeIs(2));
  EXPECT_THAT(outputs[1].text, HasSubstr("3 displays are left out"));
}

}  // namespace
}  // namespace cellar::host
