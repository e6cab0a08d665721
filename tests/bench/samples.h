// Measured numbers: collected, reduced to a median and a tail, printed as lines "name value unit"
// for table.py.
#pragma once

#include <chrono>
#include <string_view>
#include <vector>

namespace cellar::bench {

// Not absl::Now(), which follows the wall clock.
using Clock = std::chrono::steady_clock;

inline double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

template <typename Work>
double SecondsOf(Work work) {
  const Clock::time_point start = Clock::now();
  work();
  return SecondsSince(start);
}

class Samples {
 public:
  void Add(double value) { values_.push_back(value); }

  // Of at least one value; 0.5 is the median, 1 the largest.
  double Quantile(double part) const;

 private:
  std::vector<double> values_;
};

void PrintValue(std::string_view name, double value, std::string_view unit);

// "<name>/median" and "<name>/p99".
void PrintSeconds(std::string_view name, const Samples& samples);

}  // namespace cellar::bench
