#include "host/output/spoken_size.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace cellar::host {

std::string SpokenSize(uint64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, bytes == 1 ? " byte" : " bytes");
  const double kilobytes = static_cast<double>(bytes) / 1024;
  if (kilobytes < 1023.5) return absl::StrFormat("%.0f KB", kilobytes);
  return absl::StrFormat("%.1f MB", kilobytes / 1024);
}

}  // namespace cellar::host
