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
#include "host/base/private_directory.h"
#include "host/base/status.h"

namespace cellar::host {
namespace {

constexpr std::string_view kPrefix = "cellar-";
constexpr std::string_view kIdAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr size_t kIdCharacters = 12;  // of 5 bits each
constexpr size_t kMaxExtension = 8;

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
    CELLAR_RETURN_IF_ERROR(MakePrivateDirectories(directory_));
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

absl::Status ArtifactStore::Remove(const std::string& id) const {
  if (!IsId(id)) return absl::InvalidArgumentError("not the id of an artifact: " + id);
  CELLAR_ASSIGN_OR_RETURN(const UniqueFd directory, OpenDirectory());
  if (unlinkat(directory.get(), id.c_str(), 0) < 0) {
    return ErrnoStatus(errno, "remove the artifact " + id);
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> ArtifactStore::CleanUp(const ArtifactLimits& limits) const {
  absl::StatusOr<UniqueFd> directory = OpenDirectory();
  if (absl::IsNotFound(directory.status())) return 0;
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
  }
  return total_bytes;
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

}  // namespace cellar::host
