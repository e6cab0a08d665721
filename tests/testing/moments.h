// Random moments, the same ones again with the same seed: CELLAR_FAULT_SEED.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <random>

#include "absl/time/time.h"

namespace cellar {

class Moments {
 public:
  Moments() { std::fprintf(stderr, "CELLAR_FAULT_SEED=%u\n", seed_); }

  // From now on, and before that long.
  absl::Duration Within(absl::Duration most) {
    const auto nanoseconds = absl::ToInt64Nanoseconds(most);
    return absl::Nanoseconds(std::uniform_int_distribution<int64_t>(0, nanoseconds)(random_));
  }

 private:
  static unsigned Seed() {
    const char* given = std::getenv("CELLAR_FAULT_SEED");
    return given != nullptr ? static_cast<unsigned>(std::atoll(given)) : std::random_device()();
  }

  const unsigned seed_ = Seed();
  std::mt19937 random_{seed_};
};

// How many cells to interrupt, where a thousand are not enough: CELLAR_INTERRUPTED_CELLS.
inline int InterruptedCells() {
  const char* given = std::getenv("CELLAR_INTERRUPTED_CELLS");
  return given != nullptr ? std::atoi(given) : 1000;
}

}  // namespace cellar
