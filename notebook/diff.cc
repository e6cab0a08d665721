#include "notebook/diff.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace cellar::notebook {
namespace {

constexpr size_t kContext = 3;
// Beyond this many differing lines the search costs too much memory (its square).
constexpr int kMaxDistance = 2000;

enum class Kind : char { kSame = ' ', kOld = '-', kNew = '+' };

struct Line {
  Kind kind;
  std::string_view text;
};

using Lines = std::vector<std::string_view>;

Lines SplitLines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t newline = text.find('\n');
    const size_t size = newline == std::string_view::npos ? text.size() : newline + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

// Myers' greedy search for the shortest edit script (1986, "An O(ND) Difference Algorithm").
// `furthest` holds, by distance and diagonal, how far into the old lines the best path got.
class ShortestScript {
 public:
  ShortestScript(const Lines& old_lines, const Lines& new_lines, size_t front, size_t back)
      : old_(old_lines),
        new_(new_lines),
        front_(front),
        old_size_(static_cast<int>(old_lines.size() - front - back)),
        new_size_(static_cast<int>(new_lines.size() - front - back)) {}

  // Appends the script for the part between the common front and back.
  void AppendTo(std::vector<Line>* script) {
    const int distance = FindDistance();
    if (distance < 0) {
      for (int i = 0; i < old_size_; ++i) script->push_back({Kind::kOld, OldLine(i)});
      for (int i = 0; i < new_size_; ++i) script->push_back({Kind::kNew, NewLine(i)});
      return;
    }
    std::vector<Line> reversed = WalkBack(distance);
    script->insert(script->end(), reversed.rbegin(), reversed.rend());
  }

 private:
  std::string_view OldLine(int i) const { return old_[front_ + i]; }
  std::string_view NewLine(int i) const { return new_[front_ + i]; }

  // True if the best path to `diagonal` at `distance` came down (a new line) from diagonal + 1.
  static bool CameDown(const std::vector<int>& before, int distance, int diagonal) {
    if (diagonal == -distance) return true;
    if (diagonal == distance) return false;
    const int middle = static_cast<int>(before.size()) / 2;
    return before[middle + diagonal - 1] < before[middle + diagonal + 1];
  }

  // -1 if it is larger than kMaxDistance.
  int FindDistance() {
    std::vector<int> furthest(3, 0);  // diagonals -1, 0, 1
    for (int distance = 0; distance <= kMaxDistance; ++distance) {
      history_.push_back(furthest);
      std::vector<int> next(2 * distance + 5, 0);
      const int middle_before = static_cast<int>(furthest.size()) / 2;
      const int middle = static_cast<int>(next.size()) / 2;
      for (int diagonal = -distance; diagonal <= distance; diagonal += 2) {
        int x = CameDown(furthest, distance, diagonal) ? furthest[middle_before + diagonal + 1]
                                                       : furthest[middle_before + diagonal - 1] + 1;
        while (x < old_size_ && x - diagonal < new_size_ && OldLine(x) == NewLine(x - diagonal))
          ++x;
        next[middle + diagonal] = x;
        if (x >= old_size_ && x - diagonal >= new_size_) return distance;
      }
      furthest = std::move(next);
    }
    return -1;
  }

  std::vector<Line> WalkBack(int distance) const {
    std::vector<Line> reversed;
    int x = old_size_;
    int y = new_size_;
    for (; distance > 0; --distance) {
      const std::vector<int>& before = history_[distance];
      const bool down = CameDown(before, distance, x - y);
      const int diagonal = x - y + (down ? 1 : -1);
      const int old_x = before[static_cast<int>(before.size()) / 2 + diagonal];
      const int old_y = old_x - diagonal;
      while (x > old_x + (down ? 0 : 1) && y > old_y + (down ? 1 : 0)) {
        reversed.push_back({Kind::kSame, OldLine(--x)});
        --y;
      }
      reversed.push_back(down ? Line{Kind::kNew, NewLine(--y)} : Line{Kind::kOld, OldLine(--x)});
    }
    while (x > 0) reversed.push_back({Kind::kSame, OldLine(--x)});
    return reversed;
  }

  const Lines& old_;
  const Lines& new_;
  size_t front_;
  int old_size_;
  int new_size_;
  std::vector<std::vector<int>> history_;  // `furthest` before each distance
};

std::vector<Line> FindScript(const Lines& old_lines, const Lines& new_lines) {
  const size_t shorter = std::min(old_lines.size(), new_lines.size());
  size_t front = 0;
  while (front < shorter && old_lines[front] == new_lines[front]) ++front;
  size_t back = 0;
  while (back < shorter - front &&
         old_lines[old_lines.size() - 1 - back] == new_lines[new_lines.size() - 1 - back]) {
    ++back;
  }
  std::vector<Line> script;
  for (size_t i = 0; i < front; ++i) script.push_back({Kind::kSame, old_lines[i]});
  ShortestScript(old_lines, new_lines, front, back).AppendTo(&script);
  for (size_t i = old_lines.size() - back; i < old_lines.size(); ++i) {
    script.push_back({Kind::kSame, old_lines[i]});
  }
  return script;
}

// Lines [begin, end) of the script, whose first line is line old_line of the old and new_line of
// the new text (from 0).
void AppendHunk(const std::vector<Line>& script, size_t begin, size_t end, size_t old_line,
                size_t new_line, std::string* out) {
  size_t old_count = 0;
  size_t new_count = 0;
  for (size_t i = begin; i < end; ++i) {
    old_count += script[i].kind != Kind::kNew;
    new_count += script[i].kind != Kind::kOld;
  }
  // A side without lines is placed behind the line before it.
  *out += "@@ -" + std::to_string(old_line + (old_count > 0)) + "," + std::to_string(old_count) +
          " +" + std::to_string(new_line + (new_count > 0)) + "," + std::to_string(new_count) +
          " @@\n";
  for (size_t i = begin; i < end; ++i) {
    *out += static_cast<char>(script[i].kind);
    *out += script[i].text;
    if (!script[i].text.ends_with('\n')) *out += "\n\\ No newline at end of file\n";
  }
}

// The end of the hunk that starts at `begin`: behind the last change that has no gap of more than
// twice the context before it, plus the context.
size_t HunkEnd(const std::vector<Line>& script, size_t begin) {
  size_t last_change = begin;
  for (size_t i = begin; i < script.size() && i <= last_change + 2 * kContext + 1; ++i) {
    if (script[i].kind != Kind::kSame) last_change = i;
  }
  return std::min(last_change + 1 + kContext, script.size());
}

}  // namespace

std::string UnifiedDiff(std::string_view old_text, std::string_view new_text,
                        std::string_view old_name, std::string_view new_name) {
  if (old_text == new_text) return "";
  const Lines old_lines = SplitLines(old_text);
  const Lines new_lines = SplitLines(new_text);
  const std::vector<Line> script = FindScript(old_lines, new_lines);
  std::string diff = "--- " + std::string(old_name) + "\n+++ " + std::string(new_name) + "\n";
  size_t written = 0;
  size_t old_line = 0;
  size_t new_line = 0;
  auto advance_to = [&](size_t position) {
    for (; written < position; ++written) {
      old_line += script[written].kind != Kind::kNew;
      new_line += script[written].kind != Kind::kOld;
    }
  };
  for (size_t i = 0; i < script.size();) {
    if (script[i].kind == Kind::kSame) {
      ++i;
      continue;
    }
    advance_to(i - std::min(kContext, i - written));
    const size_t end = HunkEnd(script, i);
    AppendHunk(script, written, end, old_line, new_line, &diff);
    advance_to(end);
    i = end;
  }
  return diff;
}

}  // namespace cellar::notebook
