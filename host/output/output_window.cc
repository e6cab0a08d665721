#include "host/output/output_window.h"

#include <algorithm>
#include <utility>

#include "host/base/utf8.h"

namespace cellar::host {
namespace {

using Item = OutputWindow::Item;

void AddItem(Item item, std::vector<Item>* items) {
  const bool joins = item.kind == Item::Kind::kText && !items->empty() &&
                     items->back().kind == Item::Kind::kText && items->back().stream == item.stream;
  if (joins) {
    items->back().text += item.text;
    items->back().bytes += item.bytes;
  } else {
    items->push_back(std::move(item));
  }
}

size_t CountNewlines(std::string_view text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace

void OutputWindow::AppendText(Stream stream, std::string_view text) {
  if (text.empty()) return;
  total_bytes_ += text.size();
  newlines_ += CountNewlines(text);
  in_line_ = text.back() != '\n';
  if (!head_is_full_) {
    const size_t room = limits_.head_bytes - head_.size();
    const size_t size = Utf8BorderBefore(text, std::min(text.size(), room));
    head_.append(text.substr(0, size));
    AppendTextRun(stream, size, &head_runs_);
    text.remove_prefix(size);
    head_is_full_ = !text.empty();
  }
  AppendToTail(stream, text);
}

void OutputWindow::AppendToTail(Stream stream, std::string_view text) {
  // The byte before the tail tells whether the tail starts a line.
  const size_t kept = TailLimit() + 1;
  if (text.size() > kept) {
    DropFromTail(tail_.size());
    text.remove_prefix(text.size() - kept);
  }
  tail_.append(text);
  AppendTextRun(stream, text.size(), &tail_runs_);
  // Dropping at twice the size moves each byte once on average.
  if (tail_.size() > 2 * kept) DropFromTail(tail_.size() - kept);
}

void OutputWindow::AppendTextRun(Stream stream, size_t size, std::deque<Run>* runs) {
  if (size == 0) return;
  if (!runs->empty() && runs->back().kind == Item::Kind::kText && runs->back().stream == stream) {
    runs->back().value += size;
  } else {
    runs->push_back({Item::Kind::kText, stream, size});
  }
}

void OutputWindow::AppendCut(Stream stream, uint64_t bytes) {
  total_bytes_ += bytes;
  in_line_ = true;
  LastRuns()->push_back({Item::Kind::kCut, stream, bytes});
}

void OutputWindow::AppendPlace(uint32_t place) {
  LastRuns()->push_back({Item::Kind::kPlace, Stream::kStdout, place});
}

void OutputWindow::DropFromTail(size_t bytes) {
  tail_.erase(0, bytes);
  while (bytes > 0) {
    Run& run = tail_runs_.front();
    if (run.kind == Item::Kind::kText) {
      const size_t dropped = std::min<size_t>(run.value, bytes);
      run.value -= dropped;
      bytes -= dropped;
      if (run.value > 0) return;
    } else if (run.kind == Item::Kind::kPlace) {
      dropped_places_.push_back(static_cast<uint32_t>(run.value));
    }
    tail_runs_.pop_front();
  }
}

std::vector<OutputWindow::Item> OutputWindow::Items() const {
  std::vector<Item> items;
  if (!HasGap()) {
    AddItems(head_runs_, head_, 0, head_.size(), &items);
    AddItems(tail_runs_, tail_, 0, tail_.size(), &items);
    return items;
  }
  AddItems(head_runs_, head_, 0, HeadCut(), &items);
  const size_t gap_index = items.size();
  items.push_back({.kind = Item::Kind::kGap});
  for (uint32_t place : dropped_places_) {
    items.push_back({.kind = Item::Kind::kPlace, .place = place});
  }
  AddItems(tail_runs_, tail_, TailCut(), tail_.size(), &items);

  uint64_t kept_bytes = 0;
  uint64_t kept_lines = 0;
  for (const Item& item : items) {
    kept_bytes += item.bytes;
    kept_lines += CountNewlines(item.text);
  }
  items[gap_index].bytes = total_bytes_ - kept_bytes;
  items[gap_index].lines = newlines_ - kept_lines;
  return items;
}

size_t OutputWindow::HeadCut() const {
  const size_t newline = head_.rfind('\n');
  return newline == std::string::npos ? head_.size() : newline + 1;
}

size_t OutputWindow::TailCut() const {
  const size_t cut = tail_.size() - TailLimit();
  if (tail_[cut - 1] == '\n') return cut;
  const size_t newline = tail_.find('\n', cut);
  const bool is_last_line = newline == std::string::npos || newline + 1 == tail_.size();
  return is_last_line ? Utf8BorderAfter(tail_, cut) : newline + 1;
}

// Adds what lies in bytes [begin, end) of `text`, and every place.
void OutputWindow::AddItems(const std::deque<Run>& runs, std::string_view text, size_t begin,
                            size_t end, std::vector<Item>* items) {
  size_t at = 0;
  for (const Run& run : runs) {
    if (run.kind == Item::Kind::kPlace) {
      AddItem({.kind = run.kind, .place = static_cast<uint32_t>(run.value)}, items);
    } else if (run.kind == Item::Kind::kCut) {
      if (at < begin || at > end) continue;
      AddItem({.kind = run.kind, .stream = run.stream, .bytes = run.value}, items);
    } else {
      const size_t from = std::max(at, begin);
      const size_t to = std::min<size_t>(at + run.value, end);
      at += run.value;
      if (from >= to) continue;
      AddItem({.kind = run.kind,
               .stream = run.stream,
               .text = std::string(text.substr(from, to - from)),
               .bytes = to - from},
              items);
    }
  }
}

}  // namespace cellar::host
