// The head and the tail of a cell's text within a budget, in the order it was written. It counts
// what lies between but does not word the mark that stands there: that is the sink's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "host/output/stream.h"

namespace cellar::host {

struct OutputWindowLimits {
  size_t head_bytes = 20 * 1024;
  size_t tail_bytes = 30 * 1024;
};

// Text up to head_bytes + tail_bytes is kept whole. Beyond, the head is cut after its last whole
// line, the tail before its first whole line; a line too long for either is cut between two
// characters. Copyable, so that output can be looked at while it grows. Not thread-safe.
class OutputWindow {
 public:
  struct Item {
    enum class Kind : uint8_t {
      kText,   // stream, text
      kCut,    // stream, bytes: the rest of a line that was too long
      kPlace,  // place
      kGap,    // lines, bytes: what was left out here; at most one
    };
    Kind kind = Kind::kText;
    Stream stream = Stream::kStdout;
    std::string text;
    uint64_t lines = 0;
    uint64_t bytes = 0;
    uint32_t place = 0;
  };

  explicit OutputWindow(OutputWindowLimits limits) : limits_(limits) {}

  // `text` is valid UTF-8.
  void AppendText(Stream stream, std::string_view text);

  // `bytes` of text without a newline were not appended here.
  void AppendCut(Stream stream, uint64_t bytes);

  // Something stands here that is not text, known to the caller as `place`. Places are never left
  // out: those in the gap come next to it. They cost a few bytes each; the caller limits their
  // number.
  void AppendPlace(uint32_t place);

  // Adjacent text of one stream is one item. The bytes of all kText, kCut and kGap items add up to
  // total_bytes().
  std::vector<Item> Items() const;

  bool HasGap() const { return head_is_full_ && tail_.size() > TailLimit(); }
  uint64_t total_bytes() const { return total_bytes_; }
  uint64_t total_lines() const { return newlines_ + (in_line_ ? 1 : 0); }

 private:
  // A stretch of the timeline. `value` is the length of a kText, the bytes of a kCut, the id of a
  // kPlace.
  struct Run {
    Item::Kind kind;
    Stream stream;
    uint64_t value;
  };

  // The head may be full a few bytes early, before a character that does not fit.
  size_t TailLimit() const { return limits_.head_bytes + limits_.tail_bytes - head_.size(); }
  std::deque<Run>* LastRuns() { return head_is_full_ ? &tail_runs_ : &head_runs_; }
  void AppendToTail(Stream stream, std::string_view text);
  static void AppendTextRun(Stream stream, size_t size, std::deque<Run>* runs);
  void DropFromTail(size_t bytes);
  size_t HeadCut() const;
  size_t TailCut() const;
  static void AddItems(const std::deque<Run>& runs, std::string_view text, size_t begin, size_t end,
                       std::vector<Item>* items);

  OutputWindowLimits limits_;
  std::string head_;
  bool head_is_full_ = false;
  std::string tail_;
  std::deque<Run> head_runs_;
  std::deque<Run> tail_runs_;
  std::vector<uint32_t> dropped_places_;
  uint64_t total_bytes_ = 0;
  uint64_t newlines_ = 0;
  bool in_line_ = false;
};

}  // namespace cellar::host
