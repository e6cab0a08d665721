#include "host/eval/old_results.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "host/base/clock.h"

namespace cellar::host {
namespace {

// The results of the calls that ended first go first. The last one stays, whatever its size.
constexpr size_t kMaxOldResults = 64;
constexpr size_t kMaxOldResultBytes = size_t{64} << 20;

size_t BytesOf(const std::vector<CellOutput>& outputs) {
  size_t bytes = 0;
  for (const CellOutput& output : outputs) {
    bytes += sizeof(output) + output.text.size() + output.metadata.size();
    for (const wire::MimeEntry& entry : output.data) bytes += entry.data.size();
  }
  return bytes;
}

// Only what can be large is counted.
size_t BytesOf(const CallResult& result) {
  size_t bytes = BytesOf(result.background);
  for (const CellResult& cell : result.cells) {
    bytes += sizeof(cell) + BytesOf(cell.outcome.outputs);
    const std::optional<CellError>& error = cell.outcome.error;
    if (error) bytes += error->evalue.size() + error->traceback.size();
  }
  return bytes;
}

}  // namespace

std::vector<CallId> OldResults::Keep(CallId id, absl::StatusOr<CallResult> result,
                                     bool is_asked_for) {
  const size_t bytes = result.ok() ? BytesOf(*result) : 0;
  results_.push_back({.id = id,
                      .result = std::move(result),
                      .bytes = bytes,
                      .ended = MonotonicNow(),
                      .is_asked_for = is_asked_for});
  return ForgetOldest();
}

std::vector<CallId> OldResults::ForgetOldest() {
  std::vector<CallId> forgotten;
  size_t bytes = 0;
  for (const OldResult& old : results_) bytes += old.bytes;
  while (results_.size() > kMaxOldResults || (bytes > kMaxOldResultBytes && results_.size() > 1)) {
    bytes -= results_.front().bytes;
    forgotten.push_back(results_.front().id);
    results_.pop_front();
  }
  return forgotten;
}

const absl::StatusOr<CallResult>* OldResults::Find(CallId id) const {
  const auto found = std::ranges::find(results_, id, &OldResult::id);
  return found == results_.end() ? nullptr : &found->result;
}

const absl::StatusOr<CallResult>* OldResults::Ask(CallId id) {
  const auto found = std::ranges::find(results_, id, &OldResult::id);
  if (found == results_.end()) return nullptr;
  found->is_asked_for = true;
  return &found->result;
}

bool OldResults::HasUnasked(absl::Duration younger_than) const {
  return std::ranges::any_of(results_, [&](const OldResult& old) {
    return !old.is_asked_for && MonotonicNow() - old.ended < younger_than;
  });
}

}  // namespace cellar::host
