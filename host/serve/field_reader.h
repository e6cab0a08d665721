// The fields of a request, taken one by one out of its JSON. The first that is wrong is remembered,
// and what nobody takes is unknown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"

namespace cellar::host {

inline constexpr size_t kMaxNameBytes = 4096;

class FieldReader {
 public:
  // `request` is an object and outlives the reader.
  explicit FieldReader(nlohmann::json& request) : request_(request) {}

  // What is not there, or is wrong, is empty, or what `otherwise` says.
  std::string Text(const char* name, bool required = false, size_t max_bytes = kMaxNameBytes);
  bool Flag(const char* name, bool otherwise);
  uint32_t Number(const char* name, uint32_t otherwise);
  absl::Duration Seconds(const char* name, absl::Duration otherwise);
  // Any value; null when it is not there.
  nlohmann::json Value(const char* name);

  void Add(std::string_view name, const std::string& problem);
  absl::Status problem() const;
  // Also when a field is left that nobody took.
  absl::Status Finish();

 private:
  nlohmann::json& request_;
  std::vector<std::string> known_ = {"id", "type"};
  std::string problem_;
};

}  // namespace cellar::host
