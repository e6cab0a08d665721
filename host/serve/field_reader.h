// The fields of a request, taken one by one out of its JSON. The first that is wrong is remembered,
// and what nobody takes is unknown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "host/session/opening.h"
#include "nlohmann/json.hpp"

namespace cellar::host {

// For a text that has no limit of its own: a path, a handle.
inline constexpr size_t kMaxTextBytes = 4096;

// Linux has no longer ones (MAX_ARG_STRLEN).
inline constexpr size_t kMaxVariableBytes = size_t{128} << 10;

class FieldReader {
 public:
  // `object` is one, and outlives the reader. `known` are the fields that somebody else has taken.
  explicit FieldReader(nlohmann::json& object, std::vector<std::string> known = {"id", "type"})
      : object_(object), known_(std::move(known)) {}

  // What is not there, or is wrong, is empty, or what `otherwise` says.
  std::string Text(const char* name, bool required = false, size_t max_bytes = kMaxTextBytes);
  // As calls have them, of sessions and persons; one that is required is not empty either.
  std::string Name(const char* name, bool required = false);
  // An absolute path.
  std::string Directory(const char* name);
  // `opening_cwd`, `opening_interpreter` and `opening_env`.
  SessionOpening Opening();
  bool Flag(const char* name, bool otherwise);
  std::optional<uint32_t> Number(const char* name);
  absl::Duration Seconds(const char* name, absl::Duration otherwise);
  // Any value; null when it is not there.
  nlohmann::json Value(const char* name);

  // Those that somebody has asked for.
  const std::vector<std::string>& known() const { return known_; }
  void Add(std::string_view name, const std::string& problem);
  absl::Status problem() const;
  // Also when a field is left that nobody took.
  absl::Status Finish();

 private:
  std::optional<Environment> Variables(const char* name);

  nlohmann::json& object_;
  std::vector<std::string> known_;
  std::string problem_;
};

}  // namespace cellar::host
