#include "host/repl/history_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "host/base/atomic_file.h"
#include "host/base/fds.h"
#include "host/base/private_directory.h"
#include "host/base/status.h"

namespace cellar::host {
namespace {

// Longer ones are not worth keeping with every prompt.
constexpr size_t kMaxCellBytes = 256u << 10;

// A session's name may have any character; a file's may not. A session without a name is "%".
std::string FileName(std::string_view session) {
  if (session.empty()) return "%";
  static constexpr char kHex[] = "0123456789abcdef";
  std::string name;
  for (char c : session) {
    const auto byte = static_cast<unsigned char>(c);
    if (isalnum(byte) || c == '-' || c == '_') {
      name += c;
    } else {
      name += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  // File systems have names of 255 bytes.
  constexpr size_t kMaxName = 200;
  if (name.size() > kMaxName) {
    name = name.substr(0, kMaxName) + "-" + std::to_string(std::hash<std::string_view>()(session));
  }
  return name;
}

std::string OneLine(std::string_view cell) {
  std::string line;
  for (char c : cell) {
    if (c == '\\') {
      line += "\\\\";
    } else if (c == '\n') {
      line += "\\n";
    } else {
      line += c;
    }
  }
  return line + '\n';
}

std::string FromLine(std::string_view line) {
  std::string cell;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) {
      cell += line[++i] == 'n' ? '\n' : line[i];
    } else {
      cell += line[i];
    }
  }
  return cell;
}

// The mode. Another user could have made it first, to receive what is typed.
absl::StatusOr<mode_t> CheckOwner(int fd, const std::string& path) {
  struct stat status;
  if (fstat(fd, &status) != 0) return ErrnoStatus(errno, "looking at " + path);
  if (status.st_uid != geteuid()) return absl::PermissionDeniedError(path + " is another user's");
  return status.st_mode;
}

}  // namespace

HistoryFile::HistoryFile(std::string directory, std::string_view session)
    : directory_(std::move(directory)), name_(FileName(session)), path_(directory_ + "/" + name_) {}

absl::StatusOr<std::vector<std::string>> HistoryFile::Load() const {
  absl::StatusOr<UniqueFd> fd = Open(O_RDONLY);
  if (absl::IsNotFound(fd.status())) return std::vector<std::string>();
  CELLAR_RETURN_IF_ERROR(fd.status());
  const auto size = static_cast<size_t>(lseek(fd->get(), 0, SEEK_END));
  CELLAR_ASSIGN_OR_RETURN(const std::string text, ReadEnd(fd->get(), size));
  std::vector<std::string> cells;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    if (end > 0) cells.push_back(FromLine(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const bool is_long = size >= 2 * kMaxBytes || cells.size() >= 2 * kMaxCells;
  if (cells.size() > kMaxCells) cells.erase(cells.begin(), cells.end() - kMaxCells);
  if (is_long) {
    std::string kept;
    for (const std::string& cell : cells) kept += OneLine(cell);
    CELLAR_RETURN_IF_ERROR(ReplaceFile(path_, kept));
  }
  return cells;
}

// From the start of a line. Other prompts may append to the file meanwhile.
absl::StatusOr<std::string> HistoryFile::ReadEnd(int fd, size_t size) const {
  const size_t start = size - std::min(size, kMaxBytes);
  if (lseek(fd, static_cast<off_t>(start), SEEK_SET) < 0) {
    return ErrnoStatus(errno, "reading " + path_);
  }
  CELLAR_ASSIGN_OR_RETURN(std::string text, ReadToEnd(fd, path_, 2 * kMaxBytes));
  if (start > 0) text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
  return text;
}

absl::Status HistoryFile::Append(std::string_view cell) const {
  if (cell.size() > kMaxCellBytes) return absl::OkStatus();
  CELLAR_ASSIGN_OR_RETURN(UniqueFd fd, Open(O_WRONLY | O_APPEND | O_CREAT));
  if (!WriteAll(fd.get(), OneLine(cell))) return ErrnoStatus(errno, "writing " + path_);
  return absl::OkStatus();
}

// What was typed may be a secret: directory and file are the user's alone, and no link leads
// elsewhere.
absl::StatusOr<UniqueFd> HistoryFile::Open(int flags) const {
  if ((flags & O_CREAT) != 0) CELLAR_RETURN_IF_ERROR(MakePrivateDirectories(directory_));
  UniqueFd directory(open(directory_.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) return ErrnoStatus(errno, "opening " + directory_);
  CELLAR_RETURN_IF_ERROR(CheckOwner(directory.get(), directory_).status());
  UniqueFd fd(
      openat(directory.get(), name_.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!fd) return ErrnoStatus(errno, "opening " + path_);
  CELLAR_ASSIGN_OR_RETURN(const mode_t mode, CheckOwner(fd.get(), path_));
  if (!S_ISREG(mode)) return absl::FailedPreconditionError(path_ + " is not a regular file");
  return fd;
}

}  // namespace cellar::host
