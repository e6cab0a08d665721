#include "host/wire/ring.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "host/base/fds.h"

namespace cellar::wire {
namespace {

class RingTest : public ::testing::Test {
 protected:
  // Everything that can be read now, record by record.
  std::vector<Record> ReadAll() {
    std::vector<Record> records;
    absl::StatusOr<uint64_t> head = reader_.Head();
    EXPECT_TRUE(head.ok()) << head.status();
    Record record;
    while (true) {
      absl::StatusOr<bool> more = reader_.Read(*head, record);
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.ok() || !*more) break;
      records.push_back(record);
    }
    reader_.Release();
    return records;
  }

  UniqueFd fd_ = *MakeSealedMemory("ring", kRingMemorySize);
  RingMemory memory_ = *RingMemory::Map(fd_.get());
  RingWriter writer_{memory_};
  RingReader reader_{memory_};
};

TEST_F(RingTest, CarriesRecordsInOrder) {
  ASSERT_TRUE(writer_.TryWrite(StreamId::kStdout, 1, "one", std::nullopt));
  ASSERT_TRUE(writer_.TryWrite(StreamId::kStderr, 2, "", Position{.out = 5, .err = 6}));
  std::vector<Record> records = ReadAll();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].text, "one");
  EXPECT_EQ(records[0].cell, 1u);
  EXPECT_FALSE(records[0].pipes.has_value());
  EXPECT_EQ(records[1].stream, StreamId::kStderr);
  EXPECT_EQ(records[1].pipes->out, 5u);
  EXPECT_EQ(records[1].pipes->err, 6u);
}

TEST_F(RingTest, WrapsAroundManyTimesWithoutLosingAByte) {
  std::mt19937 random(1);
  std::string sent, received;
  for (int i = 0; i < 5000; ++i) {
    std::string text(random() % 3000, static_cast<char>('a' + i % 26));
    while (!writer_.TryWrite(StreamId::kStdout, 1, text, std::nullopt)) {
      for (Record& record : ReadAll()) received += record.text;
    }
    sent += text;
  }
  for (Record& record : ReadAll()) received += record.text;
  EXPECT_EQ(sent, received);
}

TEST_F(RingTest, RefusesWhatDoesNotFitUntilThereIsRoom) {
  std::string quarter(RingWriter::kMaxRecordText, 'x');
  int written = 0;
  while (writer_.TryWrite(StreamId::kStdout, 1, quarter, std::nullopt)) ++written;
  EXPECT_EQ(written, 3);
  EXPECT_EQ(ReadAll().size(), 3u);
  EXPECT_TRUE(writer_.TryWrite(StreamId::kStdout, 1, quarter, std::nullopt));
}

TEST_F(RingTest, TheDoorbellIsAskedForOnce) {
  EXPECT_TRUE(reader_.PrepareToSleep());
  ASSERT_TRUE(writer_.TryWrite(StreamId::kStdout, 1, "x", std::nullopt));
  EXPECT_TRUE(writer_.TakeDoorbellRequest());
  EXPECT_FALSE(writer_.TakeDoorbellRequest());
  EXPECT_FALSE(reader_.PrepareToSleep()) << "there is something to read";
}

TEST_F(RingTest, AWaitingWriterIsWokenByTheReader) {
  std::string quarter(RingWriter::kMaxRecordText, 'x');
  while (writer_.TryWrite(StreamId::kStdout, 1, quarter, std::nullopt)) {
  }
  std::thread writer([&] {
    while (!writer_.TryWrite(StreamId::kStdout, 1, quarter, std::nullopt))
      writer_.WaitForRoom(60'000);
  });
  while (memory_.header().writer_waits.load() == 0) std::this_thread::yield();
  ReadAll();
  writer.join();
}

TEST_F(RingTest, WhatWasWrittenOutlivesAWriterKilledInTheMiddle) {
  pid_t child = fork();
  if (child == 0) {
    RingWriter writer(memory_);
    writer.TryWrite(StreamId::kStdout, 3, "last words", std::nullopt);
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  std::vector<Record> records = ReadAll();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].text, "last words");
}

TEST_F(RingTest, RandomMemoryIsAnErrorAndNeverReadOutside) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    RingReader reader(memory_);
    for (int i = 0; i < 64; ++i)
      memory_.data()[i] = static_cast<char>(random() % (round % 2 ? 256 : 4));
    memory_.header().head.store(random() % (round % 3 ? 128 : 2 * kRingCapacity));
    absl::StatusOr<uint64_t> head = reader.Head();
    Record record;
    while (head.ok()) {
      absl::StatusOr<bool> more = reader.Read(*head, record);
      if (!more.ok() || !*more) break;
      ASSERT_LE(reader.tail(), *head);
    }
  }
}

}  // namespace
}  // namespace cellar::wire
