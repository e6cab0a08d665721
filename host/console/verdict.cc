#include "host/console/verdict.h"

#include "absl/strings/str_cat.h"
#include "host/output/spoken_duration.h"

namespace cellar::host {
namespace {

const char* WordFor(const CellResult& result) {
  const CellOutcome& outcome = result.outcome;
  if (outcome.timed_out) return "timed out";
  if (outcome.status == CellStatus::kCancelled) return "interrupted";
  if (outcome.death) return "died";
  if (outcome.ok()) return "ok";
  return result.failed.value_or(true) ? "failed" : "raised, as its tag says";
}

}  // namespace

std::string VerdictOn(const CellResult& result) {
  return absl::StrCat(WordFor(result), ", ", SpokenDuration(result.outcome.duration));
}

}  // namespace cellar::host
