#include "host/output/spill_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/testing/files.h"
#include "tests/testing/scratch_directory.h"
#include "tests/testing/spilling.h"

namespace cellar::host {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class SpillTest : public testing::Test {
 protected:
  Spill::Options Options(uint64_t max_bytes = uint64_t{1} << 30) {
    return {.max_bytes = max_bytes, .on_progress = progress_.Callback()};
  }

  SpillFacts Settled(Spill* spill) {
    spill->Close();
    EXPECT_TRUE(progress_.WaitUntil([spill] { return spill->IsSettled(); }));
    return spill->Facts();
  }

  ScratchDirectory temp_;
  const std::string directory_ = temp_ / "artifacts";
  const ArtifactStore store_{directory_};
  Progress progress_;
  std::unique_ptr<SpillWriter> writer_ = std::make_unique<SpillWriter>();
};

TEST_F(SpillTest, WritesEverythingInOrder) {
  Spill spill(writer_.get(), store_, Options());
  std::string all;
  for (int i = 0; i < 10'000; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    spill.Append(line);
    all += line;
  }
  const SpillFacts facts = Settled(&spill);
  EXPECT_EQ(facts.written_bytes, all.size());
  EXPECT_EQ(facts.missing_bytes, 0u);
  EXPECT_EQ(facts.error, "");
  EXPECT_EQ(ReadFile(facts.path), all);
  EXPECT_EQ(facts.path, directory_ + "/" + facts.id);
}

TEST_F(SpillTest, MakesNoFileForNothing) {
  Spill spill(writer_.get(), store_, Options());
  EXPECT_EQ(Settled(&spill).id, "");
  EXPECT_FALSE(std::filesystem::exists(directory_));
}

TEST_F(SpillTest, StopsAtItsLimitAndCountsTheRest) {
  Spill spill(writer_.get(), store_, Options(/*max_bytes=*/10));
  spill.Append("12345678");
  spill.Append("90abc");
  spill.Append("def");
  const SpillFacts facts = Settled(&spill);
  EXPECT_EQ(ReadFile(facts.path), "1234567890");
  EXPECT_EQ(facts.missing_bytes, 6u);
  EXPECT_EQ(facts.error, "the limit of 10 bytes was reached");
}

TEST_F(SpillTest, AsksForAPauseWhileTheDiskStandsStillAndEndsIt) {
  Spill spill(writer_.get(), store_, Options());
  StalledDisk disk;
  spill.Append("x");
  disk.WaitForWriter();
  const std::string chunk(1 << 20, 'x');
  spill.Append(chunk);
  EXPECT_FALSE(spill.WantsPause());
  spill.Append(chunk);
  EXPECT_TRUE(spill.WantsPause());
  EXPECT_EQ(progress_.calls(), 0);
  EXPECT_EQ(spill.Facts().missing_bytes, (uint64_t{2} << 20) + 1);
  EXPECT_EQ(spill.Facts().error, "not yet written");
  disk.Release();
  EXPECT_TRUE(progress_.WaitUntil([&] { return !spill.WantsPause(); }));
  EXPECT_GE(progress_.calls(), 1);
  EXPECT_EQ(Settled(&spill).written_bytes, (uint64_t{2} << 20) + 1);
}

TEST_F(SpillTest, TellsThatNoPauseIsWantedWhenItEndsWhileTheDiskStandsStill) {
  StalledDisk disk;
  Spill stalled(writer_.get(), store_, Options());
  stalled.Append("x");
  disk.WaitForWriter();
  const std::string much(Spill::kPauseBytes, 'x');
  Spill closed(writer_.get(), store_, Options());
  closed.Append(much);
  ASSERT_TRUE(closed.WantsPause());
  closed.Close();
  EXPECT_EQ(progress_.calls(), 1);
  {
    Spill destroyed(writer_.get(), store_, Options());
    destroyed.Append(much);
  }
  EXPECT_EQ(progress_.calls(), 2);
}

TEST_F(SpillTest, DropsWhatExceedsItsMemoryAndSaysSo) {
  Spill spill(writer_.get(), store_, Options());
  StalledDisk disk;
  spill.Append("x");
  disk.WaitForWriter();
  const std::string chunk(3 << 20, 'x');
  for (int i = 0; i < 8; ++i) spill.Append(chunk);
  disk.Release();
  const SpillFacts facts = Settled(&spill);
  EXPECT_EQ(facts.written_bytes, Spill::kMaxWaitingBytes + 1);
  EXPECT_EQ(facts.missing_bytes, (uint64_t{24} << 20) - Spill::kMaxWaitingBytes);
  EXPECT_EQ(facts.error, "the disk was too slow");
}

TEST_F(SpillTest, IsDestroyedWithoutWaitingForTheDisk) {
  StalledDisk disk;
  {
    Spill closed(writer_.get(), store_, Options());
    closed.Append("kept");
    closed.Close();
    disk.WaitForWriter();
    Spill abandoned(writer_.get(), store_, Options());
    abandoned.Append("dropped");
  }
  disk.Release();
  writer_.reset();
  const std::vector<std::string> files = FilesIn(directory_);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(ReadFile(directory_ + "/" + files[0]), "kept");
  EXPECT_EQ(progress_.calls(), 0);
}

TEST_F(SpillTest, TakesAFileSizeLimitForAnError) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 10, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Spill spill(writer_.get(), store_, Options());
  spill.Append("0123456789abc");
  const SpillFacts facts = Settled(&spill);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(facts.written_bytes, 10u);
  EXPECT_EQ(facts.missing_bytes, 3u);
  EXPECT_THAT(facts.error, HasSubstr("File too large"));
}

TEST_F(SpillTest, RemovesTheFileWhenDiscarded) {
  Spill spill(writer_.get(), store_, Options());
  spill.Append("text");
  EXPECT_TRUE(progress_.WaitUntil([&] {
    spill.Discard();
    return spill.IsSettled();
  }));
  EXPECT_EQ(spill.Facts().id, "");
  EXPECT_THAT(FilesIn(directory_), IsEmpty());
}

TEST_F(SpillTest, RemovesAFileThatWasClosedWhenDiscarded) {
  Spill spill(writer_.get(), store_, Options());
  spill.Append("text");
  EXPECT_NE(Settled(&spill).id, "");
  spill.Discard();
  EXPECT_TRUE(progress_.WaitUntil([&] { return spill.IsSettled(); }));
  EXPECT_EQ(spill.Facts().id, "");
  EXPECT_THAT(FilesIn(directory_), IsEmpty());
}

TEST_F(SpillTest, GoesOnWhenTheDirectoryCannotBeMade) {
  const ArtifactStore store("/proc/no/such");
  Spill spill(writer_.get(), store, Options());
  for (int i = 0; i < 100; ++i) spill.Append("0123456789");
  const SpillFacts facts = Settled(&spill);
  EXPECT_EQ(facts.id, "");
  EXPECT_EQ(facts.missing_bytes, 1000u);
  EXPECT_THAT(facts.error, StartsWith("making /proc/no: "));
}

TEST_F(SpillTest, KeepsTheStartWhenTheDiskIsFull) {
  const SmallDisk disk(directory_, 256 << 10);
  if (!disk.is_mounted()) GTEST_SKIP() << "mounting is not allowed here";
  writer_ = std::make_unique<SpillWriter>();  // its thread sees the mount
  Spill spill(writer_.get(), store_, Options());
  const std::string chunk(100'000, 'x');
  for (int i = 0; i < 10; ++i) spill.Append(chunk);
  const SpillFacts facts = Settled(&spill);
  EXPECT_GT(facts.written_bytes, 0u);
  EXPECT_LE(facts.written_bytes, 256u << 10);
  EXPECT_EQ(facts.written_bytes + facts.missing_bytes, 1'000'000u);
  EXPECT_THAT(facts.error, HasSubstr("No space left on device"));
  EXPECT_EQ(ReadFile(facts.path), std::string(facts.written_bytes, 'x'));
}

TEST_F(SpillTest, GoesOnWhenTheDiskIsReadOnly) {
  const SmallDisk disk(directory_, 64 << 10);
  if (!disk.is_mounted()) GTEST_SKIP() << "mounting is not allowed here";
  ASSERT_TRUE(disk.MakeReadOnly());
  writer_ = std::make_unique<SpillWriter>();
  Spill spill(writer_.get(), store_, Options());
  spill.Append("text");
  const SpillFacts facts = Settled(&spill);
  EXPECT_EQ(facts.id, "");
  EXPECT_EQ(facts.missing_bytes, 4u);
  EXPECT_THAT(facts.error, HasSubstr("Read-only file system"));
}

TEST_F(SpillTest, LeavesNoEmptyFileWhenTheDiskWasFullBefore) {
  const SmallDisk disk(directory_, 64 << 10);
  if (!disk.is_mounted()) GTEST_SKIP() << "mounting is not allowed here";
  std::ofstream(directory_ + "/filler") << std::string(64 << 10, 'x');
  writer_ = std::make_unique<SpillWriter>();
  Spill spill(writer_.get(), store_, Options());
  spill.Append("text");
  const SpillFacts facts = Settled(&spill);
  EXPECT_EQ(facts.id, "");
  EXPECT_EQ(facts.missing_bytes, 4u);
  EXPECT_EQ(FilesIn(directory_).size(), 1u);
}

TEST_F(SpillTest, WritesManySpillsAtOnce) {
  std::vector<std::unique_ptr<Spill>> spills;
  for (int i = 0; i < 50; ++i) {
    spills.push_back(std::make_unique<Spill>(writer_.get(), store_, Options()));
  }
  for (int round = 0; round < 100; ++round) {
    for (size_t i = 0; i < spills.size(); ++i)
      spills[i]->Append(std::string(100, static_cast<char>('A' + i)));
  }
  for (size_t i = 0; i < spills.size(); ++i) {
    EXPECT_EQ(ReadFile(Settled(spills[i].get()).path),
              std::string(10'000, static_cast<char>('A' + i)));
  }
}

}  // namespace
}  // namespace cellar::host
