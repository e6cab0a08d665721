// What all measurements need: plain Python to compare with, and no way to go on after a failure.
#pragma once

#include <string>
#include <utility>

#include "cellar/cellar.h"
#include "tests/bench/processes.h"

namespace cellar::bench {

inline constexpr char kPython[] = "/usr/bin/python3";
inline constexpr char kImports[] = "import asyncio, json";

template <typename T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) Fail(value.status().ToString());
  return *std::move(value);
}

inline CellOutcome MustRun(Session& session, std::string code) {
  CellOutcome outcome = Must(session.Run(std::move(code)));
  if (!outcome.ok()) Fail(outcome.error ? outcome.error->traceback : "a cell was cancelled");
  return outcome;
}

}  // namespace cellar::bench
