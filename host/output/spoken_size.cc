#include "host/output/spoken_size.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace cellar::host {

std::string SpokenSize(uint64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, bytes == 1 ? " byte" : " bytes");
  const double kibibytes = static_cast<double>(bytes) / 1024;
  if (kibibytes < 1023.5) return absl::StrFormat("%.0f KiB", kibibytes);
  const double mebibytes = kibibytes / 1024;
  if (mebibytes < 1023.95) return absl::StrFormat("%.1f MiB", mebibytes);
  return absl::StrFormat("%.1f GiB", mebibytes / 1024);
}

}  // namespace cellar::host
