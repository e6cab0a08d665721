#include "host/output/artifacts.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "host/base/status.h"

namespace cellar::host {
namespace {

constexpr std::string_view kScheme = "artifact://";
constexpr std::string_view kPrefix = "cellar-";
constexpr std::string_view kIdAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr size_t kIdCharacters = 12;  // of 5 bits each
constexpr size_t kMaxExtension = 8;
constexpr size_t kReadBlock = 64 * 1024;

bool ConsistsOf(std::string_view text, std::string_view alphabet) {
  return text.find_first_not_of(alphabet) == std::string_view::npos;
}

bool IsExtension(std::string_view text) {
  return !text.empty() && text.size() <= kMaxExtension &&
         ConsistsOf(text, "0123456789abcdefghijklmnopqrstuvwxyz");
}

// Also keeps every name with a slash or dots away from the file system.
bool IsId(std::string_view name) {
  constexpr size_t kDot = kPrefix.size() + kIdCharacters;
  return name.size() > kDot && name.substr(0, kPrefix.size()) == kPrefix &&
         ConsistsOf(name.substr(kPrefix.size(), kIdCharacters), kIdAlphabet) && name[kDot] == '.' &&
         IsExtension(name.substr(kDot + 1));
}

absl::StatusOr<std::string> IdOf(std::string_view id_or_uri) {
  std::string_view id = id_or_uri;
  if (id.substr(0, kScheme.size()) == kScheme) id.remove_prefix(kScheme.size());
  if (!IsId(id)) {
    return absl::InvalidArgumentError("not the id of an artifact: " + std::string(id_or_uri));
  }
  return std::string(id);
}

absl::StatusOr<std::string> RandomId(std::string_view extension) {
  unsigned char bytes[kIdCharacters];
  if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
    return ErrnoStatus(errno, "getrandom for the id of an artifact");
  }
  std::string id(kPrefix);
  for (unsigned char byte : bytes) id += kIdAlphabet[byte % kIdAlphabet.size()];
  id += '.';
  id += extension;
  return id;
}

absl::Status MakeDirectories(const std::string& path) {
  size_t slash = 0;
  while (slash != std::string::npos) {
    slash = path.find('/', slash + 1);
    const std::string part = path.substr(0, slash);
    if (mkdir(part.c_str(), 0700) < 0 && errno != EEXIST)
      return ErrnoStatus(errno, "mkdir " + part);
  }
  return absl::OkStatus();
}

// Adds to `lines` what belongs to it of `block`, whose first byte is in line `*line`, and moves
// `*line` on. Returns false when nothing is left to add.
bool AddLines(std::string_view block, uint64_t first, uint64_t count, size_t max_bytes,
              uint64_t* line, ArtifactLines* lines) {
  while (!block.empty()) {
    const size_t newline = block.find('\n');
    const bool ends = newline != std::string_view::npos;
    const std::string_view part = ends ? block.substr(0, newline + 1) : block;
    if (*line >= first) {
      const size_t room = max_bytes - lines->text.size();
      lines->has_more = *line - first >= count || part.size() > room;
      if (*line - first >= count || room == 0) return false;
      lines->text += part.substr(0, room);
      lines->line_count = *line - first + 1;
      if (lines->has_more) return false;
    }
    block.remove_prefix(part.size());
    if (ends) ++*line;
  }
  return true;
}

struct Candidate {
  std::string name;
  absl::Time modified;
  uint64_t bytes;
};

// The artifacts in a directory, oldest first.
absl::StatusOr<std::vector<Candidate>> ListArtifacts(UniqueFd directory) {
  std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(directory.get()), closedir);
  if (listing == nullptr) return ErrnoStatus(errno, "list the artifact directory");
  directory.release();
  std::vector<Candidate> found;
  while (const dirent* entry = readdir(listing.get())) {
    struct stat info;
    if (!IsId(entry->d_name)) continue;
    if (fstatat(dirfd(listing.get()), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) < 0) continue;
    if (!S_ISREG(info.st_mode) || info.st_uid != geteuid()) continue;
    found.push_back(
        {entry->d_name, absl::TimeFromTimespec(info.st_mtim), static_cast<uint64_t>(info.st_size)});
  }
  std::sort(found.begin(), found.end(),
            [](const Candidate& a, const Candidate& b) { return a.modified < b.modified; });
  return found;
}

bool RemoveUnlessOpen(int directory, const std::string& name) {
  UniqueFd file(openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return false;
  if (flock(file.get(), LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) return false;
  return unlinkat(directory, name.c_str(), 0) == 0;
}

}  // namespace

ArtifactStore::ArtifactStore(std::string_view directory) {
  std::error_code ignored;
  directory_ = std::filesystem::absolute(std::filesystem::path(directory), ignored)
                   .lexically_normal()
                   .string();
  // A slash at the end would make the kernel follow a link.
  while (directory_.size() > 1 && directory_.back() == '/') directory_.pop_back();
}

absl::StatusOr<NewArtifact> ArtifactStore::Create(std::string_view extension) const {
  if (!IsExtension(extension)) {
    return absl::InvalidArgumentError("not an extension: " + std::string(extension));
  }
  absl::StatusOr<UniqueFd> directory = OpenDirectory();
  if (absl::IsNotFound(directory.status())) {
    CELLAR_RETURN_IF_ERROR(MakeDirectories(directory_));
    directory = OpenDirectory();
  }
  CELLAR_RETURN_IF_ERROR(directory.status());
  while (true) {
    CELLAR_ASSIGN_OR_RETURN(std::string id, RandomId(extension));
    std::string path = directory_ + "/" + id;
    UniqueFd file(openat(directory->get(), id.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file && errno == EEXIST) continue;
    if (!file) return ErrnoStatus(errno, "create the artifact " + path);
    // The lock tells every host's clean-up that the file is in use. Where locks do not work, a
    // fresh file is still the last that clean-up would choose.
    flock(file.get(), LOCK_EX | LOCK_NB);
    return NewArtifact{std::move(id), std::move(path), std::move(file)};
  }
}

absl::Status ArtifactStore::Remove(std::string_view id) const {
  CELLAR_ASSIGN_OR_RETURN(const std::string name, IdOf(id));
  CELLAR_ASSIGN_OR_RETURN(const UniqueFd directory, OpenDirectory());
  if (unlinkat(directory.get(), name.c_str(), 0) < 0) {
    return ErrnoStatus(errno, "remove the artifact " + name);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ArtifactStore::PathOf(std::string_view id) const {
  CELLAR_ASSIGN_OR_RETURN(const std::string name, IdOf(id));
  CELLAR_RETURN_IF_ERROR(OpenFile(name).status());
  return directory_ + "/" + name;
}

absl::StatusOr<ArtifactLines> ArtifactStore::ReadLines(std::string_view id, uint64_t first,
                                                       uint64_t count, size_t max_bytes) const {
  if (first == 0) return absl::InvalidArgumentError("lines are counted from 1");
  CELLAR_ASSIGN_OR_RETURN(const std::string name, IdOf(id));
  CELLAR_ASSIGN_OR_RETURN(const UniqueFd file, OpenFile(name));
  ArtifactLines lines;
  std::string block(kReadBlock, '\0');
  uint64_t line = 1;  // the one the next byte is in
  bool ends_in_newline = true;
  while (true) {
    const ssize_t size = read(file.get(), block.data(), block.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return ErrnoStatus(errno, "read the artifact " + name);
    if (size == 0) break;
    const std::string_view bytes(block.data(), static_cast<size_t>(size));
    if (!AddLines(bytes, first, count, max_bytes, &line, &lines)) return lines;
    ends_in_newline = bytes.back() == '\n';
  }
  const uint64_t total = ends_in_newline ? line - 1 : line;
  if (first > std::max<uint64_t>(total, 1)) {
    return absl::OutOfRangeError("the artifact " + name + " has " + std::to_string(total) +
                                 " lines");
  }
  return lines;
}

absl::StatusOr<ArtifactCleanUp> ArtifactStore::CleanUp(const ArtifactLimits& limits) const {
  ArtifactCleanUp removed;
  absl::StatusOr<UniqueFd> directory = OpenDirectory();
  if (absl::IsNotFound(directory.status())) return removed;
  CELLAR_RETURN_IF_ERROR(directory.status());
  CELLAR_ASSIGN_OR_RETURN(UniqueFd listed, OpenDirectory());
  CELLAR_ASSIGN_OR_RETURN(const std::vector<Candidate> artifacts, ListArtifacts(std::move(listed)));
  uint64_t total_bytes = 0;
  for (const Candidate& artifact : artifacts) total_bytes += artifact.bytes;
  const absl::Time oldest_kept = absl::Now() - limits.max_age;
  for (const Candidate& artifact : artifacts) {
    if (artifact.modified >= oldest_kept && total_bytes <= limits.max_total_bytes) break;
    if (!RemoveUnlessOpen(directory->get(), artifact.name)) continue;
    total_bytes -= artifact.bytes;
    removed.removed_bytes += artifact.bytes;
    ++removed.removed_files;
  }
  removed.kept_bytes = total_bytes;
  return removed;
}

absl::StatusOr<UniqueFd> ArtifactStore::OpenDirectory() const {
  UniqueFd directory(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory && (errno == ENOTDIR || errno == ELOOP)) {
    return absl::FailedPreconditionError("the artifact directory " + directory_ +
                                         " is not a directory, or is a symbolic link");
  }
  if (!directory) return ErrnoStatus(errno, "open the artifact directory " + directory_);
  struct stat info;
  if (fstat(directory.get(), &info) < 0) return ErrnoStatus(errno, "stat " + directory_);
  if (info.st_uid != geteuid() || (info.st_mode & S_IWOTH) != 0) {
    return absl::PermissionDeniedError("the artifact directory " + directory_ +
                                       " belongs to another user or is writable by everybody");
  }
  return directory;
}

absl::StatusOr<UniqueFd> ArtifactStore::OpenFile(std::string_view id) const {
  const std::string name(id);
  CELLAR_ASSIGN_OR_RETURN(const UniqueFd directory, OpenDirectory());
  // Without O_NONBLOCK somebody's FIFO of that name would block the open.
  UniqueFd file(
      openat(directory.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return ErrnoStatus(errno, "open the artifact " + name);
  struct stat info;
  if (fstat(file.get(), &info) < 0) return ErrnoStatus(errno, "stat the artifact " + name);
  if (!S_ISREG(info.st_mode) || info.st_uid != geteuid()) {
    return absl::PermissionDeniedError("not a file of ours: the artifact " + name);
  }
  return file;
}

}  // namespace cellar::host
