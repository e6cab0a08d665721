#include "host/output/sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/output/random_output.h"
#include "tests/testing/files.h"
#include "tests/testing/scratch_directory.h"
#include "tests/testing/spilling.h"
#include "tests/testing/valid_utf8.h"

namespace cellar::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Stream kOut = Stream::kStdout;
constexpr Stream kErr = Stream::kStderr;

// "o:text" for stdout, "e:text" for stderr, "mark:text", "place 3".
std::vector<std::string> Described(const SinkOutput& output) {
  std::vector<std::string> described;
  for (const OutputPiece& piece : output.pieces) {
    if (piece.kind == OutputPiece::Kind::kPlace) {
      described.push_back("place " + std::to_string(piece.place));
    } else if (piece.kind == OutputPiece::Kind::kMark) {
      described.push_back("mark:" + piece.text);
    } else {
      described.push_back((piece.stream == kOut ? "o:" : "e:") + piece.text);
    }
  }
  return described;
}

class SinkTest : public testing::Test {
 protected:
  SinkOptions Options() { return {.on_progress = progress_.Callback()}; }
  SinkOptions SmallOptions() {
    SinkOptions options = Options();
    options.budget_bytes = 30;
    options.head_bytes = 10;
    return options;
  }

  SinkOutput Settled(Sink* sink) {
    sink->Close();
    EXPECT_TRUE(progress_.WaitUntil([sink] { return sink->IsSettled(); }));
    return sink->Output();
  }

  // Writes in chunks, pausing when asked, as the host does.
  void WriteAll(Sink* sink, std::string_view bytes, size_t chunk) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(chunk, bytes.size()))) {
      sink->Write(kOut, bytes.substr(0, chunk));
      if (!sink->WantsPause()) continue;
      ASSERT_TRUE(progress_.WaitUntil([sink] { return !sink->WantsPause(); }));
    }
  }

  ScratchDirectory temp_;
  const std::string directory_ = temp_ / "artifacts";
  const ArtifactStore store_{directory_};
  Progress progress_;
  SpillWriter writer_;
};

TEST_F(SinkTest, GivesNothingForNothing) {
  Sink sink(&writer_, &store_, Options());
  sink.Write(kOut, "");
  const SinkOutput output = Settled(&sink);
  EXPECT_THAT(output.pieces, IsEmpty());
  EXPECT_FALSE(output.truncation);
}

TEST_F(SinkTest, KeepsSmallOutputInOrderAndTouchesNoDisk) {
  Sink sink(&writer_, &store_, Options());
  sink.Write(kOut, "one\n");
  sink.Write(kOut, "two\n");
  sink.Write(kErr, "warning\n");
  sink.Write(kOut, "three");
  const SinkOutput output = Settled(&sink);
  EXPECT_THAT(Described(output), ElementsAre("o:one\ntwo\n", "e:warning\n", "o:three"));
  EXPECT_FALSE(output.truncation);
  EXPECT_FALSE(std::filesystem::exists(directory_));
}

TEST_F(SinkTest, CountsTheLinesAndBytesOfBothStreams) {
  SinkOptions options = SmallOptions();
  options.budget_bytes = 10;
  Sink sink(&writer_, &store_, options);
  sink.Write(kOut, "one\n");
  sink.Write(kOut, "two\n");
  sink.Write(kErr, "warning\n");
  sink.Write(kOut, "three");
  const SinkOutput output = Settled(&sink);
  ASSERT_TRUE(output.truncation);
  EXPECT_EQ(output.truncation->total_lines, 4u);
  EXPECT_EQ(output.truncation->total_bytes, 21u);
}

TEST_F(SinkTest, LetsALineStandWhereTheOtherStreamComesIn) {
  Sink sink(&writer_, &store_, Options());
  sink.Write(kErr, "\r10%");
  sink.Write(kErr, "\r20%");
  sink.Write(kOut, "step\n");
  sink.Write(kErr, "\r30%\r40%");
  EXPECT_THAT(Described(Settled(&sink)), ElementsAre("e:20%", "o:step\n", "e:40%"));
}

TEST_F(SinkTest, JoinsACharacterThatTheOtherStreamInterrupts) {
  Sink sink(&writer_, &store_, Options());
  sink.Write(kOut, "a\xc3");
  sink.Write(kErr, "b\xe6\xbc");
  sink.Write(kOut, "\xa9\n");
  sink.Write(kErr, "\xa2");
  sink.Write(kOut, "\xf0");
  EXPECT_THAT(Described(Settled(&sink)), ElementsAre("o:a", "e:b", "o:é\n", "e:漢", "o:\uFFFD"));
}

TEST_F(SinkTest, KeepsPlacesInTheTimeline) {
  Sink sink(&writer_, &store_, Options());
  sink.Write(kOut, "before\n");
  sink.Place(1);
  sink.Place(2);
  sink.Write(kOut, "after");
  EXPECT_THAT(Described(Settled(&sink)),
              ElementsAre("o:before\n", "place 1", "place 2", "o:after"));
}

TEST_F(SinkTest, LeavesOutTheMiddleAndSavesTheWhole) {
  Sink sink(&writer_, &store_, SmallOptions());
  std::string raw;
  for (int i = 100; i < 120; ++i) raw += "line " + std::to_string(i) + "\n";
  sink.Write(kOut, raw);
  const SinkOutput output = Settled(&sink);
  ASSERT_TRUE(output.truncation);
  const Truncation& facts = *output.truncation;
  EXPECT_THAT(Described(output),
              ElementsAre("o:line 100\n",
                          "mark:[17 lines, 153 bytes left out; the whole is in artifact://" +
                              facts.artifact_id + " (" + facts.artifact_path + ")]\n",
                          "o:line 118\nline 119\n"));
  EXPECT_EQ(facts.total_lines, 20u);
  EXPECT_EQ(facts.total_bytes, 180u);
  EXPECT_EQ(facts.text_bytes, 180u);
  EXPECT_EQ(facts.kept_bytes, 27u);
  EXPECT_EQ(facts.omitted_lines, 17u);
  EXPECT_EQ(facts.omitted_bytes, 153u);
  EXPECT_EQ(facts.artifact_bytes, 180u);
  EXPECT_EQ(facts.missing_bytes, 0u);
  EXPECT_EQ(facts.error, "");
  EXPECT_EQ(ReadFile(facts.artifact_path), raw);
}

TEST_F(SinkTest, SavesRawBytesOfBothStreams) {
  Sink sink(&writer_, &store_, SmallOptions());
  sink.Write(kOut, "\x1b[31mred\x1b[0m\xff\r");
  sink.Write(kErr, std::string(100, 'e'));
  sink.Write(kOut, "\n");
  const SinkOutput output = Settled(&sink);
  EXPECT_EQ(ReadFile(output.truncation->artifact_path),
            "\x1b[31mred\x1b[0m\xff\r" + std::string(100, 'e') + "\n");
}

TEST_F(SinkTest, ClampsALongLineAndSavesTheRest) {
  Sink sink(&writer_, &store_, Options());
  sink.Write(kOut, std::string(3000, 'x'));
  sink.Write(kOut, std::string(3000, 'x') + "\nnext\n");
  const SinkOutput output = Settled(&sink);
  ASSERT_TRUE(output.truncation);
  const Truncation& facts = *output.truncation;
  EXPECT_THAT(Described(output),
              ElementsAre("o:" + std::string(4000, 'x') + "…[2000 more bytes in artifact://" +
                          facts.artifact_id + "]\nnext\n"));
  EXPECT_EQ(facts.clamped_lines, 1u);
  EXPECT_EQ(facts.clamped_bytes, 2000u);
  EXPECT_EQ(facts.omitted_bytes, 0u);
  EXPECT_EQ(facts.total_lines, 2u);
  EXPECT_EQ(ReadFile(facts.artifact_path).size(), 6006u);
}

TEST_F(SinkTest, DiscardsTheArtifactOfAProgressLineThatIsShownWhole) {
  Sink sink(&writer_, &store_, Options());
  for (int i = 0; i < 100'000; ++i) sink.Write(kErr, "\r" + std::to_string(i) + " of 100000");
  sink.Write(kErr, "\n");
  const SinkOutput output = Settled(&sink);
  EXPECT_THAT(Described(output), ElementsAre("e:99999 of 100000\n"));
  EXPECT_FALSE(output.truncation);
  EXPECT_THAT(FilesIn(directory_), IsEmpty());
}

TEST_F(SinkTest, SavesInvalidBytesThatGrowPastTheBudget) {
  Sink sink(&writer_, &store_, SmallOptions());
  sink.Write(kOut, std::string(20, '\xff'));
  const SinkOutput output = Settled(&sink);
  ASSERT_TRUE(output.truncation);
  EXPECT_EQ(output.truncation->text_bytes, 60u);
  EXPECT_EQ(ReadFile(output.truncation->artifact_path), std::string(20, '\xff'));
}

TEST_F(SinkTest, SaysWhatIsMissingBeyondTheArtifactLimit) {
  SinkOptions options = SmallOptions();
  options.max_artifact_bytes = 50;
  Sink sink(&writer_, &store_, options);
  sink.Write(kOut, std::string(99, 'x') + "\n");
  const SinkOutput output = Settled(&sink);
  EXPECT_EQ(output.truncation->artifact_bytes, 50u);
  EXPECT_EQ(output.truncation->missing_bytes, 50u);
  EXPECT_THAT(Described(output)[1], HasSubstr("the first 50 bytes are in artifact://"));
  EXPECT_THAT(Described(output)[1],
              HasSubstr(", 50 bytes are missing: the limit of 50 bytes was reached]\n"));
}

TEST_F(SinkTest, GoesOnWhenNothingCanBeSaved) {
  const ArtifactStore store("/proc/no/such");
  Sink sink(&writer_, &store, SmallOptions());
  for (int i = 0; i < 100; ++i) sink.Write(kOut, "0123456789\n");
  const SinkOutput output = Settled(&sink);
  EXPECT_EQ(output.truncation->total_lines, 100u);
  EXPECT_EQ(output.truncation->artifact_id, "");
  EXPECT_EQ(output.truncation->missing_bytes, 1100u);
  EXPECT_THAT(Described(output)[1], HasSubstr("the whole was not saved: making /proc/no: "));
}

TEST_F(SinkTest, GoesOnWhenTheDiskIsFull) {
  const SmallDisk disk(directory_, 256 << 10);
  if (!disk.is_mounted()) GTEST_SKIP() << "mounting is not allowed here";
  SpillWriter writer;  // its thread sees the mount
  Sink sink(&writer, &store_, Options());
  const std::string line = std::string(99, 'x') + "\n";
  for (int i = 0; i < 10'000; ++i) sink.Write(kOut, line);
  const SinkOutput output = Settled(&sink);
  EXPECT_EQ(output.truncation->total_lines, 10'000u);
  EXPECT_EQ(output.truncation->artifact_bytes + output.truncation->missing_bytes, 1'000'000u);
  EXPECT_GT(output.truncation->artifact_bytes, 0u);
  EXPECT_THAT(output.truncation->error, HasSubstr("No space left on device"));
}

TEST_F(SinkTest, SaysThatNothingIsSavedWhenTheDirectoryVanishesUnderIt) {
  Sink sink(&writer_, &store_, SmallOptions());
  sink.Write(kOut, std::string(100, 'x'));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (FilesIn(directory_).empty() && std::chrono::steady_clock::now() < deadline) sched_yield();
  std::filesystem::remove_all(directory_);
  sink.Write(kOut, std::string(100, 'y'));
  const SinkOutput output = Settled(&sink);
  EXPECT_EQ(output.truncation->total_bytes, 200u);
  EXPECT_EQ(output.truncation->artifact_id, "");
  EXPECT_EQ(output.truncation->missing_bytes, 200u);
  EXPECT_THAT(output.truncation->error, HasSubstr("was removed while it was written"));
}

TEST_F(SinkTest, GivesWhatItHasWhenTheDiskHangs) {
  StalledDisk disk;
  Sink sink(&writer_, &store_, SmallOptions());
  sink.Write(kOut, std::string(100, 'x'));
  disk.WaitForWriter();
  sink.Close();
  EXPECT_FALSE(sink.IsSettled());
  const SinkOutput output = sink.Output();
  EXPECT_EQ(output.truncation->missing_bytes, 100u);
  EXPECT_EQ(output.truncation->error, "not yet written");
  EXPECT_EQ(output.pieces.size(), 3u);
}

TEST_F(SinkTest, ShowsTheLineUnderWayBeforeItIsComplete) {
  Sink sink(&writer_, &store_, Options());
  sink.Write(kOut, "done\n10%\r20%");
  EXPECT_THAT(Described(sink.Output()), ElementsAre("o:done\n20%"));
  EXPECT_FALSE(sink.IsSettled());
  sink.Write(kOut, "\r30%");
  EXPECT_THAT(Described(Settled(&sink)), ElementsAre("o:done\n30%"));
}

TEST_F(SinkTest, RemovesTheArtifactWhenItIsDestroyedUnclosed) {
  {
    SpillWriter writer;
    Sink sink(&writer, &store_, SmallOptions());
    sink.Write(kOut, std::string(100, 'x'));
  }
  EXPECT_THAT(FilesIn(directory_), IsEmpty());
}

TEST_F(SinkTest, UsesTheWholeDefaultBudget) {
  Sink sink(&writer_, &store_, Options());
  const std::string line = std::string(63, 'x') + "\n";
  std::string raw;
  for (int i = 0; i < 5000; ++i) raw += line;
  WriteAll(&sink, raw, 1000);
  const SinkOutput output = Settled(&sink);
  ASSERT_EQ(output.pieces.size(), 3u);
  EXPECT_EQ(output.pieces[0].text.size(), 20u * 1024);
  EXPECT_EQ(output.pieces[2].text.size(), 30u * 1024);
  EXPECT_EQ(output.truncation->omitted_lines, 5000u - 800u);
}

TEST_F(SinkTest, CountsAndSavesExactlyForRandomOutput) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    SinkOptions options = SmallOptions();
    options.budget_bytes = random() % 500;
    options.head_bytes = random() % 200;
    options.max_line_characters = random() % 100;
    Sink sink(&writer_, &store_, options);
    std::string raw;
    for (size_t i = random() % 30; i > 0; --i) {
      const std::string bytes = RandomOutput(&random, random() % 30);
      sink.Write(random() % 4 == 0 ? kErr : kOut, bytes);
      raw += bytes;
    }
    const SinkOutput output = Settled(&sink);
    const auto newlines = static_cast<uint64_t>(std::ranges::count(raw, '\n'));
    uint64_t shown_newlines = 0;
    for (const OutputPiece& piece : output.pieces) {
      ASSERT_TRUE(IsValidUtf8(piece.text));
      shown_newlines += static_cast<uint64_t>(std::ranges::count(piece.text, '\n'));
    }
    if (!output.truncation) {
      ASSERT_EQ(shown_newlines, newlines);
      continue;
    }
    const Truncation& facts = *output.truncation;
    ASSERT_EQ(facts.total_bytes, raw.size());
    ASSERT_TRUE(facts.total_lines == newlines || facts.total_lines == newlines + 1);
    ASSERT_LE(facts.kept_bytes, options.budget_bytes);
    ASSERT_EQ(facts.text_bytes, facts.kept_bytes + facts.omitted_bytes + facts.clamped_bytes);
    ASSERT_EQ(ReadFile(facts.artifact_path), raw);
  }
  EXPECT_EQ(FilesIn(directory_).empty(), false);
}

TEST_F(SinkTest, GivesTheSameOutputForEveryChunking) {
  std::mt19937 random(6);
  for (int round = 0; round < 200; ++round) {
    const std::string raw = RandomOutput(&random, 100);
    Sink whole(&writer_, &store_, SmallOptions());
    whole.Write(kOut, raw);
    Sink cut(&writer_, &store_, SmallOptions());
    for (std::string_view chunk : RandomChunks(&random, raw)) cut.Write(kOut, chunk);
    const SinkOutput expected = Settled(&whole);
    const SinkOutput actual = Settled(&cut);
    ASSERT_EQ(actual.pieces.size(), expected.pieces.size());
    for (size_t i = 0; i < actual.pieces.size(); ++i) {
      if (actual.pieces[i].kind == OutputPiece::Kind::kMark) continue;  // names another artifact
      ASSERT_EQ(actual.pieces[i].text, expected.pieces[i].text);
    }
  }
}

TEST_F(SinkTest, KeepsMemoryFlatForALineThatNeverEnds) {
  SinkOptions options = Options();
  options.max_artifact_bytes = 1 << 20;
  Sink sink(&writer_, &store_, options);
  const std::string chunk(1 << 20, 'x');
  WriteAll(&sink, chunk, chunk.size());
  const auto memory = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  const size_t before = memory();
  for (int i = 0; i < 200; ++i) WriteAll(&sink, chunk, chunk.size());
  EXPECT_LT(memory(), before + (size_t{4} << 20));
  const SinkOutput output = Settled(&sink);
  EXPECT_EQ(output.truncation->total_bytes, uint64_t{201} << 20);
  EXPECT_EQ(output.truncation->total_lines, 1u);
  EXPECT_EQ(output.truncation->clamped_bytes, (uint64_t{201} << 20) - 4000);
}

}  // namespace
}  // namespace cellar::host
