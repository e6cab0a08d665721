// How much of a cell's output its result does not show, and where that is.
#pragma once

#include <cstdint>
#include <string>

namespace cellar::host {

// What the text leaves out. Text is counted after sanitising, raw bytes as the cell wrote them, so
//   text_bytes == kept_bytes + omitted_bytes + clamped_bytes
//   total_bytes == artifact_bytes + missing_bytes
struct Truncation {
  uint64_t total_lines = 0;
  uint64_t total_bytes = 0;  // raw
  uint64_t text_bytes = 0;
  uint64_t kept_bytes = 0;
  uint64_t omitted_lines = 0;  // at the mark
  uint64_t omitted_bytes = 0;
  uint64_t clamped_lines = 0;  // of the lines shown
  uint64_t clamped_bytes = 0;
  std::string artifact_id;  // empty: nothing was saved
  std::string artifact_path;
  uint64_t artifact_bytes = 0;
  uint64_t missing_bytes = 0;  // at the end of the artifact
  std::string error;           // why bytes are missing
};

}  // namespace cellar::host
