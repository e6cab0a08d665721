#include "host/serve/outbox.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cellar::host {
namespace {

constexpr size_t kPartBytes = 1u << 20;  // that are moved at a time

// A file that nobody else can open and that is gone when it is closed.
absl::StatusOr<UniqueFd> MakeFile() {
  const char* named = std::getenv("TMPDIR");
  const std::string directory = named != nullptr && *named == '/' ? named : "/tmp";
  UniqueFd file(open(directory.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600));
  if (file) return file;
  if (errno != EOPNOTSUPP && errno != EISDIR) return ErrnoStatus(errno, "a file in " + directory);
  std::string path = directory + "/cellar-XXXXXX";
  file.reset(mkostemp(path.data(), O_CLOEXEC));
  if (!file) return ErrnoStatus(errno, "a file in " + directory);
  unlink(path.c_str());
  return file;
}

// Not to the end once `leaving` is set.
absl::Status WriteAt(int file, std::string_view bytes, uint64_t offset,
                     const std::atomic<bool>& leaving) {
  while (!bytes.empty() && !leaving) {
    const ssize_t size =
        pwrite(file, bytes.data(), std::min(bytes.size(), kPartBytes), static_cast<off_t>(offset));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return ErrnoStatus(errno, "keeping what the client has not read");
    bytes.remove_prefix(static_cast<size_t>(size));
    offset += static_cast<uint64_t>(size);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadAt(int file, size_t bytes, uint64_t offset) {
  std::string read(bytes, '\0');
  size_t size = 0;
  while (size < bytes) {
    const ssize_t part =
        pread(file, read.data() + size, bytes - size, static_cast<off_t>(offset + size));
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) return ErrnoStatus(errno, "reading what the client has not read");
    if (part == 0) return absl::DataLossError("reading what the client has not read: it is gone");
    size += static_cast<size_t>(part);
  }
  // The disk has that room back at once, where the file system can.
  fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
            static_cast<off_t>(bytes));
  return read;
}

// Whatever the disk's reason is, it is no fault of a request.
absl::Status Lost(const absl::Status& why) {
  return absl::DataLossError(absl::StrCat("what the client has not read is lost: ", why.message()));
}

}  // namespace

Outbox::Outbox(EventLoop& loop, OutboxLimits limits, absl::AnyInvocable<void()> on_ready)
    : loop_(loop), limits_(limits), on_ready_(std::move(on_ready)) {}

void Outbox::Push(std::string_view bytes) {
  if (!status_.ok()) return;
  if (!overflowing_) {
    if (taken_ == ready_.size()) {
      ready_.clear();
      taken_ = 0;
    }
    ready_ += bytes;
    overflowing_ = ready_.size() - taken_ > limits_.memory_bytes;
    return;
  }
  if (unsaved_.size() + saving_bytes_ + bytes.size() > limits_.unsaved_bytes) {
    return Fail(absl::ResourceExhaustedError("the client reads too slowly, and so does the disk"));
  }
  if (file_end_ - file_begin_ + unsaved_.size() + bytes.size() > limits_.file_bytes) {
    return Fail(absl::ResourceExhaustedError(
        absl::StrCat("the client is more than ", limits_.file_bytes >> 20, " MiB behind")));
  }
  unsaved_ += bytes;
  Save();
}

void Outbox::Pop(size_t bytes) {
  taken_ += bytes;
  if (taken_ < ready_.size()) {
    // A client that is always a little behind never takes the last byte.
    if (taken_ >= kPartBytes && taken_ >= ready_.size() / 2) {
      ready_.erase(0, std::exchange(taken_, 0));
    }
    return;
  }
  ready_.clear();
  taken_ = 0;
  if (overflowing_) Load();
}

void Outbox::Save() {
  if (saving_ || loading_ || unsaved_.empty()) return;
  saving_ = true;
  saving_bytes_ = unsaved_.size();
  thread_.Run([this, &loop = loop_, alive = lifeline_.watch(), offset = file_end_,
               bytes = std::exchange(unsaved_, std::string())]() mutable {
    absl::Status status;
    if (!file_) {
      absl::StatusOr<UniqueFd> file = MakeFile();
      status = file.status();
      if (file.ok()) file_ = *std::move(file);
    }
    if (status.ok()) status = WriteAt(file_.get(), bytes, offset, leaving_);
    loop.Post([this, alive, status, size = bytes.size()] {
      if (*alive) OnSaved(size, status);
    });
  });
}

void Outbox::OnSaved(size_t bytes, const absl::Status& status) {
  saving_ = false;
  saving_bytes_ = 0;
  if (!status.ok()) return Fail(Lost(status));
  file_end_ += bytes;
  if (ready_.empty()) {
    Load();
  } else {
    Save();
  }
}

// All of ready_ was taken: what comes next is in the file, or on its way there.
void Outbox::Load() {
  if (saving_ || loading_) return;
  if (file_begin_ == file_end_) {
    ready_ = std::exchange(unsaved_, std::string());
    overflowing_ = false;
    file_begin_ = file_end_ = 0;
    file_.reset();
    if (!ready_.empty())
      loop_.Post([this, alive = lifeline_.watch()] {
        if (*alive) on_ready_();
      });
    return;
  }
  loading_ = true;
  const auto bytes = static_cast<size_t>(std::min<uint64_t>(file_end_ - file_begin_, kPartBytes));
  thread_.Run([this, &loop = loop_, alive = lifeline_.watch(), bytes, offset = file_begin_] {
    loop.Post([this, alive, read = ReadAt(file_.get(), bytes, offset)]() mutable {
      if (*alive) OnLoaded(std::move(read));
    });
  });
}

void Outbox::OnLoaded(absl::StatusOr<std::string> bytes) {
  loading_ = false;
  if (!bytes.ok()) return Fail(Lost(bytes.status()));
  file_begin_ += bytes->size();
  ready_ = *std::move(bytes);
  Save();
  on_ready_();
}

void Outbox::Fail(absl::Status status) {
  if (!status_.ok()) return;
  status_ = std::move(status);
  loop_.Post([this, alive = lifeline_.watch()] {
    if (*alive) on_ready_();
  });
}

}  // namespace cellar::host
