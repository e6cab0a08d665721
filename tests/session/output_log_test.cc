#include "host/session/output_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <fstream>

#include "tests/testing/files.h"
#include "tests/testing/scratch_directory.h"
#include "tests/testing/spilling.h"

namespace cellar::host {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::Truly;

constexpr size_t kInlineBytes = 1000;       // of one image
constexpr size_t kResultBytes = 16u << 20;  // of all displays

wire::Display Picture(std::string png, std::string id = "") {
  return {.kind = wire::DisplayKind::kDisplay,
          .data = {{.mime = "text/plain", .kind = wire::MimeKind::kText, .data = "<picture>"},
                   {.mime = "image/png", .kind = wire::MimeKind::kBytes, .data = std::move(png)}},
          .display_id = std::move(id)};
}

wire::Display Text(std::string text, std::string id = "") {
  return {.kind = wire::DisplayKind::kDisplay,
          .data = {{.mime = "text/plain", .kind = wire::MimeKind::kText, .data = std::move(text)}},
          .display_id = std::move(id)};
}

wire::Display Update(std::string text, std::string id) {
  wire::Display display = Text(std::move(text), std::move(id));
  display.kind = wire::DisplayKind::kUpdate;
  return display;
}

wire::Display Result(std::string text) {
  wire::Display display = Text(std::move(text));
  display.kind = wire::DisplayKind::kResult;
  return display;
}

wire::Display Event() {
  return {
      .kind = wire::DisplayKind::kStatus,
      .data = {
          {.mime = wire::kStatusMime, .kind = wire::MimeKind::kJson, .data = R"({"op": "read"})"}}};
}

size_t AllocatedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

bool IsInAFile(const CellOutput& output) {
  return !output.saved.empty() && !output.saved[0].artifact_id.empty();
}

size_t BytesIn(const std::vector<CellOutput>& outputs) {
  size_t size = 0;
  for (const CellOutput& output : outputs) {
    for (const wire::MimeEntry& entry : output.data) size += entry.data.size();
  }
  return size;
}

std::vector<std::string> TypesIn(const CellOutput& output) {
  std::vector<std::string> types;
  for (const wire::MimeEntry& entry : output.data) types.push_back(entry.mime);
  return types;
}

class OutputLogTest : public testing::Test {
 protected:
  std::unique_ptr<OutputLog> NewLog() {
    SinkOptions options = {.max_inline_bytes = kInlineBytes, .on_progress = progress_.Callback()};
    return std::make_unique<OutputLog>(OutputStorage{writer_.get(), store_}, options);
  }

  std::vector<CellOutput> OutputsOf(OutputLog& log) {
    log.Close();
    EXPECT_TRUE(log.IsSettled() || progress_.WaitUntil([&] { return log.IsSettled(); }));
    return log.Take().outputs;
  }

  // The files that are left when all is written.
  std::vector<std::string> FilesAtTheEnd() {
    writer_.reset();
    return FilesIn(directory_);
  }

  ScratchDirectory temp_;
  const std::string directory_ = temp_ / "artifacts";
  const ArtifactStore store_{directory_};
  Progress progress_;
  std::unique_ptr<SpillWriter> writer_ = std::make_unique<SpillWriter>();
};

TEST_F(OutputLogTest, LargeDataIsInAFileAndSmallDataInTheOutput) {
  auto log = NewLog();
  log->AddDisplay(Picture(std::string(kInlineBytes, 's')));
  const std::string large(kInlineBytes + 1, 'L');
  log->AddDisplay(Picture(large));
  const std::vector<CellOutput> outputs = OutputsOf(*log);
  ASSERT_THAT(outputs, SizeIs(2));
  EXPECT_THAT(TypesIn(outputs[0]), ElementsAre("text/plain", "image/png"));
  EXPECT_THAT(outputs[0].saved, IsEmpty());
  EXPECT_THAT(TypesIn(outputs[1]), ElementsAre("text/plain"));
  ASSERT_THAT(outputs[1].saved, SizeIs(1));
  const SavedData& saved = outputs[1].saved[0];
  EXPECT_EQ(saved.mime, "image/png");
  EXPECT_EQ(saved.bytes, large.size());
  EXPECT_EQ(saved.error, "");
  EXPECT_EQ(ReadFile(saved.artifact_path), large);
  EXPECT_THAT(saved.artifact_path, testing::EndsWith(".png"));
  log.reset();
  EXPECT_THAT(FilesAtTheEnd(), ElementsAre(saved.artifact_id));
}

TEST_F(OutputLogTest, TheTextOfALargeDisplayStays) {
  const std::string large(kInlineBytes + 1, 'x');
  auto log = NewLog();
  log->AddDisplay({.kind = wire::DisplayKind::kResult,
                   .data = {{.mime = "text/html", .kind = wire::MimeKind::kText, .data = large},
                            {.mime = "text/plain", .kind = wire::MimeKind::kText, .data = large}}});
  log->AddDisplay({.kind = wire::DisplayKind::kResult,
                   .data = {{.mime = "text/html", .kind = wire::MimeKind::kText, .data = large}}});
  const std::vector<CellOutput> outputs = OutputsOf(*log);
  EXPECT_THAT(TypesIn(outputs[0]), ElementsAre("text/plain"));
  EXPECT_THAT(outputs[0].saved[0].artifact_path, testing::EndsWith(".html"));
  EXPECT_THAT(TypesIn(outputs[1]), ElementsAre("text/html"));
  EXPECT_THAT(outputs[1].saved, IsEmpty());
}

TEST_F(OutputLogTest, WhatWasReplacedOrClearedLeavesNoFile) {
  auto log = NewLog();
  for (int i = 0; i < 20; ++i) log->AddDisplay(Picture(std::string(5000, 'a')));
  log->AddDisplay({.kind = wire::DisplayKind::kClear});
  log->AddDisplay(Picture("small", "id"));
  std::string last;
  for (int i = 0; i < 20; ++i) {
    last = std::string(5000, static_cast<char>('a' + i));
    wire::Display update = Picture(last, "id");
    update.kind = wire::DisplayKind::kUpdate;
    log->AddDisplay(std::move(update));
  }
  const std::vector<CellOutput> outputs = OutputsOf(*log);
  ASSERT_THAT(outputs, SizeIs(1));
  EXPECT_EQ(ReadFile(outputs[0].saved.at(0).artifact_path), last);
  log.reset();
  EXPECT_THAT(FilesAtTheEnd(), ElementsAre(outputs[0].saved[0].artifact_id));
}

TEST_F(OutputLogTest, WhatNobodyTookLeavesNoFile) {
  NewLog()->AddDisplay(Picture(std::string(5000, 'a')));
  EXPECT_THAT(FilesAtTheEnd(), IsEmpty());
}

TEST_F(OutputLogTest, WhileTheCellRunsTheDataIsInTheOutputUntilItIsInAFile) {
  auto log = NewLog();
  {
    StalledDisk disk;
    log->AddDisplay(Picture(std::string(5000, 'a')));
    disk.WaitForWriter();
    const CellOutput early = log->SoFar().outputs.at(0);
    EXPECT_THAT(TypesIn(early), ElementsAre("text/plain", "image/png"));
    EXPECT_EQ(early.saved.at(0).error, "not yet written");
  }
  log->Close();
  ASSERT_TRUE(progress_.WaitUntil([&] { return log->IsSettled(); }));
  const CellOutput later = log->SoFar().outputs.at(0);
  EXPECT_THAT(TypesIn(later), ElementsAre("text/plain"));
  EXPECT_EQ(ReadFile(later.saved.at(0).artifact_path), std::string(5000, 'a'));
}

TEST_F(OutputLogTest, OnAFullDiskTheDataStaysInTheOutputAndSaysWhy) {
  const SmallDisk disk(directory_, 64 << 10);
  if (!disk.is_mounted()) GTEST_SKIP() << "mounting is not allowed here";
  writer_ = std::make_unique<SpillWriter>();  // its thread sees the mount
  auto log = NewLog();
  const std::string large(100'000, 'L');
  log->AddDisplay(Picture(large));
  const std::vector<CellOutput> outputs = OutputsOf(*log);
  ASSERT_THAT(TypesIn(outputs.at(0)), ElementsAre("text/plain", "image/png"));
  EXPECT_EQ(outputs[0].data[1].data, large);
  EXPECT_EQ(outputs[0].saved.at(0).artifact_path, "");
  EXPECT_THAT(outputs[0].saved[0].error, HasSubstr("No space left on device"));
  log.reset();
  EXPECT_THAT(FilesAtTheEnd(), IsEmpty());
}

TEST_F(OutputLogTest, KeepsMoreInFilesThanInMemory) {
  auto log = NewLog();
  const std::string large(60 << 20, 'L');
  for (int i = 0; i < 6; ++i) {  // 360 MiB; 128 may wait for the disk
    log->AddDisplay(Picture(large));
    ASSERT_TRUE(progress_.WaitUntil([&] { return IsInAFile(log->SoFar().outputs.back()); }));
  }
  EXPECT_THAT(OutputsOf(*log), AllOf(SizeIs(6), Each(Truly(IsInAFile))));
}

TEST_F(OutputLogTest, WhatIsInFilesIsNotInMemory) {
  auto log = NewLog();
  const std::string large(20 << 20, 'L');
  const size_t before = AllocatedBytes();
  for (int i = 0; i < 3; ++i) {
    log->AddDisplay(Picture(large));
    ASSERT_TRUE(progress_.WaitUntil([&] { return IsInAFile(log->SoFar().outputs.back()); }));
  }
  EXPECT_LT(AllocatedBytes(), before + large.size());
}

TEST_F(OutputLogTest, DataThatOutrunsTheDiskDoesNotFillTheMemory) {
  auto log = NewLog();
  StalledDisk disk;
  for (int i = 0; i < 10; ++i) {
    log->AddDisplay(Picture("small", std::to_string(i)));
    wire::Display update = Picture(std::string(60 << 20, 'L'), std::to_string(i));
    update.kind = wire::DisplayKind::kUpdate;
    log->AddDisplay(std::move(update));
  }
  const std::vector<CellOutput> outputs = log->SoFar().outputs;
  std::vector<std::string> errors;
  for (const CellOutput& output : outputs) errors.push_back(output.saved.at(0).error);
  std::vector<std::string> expected(10, "there was too much of it to be written");
  expected[0] = expected[1] = "not yet written";
  EXPECT_EQ(errors, expected);
  EXPECT_EQ(BytesIn(outputs), 10 * std::string("<picture>").size());
  disk.Release();
}

TEST_F(OutputLogTest, AnUpdateOfManyDisplaysIsHeldOnce) {
  auto log = NewLog();
  for (int i = 0; i < 900; ++i) log->AddDisplay(Picture("small", "same"));
  for (int i = 0; i < 3; ++i) {
    wire::Display update = Picture(std::string(5000, static_cast<char>('a' + i)), "same");
    update.kind = wire::DisplayKind::kUpdate;
    log->AddDisplay(std::move(update));
  }
  log->AddDisplay(Picture("small", "same"));
  const std::vector<CellOutput> outputs = OutputsOf(*log);
  ASSERT_THAT(outputs, SizeIs(901));
  const SavedData& saved = outputs[0].saved.at(0);
  EXPECT_EQ(ReadFile(saved.artifact_path), std::string(5000, 'c'));
  for (int i = 0; i < 900; ++i) {
    EXPECT_THAT(TypesIn(outputs[i]), ElementsAre("text/plain"));
    EXPECT_EQ(outputs[i].display_id, "same");
    EXPECT_EQ(outputs[i].saved.at(0).artifact_id, saved.artifact_id);
  }
  EXPECT_THAT(TypesIn(outputs[900]), ElementsAre("text/plain", "image/png"));
  log.reset();
  EXPECT_THAT(FilesAtTheEnd(), ElementsAre(saved.artifact_id));
}

TEST_F(OutputLogTest, AnUpdateOfManyDisplaysDoesNotFillTheResult) {
  auto log = NewLog();
  for (int i = 0; i < 900; ++i) log->AddDisplay(Text("small", "same"));
  const std::string large(250'000, 'x');
  wire::Display update = Text(large, "same");
  update.kind = wire::DisplayKind::kUpdate;
  log->AddDisplay(std::move(update));
  const std::vector<CellOutput> outputs = OutputsOf(*log);
  ASSERT_THAT(outputs, SizeIs(900));
  EXPECT_LE(BytesIn(outputs), kResultBytes);
  EXPECT_GT(BytesIn(outputs), kResultBytes * 9 / 10);
  EXPECT_EQ(ReadFile(outputs[0].saved.at(0).artifact_path), large);
}

TEST_F(OutputLogTest, ManyDisplaysOfMiddlingSizeAreInTheResultOrInFiles) {
  auto log = NewLog();
  const std::string middling(900'000, 'x');
  for (int i = 0; i < 30; ++i) log->AddDisplay(Text(middling));
  const std::vector<CellOutput> outputs = OutputsOf(*log);
  ASSERT_EQ(outputs.size(), 30u);
  for (int i = 0; i < 18; ++i) {
    EXPECT_EQ(outputs[i].data.at(0).data, middling);
    EXPECT_THAT(outputs[i].saved, IsEmpty());
  }
  for (int i = 18; i < 30; ++i) {
    EXPECT_EQ(ReadFile(outputs[i].saved.at(0).artifact_path), middling);
  }
  EXPECT_LE(BytesIn(outputs), kResultBytes);
}

TEST_F(OutputLogTest, OfATextThatIsLargerThanAResultTheStartStays) {
  auto log = NewLog();
  const std::string large(17 << 20, 'x');
  log->AddDisplay(Text(large));
  const CellOutput output = OutputsOf(*log).at(0);
  EXPECT_EQ(output.data.at(0).data, std::string(128 * 1024, 'x'));
  EXPECT_EQ(output.saved.at(0).mime, "text/plain");
  EXPECT_EQ(output.saved[0].bytes, large.size());
  EXPECT_EQ(ReadFile(output.saved[0].artifact_path), large);
}

TEST_F(OutputLogTest, WhereNoFileCanBeMadeTheResultDoesNotGrowWithoutBound) {
  std::ofstream(directory_) << "in the way";
  auto log = NewLog();
  const std::string large(2'000'000, 'L');
  for (int i = 0; i < 12; ++i) log->AddDisplay(Picture(large));
  const std::vector<CellOutput> outputs = OutputsOf(*log);
  ASSERT_THAT(outputs, SizeIs(12));
  for (const CellOutput& output : outputs) {
    EXPECT_THAT(output.saved.at(0).error, HasSubstr("is not a directory"));
  }
  EXPECT_EQ(BytesIn(outputs), 8 * large.size() + 12 * std::string("<picture>").size());
}

TEST_F(OutputLogTest, MetadataAndIdsDoNotFillTheMemory) {
  auto log = NewLog();
  for (int i = 0; i < 10; ++i) {
    wire::Display display = Text("x", std::string(1'000'000, static_cast<char>('a' + i)));
    display.metadata = std::string(1'000'000, ' ');
    log->AddDisplay(std::move(display));
  }
  const std::vector<CellOutput> outputs = OutputsOf(*log);
  ASSERT_THAT(outputs, SizeIs(3));
  EXPECT_EQ(outputs.back().text, "[further displays of this cell are not kept]\n");
}

TEST_F(OutputLogTest, ManyEventsTakeNothingFromDisplaysAndResult) {
  auto log = NewLog();
  log->AddDisplay(Text("0", "progress"));
  for (int i = 1; i <= 1500; ++i) {
    log->AddDisplay(Event());
    log->AddDisplay(Update(std::to_string(i), "progress"));
  }
  log->AddDisplay(Text("shown"));
  log->AddDisplay(Result("42"));
  const std::vector<CellOutput> outputs = OutputsOf(*log);
  ASSERT_THAT(outputs, SizeIs(1 + 1000 + 1 + 1 + 1));
  EXPECT_EQ(outputs[0].data.at(0).data, "1500");
  EXPECT_EQ(outputs[1001].data.at(0).data, "shown");
  EXPECT_EQ(outputs[1002].data.at(0).data, "42");
  EXPECT_EQ(outputs[1003].data.at(0).data, R"({"op": "left_out", "events": 500})");
}

TEST_F(OutputLogTest, ManyDisplaysTakeNothingFromTheResultAndFromUpdates) {
  auto log = NewLog();
  for (int i = 0; i < 1500; ++i) log->AddDisplay(Text(std::to_string(i), std::to_string(i)));
  log->AddDisplay(Update("new", "7"));
  log->AddDisplay(Result("42"));
  const std::vector<CellOutput> outputs = OutputsOf(*log);
  ASSERT_THAT(outputs, SizeIs(1000 + 1 + 1));
  EXPECT_EQ(outputs[7].data.at(0).data, "new");
  EXPECT_EQ(outputs[1000].text, "[further displays of this cell are not kept]\n");
  EXPECT_EQ(outputs[1001].data.at(0).data, "42");
}

TEST_F(OutputLogTest, AnEventIsNotTheOutputThatAClearWaitsFor) {
  auto log = NewLog();
  log->AddText(Stream::kStdout, "stays");
  log->AddDisplay({.kind = wire::DisplayKind::kClear, .metadata = R"({"wait": true})"});
  log->AddDisplay(Event());
  EXPECT_EQ(OutputsOf(*log).at(0).text, "stays");
}

TEST_F(OutputLogTest, ADisplayOfVeryManyTypesIsCut) {
  auto log = NewLog();
  wire::Display display = Text("x");
  for (int i = 0; i < 10'000; ++i) {
    display.data.push_back({"a/" + std::to_string(i), wire::MimeKind::kText, "y"});
  }
  log->AddDisplay(std::move(display));
  const std::vector<CellOutput> outputs = OutputsOf(*log);
  ASSERT_THAT(outputs, SizeIs(2));
  EXPECT_EQ(outputs[0].text, "[of the 10001 types of a display 100 are kept]\n");
  EXPECT_THAT(outputs[1].data, SizeIs(100));
}

}  // namespace
}  // namespace cellar::host
