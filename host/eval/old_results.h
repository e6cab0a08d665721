// The results of calls that have ended in the background, kept for those who ask until there are
// too many of them, or they are too large together.
//
// Lives on the loop's thread.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "host/eval/call_id.h"
#include "host/eval/result.h"

namespace cellar::host {

class OldResults {
 public:
  // Keeps the result of a call that has ended now, and returns the calls whose results are
  // forgotten for it. `is_asked_for`: somebody waits for this one, and gets it.
  std::vector<CallId> Keep(CallId id, absl::StatusOr<CallResult> result, bool is_asked_for);

  // Null when none is kept; valid until the next Keep.
  const absl::StatusOr<CallResult>* Find(CallId id) const;
  // The same for one who waits for it: it is asked for from now on.
  const absl::StatusOr<CallResult>* Ask(CallId id);
  bool Contains(CallId id) const { return Find(id) != nullptr; }

  // Whether a call has ended within that time whose result nobody has asked for.
  bool HasUnasked(absl::Duration younger_than) const;

 private:
  struct OldResult {
    CallId id;
    absl::StatusOr<CallResult> result;
    size_t bytes;  // about
    absl::Time ended;
    bool is_asked_for;
  };

  std::vector<CallId> ForgetOldest();

  std::deque<OldResult> results_;  // the one of the call that ended first is in front
};

}  // namespace cellar::host
