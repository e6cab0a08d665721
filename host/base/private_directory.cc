#include "host/base/private_directory.h"

#include <sys/stat.h>

#include <cerrno>

#include "host/base/status.h"

namespace cellar {

absl::Status MakePrivateDirectories(const std::string& path) {
  size_t slash = 0;
  while (slash != std::string::npos) {
    slash = path.find('/', slash + 1);
    const std::string part = path.substr(0, slash);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      return ErrnoStatus(errno, "making " + part);
    }
  }
  return absl::OkStatus();
}

}  // namespace cellar
