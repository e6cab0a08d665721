#include "host/worker/fault_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

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

std::string CleanPythonStack(const std::string& dump) {
  std::istringstream lines(dump);
  std::string clean;
  bool below_the_cell = false;  // the runner's frames, and the event loop's under them
  for (std::string line; std::getline(lines, line);) {
    // The names of all extension modules: a screenful that says nothing about this crash.
    if (line.starts_with("Extension modules: ")) continue;
    bool is_frame = line.starts_with("  File ");
    if (!is_frame) below_the_cell = false;
    if (line.starts_with("  File \"<frozen cellar_")) below_the_cell = true;
    if (below_the_cell) continue;
    clean += line;
    clean += '\n';
  }
  while (clean.ends_with("\n\n")) clean.pop_back();
  return clean;
}

}  // namespace cellar::host
