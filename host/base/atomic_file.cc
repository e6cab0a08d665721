#include "host/base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "host/base/status.h"
#include "host/base/unique_fd.h"

namespace cellar {
namespace {

constexpr size_t kReadChunk = size_t{1} << 20;
constexpr int kTemporaryNames = 100;
constexpr int kMaxLinks = 40;

bool IsThere(const std::string& path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0;
}

// Removes the temporary file unless it was renamed.
class TemporaryFile {
 public:
  TemporaryFile(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  TemporaryFile(TemporaryFile&& other) noexcept
      : path_(std::exchange(other.path_, {})), fd_(std::move(other.fd_)) {}
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }

  absl::Status RenameTo(const std::string& target) {
    if (rename(path_.c_str(), target.c_str()) != 0)
      return ErrnoStatus(errno, "renaming to " + target);
    path_.clear();
    return absl::OkStatus();
  }

  // Fails with AlreadyExists if there is a file of that name.
  absl::Status RenameToNew(const std::string& target) {
    if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) {
      path_.clear();
      return absl::OkStatus();
    }
    // EINVAL: the file system cannot, as some in user space (rename(2)). A look is the best then.
    const bool can_not = errno == EINVAL || errno == ENOSYS;
    if (!can_not) return ErrnoStatus(errno, "renaming to " + target);
    if (IsThere(target)) return ErrnoStatus(EEXIST, "renaming to " + target);
    return RenameTo(target);
  }

 private:
  std::string path_;
  UniqueFd fd_;
};

// Follows links by hand: the last one may point to a file that does not exist yet.
absl::StatusOr<std::string> FollowLinks(const std::string& path) {
  std::filesystem::path target(path);
  for (int i = 0; i < kMaxLinks; ++i) {
    std::error_code error;
    const std::filesystem::path link = std::filesystem::read_symlink(target, error);
    if (error) return target.string();
    target = target.parent_path() / link;
  }
  return ErrnoStatus(ELOOP, "writing " + path);
}

std::string FolderOf(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

absl::StatusOr<TemporaryFile> MakeTemporaryFile(const std::string& target) {
  // Without the target's name, which may leave no room for more.
  const std::string start = FolderOf(target) + "/.cellar." + std::to_string(getpid()) + ".";
  for (int i = 0; i < kTemporaryNames; ++i) {
    const std::string path = start + std::to_string(i) + ".tmp";
    UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd) return TemporaryFile(path, std::move(fd));
    if (errno != EEXIST) return ErrnoStatus(errno, "writing " + target);
  }
  return absl::ResourceExhaustedError("making a temporary file beside " + target +
                                      ": too many are there");
}

// The file that is there, if one is. Fails for what is not to be replaced.
absl::StatusOr<std::optional<struct stat>> LookAtOld(const std::string& target) {
  struct stat old;
  if (stat(target.c_str(), &old) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return ErrnoStatus(errno, "looking at " + target);
  }
  if (!S_ISREG(old.st_mode)) {
    return absl::InvalidArgumentError("writing " + target + ": not a regular file");
  }
  if (access(target.c_str(), W_OK) != 0) return ErrnoStatus(errno, "writing " + target);
  return old;
}

absl::Status KeepOwnerAndMode(const std::string& target, const TemporaryFile& temporary) {
  CELLAR_ASSIGN_OR_RETURN(const std::optional<struct stat> old, LookAtOld(target));
  if (!old) return absl::OkStatus();
  // Only root may give a file away, others to a group of theirs. The mode comes after, because a
  // change of the owner takes bits of it (chown(2)).
  if (fchown(temporary.fd(), old->st_uid, old->st_gid) != 0) {
    (void)!fchown(temporary.fd(), -1, old->st_gid);
  }
  if (fchmod(temporary.fd(), old->st_mode & 07777) != 0) {
    return ErrnoStatus(errno, "writing " + target);
  }
  return absl::OkStatus();
}

absl::Status WriteAll(const std::string& target, const TemporaryFile& temporary,
                      std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(temporary.fd(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus(errno, "writing " + target);
    content.remove_prefix(written);
  }
  if (fsync(temporary.fd()) != 0) return ErrnoStatus(errno, "writing " + target);
  return absl::OkStatus();
}

// Without this the rename itself may be lost in a power failure. Some file systems cannot; the
// content is safe then.
void SyncFolder(const std::string& folder) {
  UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) fsync(fd.get());
}

}  // namespace

absl::StatusOr<std::string> ReadWholeFile(const std::string& path, size_t limit) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return ErrnoStatus(errno, "reading " + path);
  return ReadToEnd(fd.get(), path, limit);
}

absl::StatusOr<std::string> ReadToEnd(int fd, const std::string& name, size_t limit) {
  struct stat status;
  if (fstat(fd, &status) != 0) return ErrnoStatus(errno, "looking at " + name);
  std::string content;
  // One byte more than the file has, so that its end is seen without making room first.
  if (S_ISREG(status.st_mode)) content.resize(std::min<size_t>(status.st_size, limit) + 1);
  size_t size = 0;
  while (true) {
    if (size == content.size()) content.resize(size + size / 2 + kReadChunk);
    const ssize_t count = read(fd, content.data() + size, content.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "reading " + name);
    if (count == 0) break;
    size += count;
    if (size > limit) {
      return absl::OutOfRangeError("reading " + name + ": more than " +
                                   std::to_string(limit >> 20) + " MiB");
    }
  }
  content.resize(size);
  // What a pipe gave was made room for by half again.
  if (content.capacity() > size + size / 8) content.shrink_to_fit();
  return content;
}

absl::StatusOr<bool> FileHolds(const std::string& path, std::string_view content) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return ErrnoStatus(errno, "reading " + path);
  std::string chunk(kReadChunk, '\0');
  while (true) {
    const ssize_t count = read(fd.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "reading " + path);
    if (count == 0) return content.empty();
    const std::string_view got(chunk.data(), count);
    if (!content.starts_with(got)) return false;
    content.remove_prefix(got.size());
  }
}

absl::Status ReplaceFile(const std::string& path, std::string_view content) {
  return ReplaceStampedFile(path, content, std::nullopt).status();
}

absl::Status MakeFile(const std::string& path, std::string_view content) {
  return MakeStampedFile(path, content).status();
}

absl::Status CheckReplaceable(const std::string& path) {
  CELLAR_ASSIGN_OR_RETURN(const std::string target, FollowLinks(path));
  if (access(FolderOf(target).c_str(), W_OK | X_OK) != 0) {
    return ErrnoStatus(errno, "writing " + target);
  }
  return LookAtOld(target).status();
}

absl::StatusOr<FileStamp> FileStamp::Of(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return ErrnoStatus(errno, "looking at " + path);
  return FileStamp{.device = status.st_dev,
                   .inode = status.st_ino,
                   .size = status.st_size,
                   .modified = absl::TimeFromTimespec(status.st_mtim)};
}

absl::StatusOr<FileStamp> ReplaceStampedFile(const std::string& path, std::string_view content,
                                             const std::optional<FileStamp>& expected) {
  CELLAR_ASSIGN_OR_RETURN(const std::string target, FollowLinks(path));
  CELLAR_ASSIGN_OR_RETURN(TemporaryFile temporary, MakeTemporaryFile(target));
  CELLAR_RETURN_IF_ERROR(KeepOwnerAndMode(target, temporary));
  CELLAR_RETURN_IF_ERROR(WriteAll(target, temporary, content));
  CELLAR_ASSIGN_OR_RETURN(const FileStamp stamp, FileStamp::Of(temporary.path()));
  // As late as can be: syncing takes long enough for someone else to save the file.
  if (expected) {
    const absl::StatusOr<FileStamp> old = FileStamp::Of(target);
    if (!old.ok() || *old != *expected) return ChangedOnDisk(path);
  }
  CELLAR_RETURN_IF_ERROR(temporary.RenameTo(target));
  SyncFolder(FolderOf(target));
  return stamp;
}

absl::StatusOr<FileStamp> MakeStampedFile(const std::string& path, std::string_view content) {
  CELLAR_ASSIGN_OR_RETURN(const std::string target, FollowLinks(path));
  if (IsThere(target)) return ErrnoStatus(EEXIST, "writing " + path);
  CELLAR_ASSIGN_OR_RETURN(TemporaryFile temporary, MakeTemporaryFile(target));
  CELLAR_RETURN_IF_ERROR(WriteAll(target, temporary, content));
  CELLAR_ASSIGN_OR_RETURN(const FileStamp stamp, FileStamp::Of(temporary.path()));
  CELLAR_RETURN_IF_ERROR(temporary.RenameToNew(target));
  SyncFolder(FolderOf(target));
  return stamp;
}

absl::Status ChangedOnDisk(const std::string& path) {
  return absl::AbortedError(path + ": changed on disk since it was read; nothing was written");
}

}  // namespace cellar
