#include "tests/bench/samples.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace cellar::bench {

double Samples::Quantile(double part) const {
  std::vector<double> sorted = values_;
  std::sort(sorted.begin(), sorted.end());
  // The nearest rank, so that the p99 of 100 values is one that was measured.
  const auto rank = static_cast<size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

void PrintValue(std::string_view name, double value, std::string_view unit) {
  std::printf("%.*s %.9g %.*s\n", static_cast<int>(name.size()), name.data(), value,
              static_cast<int>(unit.size()), unit.data());
  std::fflush(stdout);
}

void PrintSeconds(std::string_view name, const Samples& samples) {
  PrintValue(std::string(name) + "/median", samples.Quantile(0.5), "s");
  PrintValue(std::string(name) + "/p99", samples.Quantile(0.99), "s");
}

}  // namespace cellar::bench
