#include "host/worker/fault_file.h"

#include <sys/stat.h>
#include <unistd.h>

namespace cellar::host {
namespace {

constexpr size_t kMaxFaults = 64u << 10;

}  // namespace

void FaultFile::SkipOld() {
  struct stat file;
  if (has_dumped_ && fstat(fd_.get(), &file) == 0) begin_ = file.st_size;
}

std::string FaultFile::Read() const {
  std::string text(kMaxFaults, '\0');
  ssize_t size = pread(fd_.get(), text.data(), text.size(), begin_);
  text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return text;
}

}  // namespace cellar::host
