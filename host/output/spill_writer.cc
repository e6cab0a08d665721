#include "host/output/spill_writer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "host/base/free_text.h"
#include "host/base/signal_block.h"
#include "host/base/status.h"
#include "host/base/unique_fd.h"

namespace cellar::host {
namespace {

// The file of a spill, made with its first byte. Touched by the writer's thread only.
class SpillFile {
 public:
  SpillFile(const ArtifactStore& store, std::string extension)
      : store_(store), extension_(std::move(extension)) {}

  // Does nothing after a failure.
  void Write(std::string_view bytes);
  void End(bool keep);

  const std::string& id() const { return id_; }
  const std::string& path() const { return path_; }
  uint64_t written_bytes() const { return written_bytes_; }
  const absl::Status& status() const { return status_; }

 private:
  absl::Status TryWrite(std::string_view bytes);

  ArtifactStore store_;
  std::string extension_;
  UniqueFd fd_;
  std::string id_;
  std::string path_;
  uint64_t written_bytes_ = 0;
  absl::Status status_;
};

void SpillFile::Write(std::string_view bytes) {
  if (status_.ok() && !bytes.empty()) status_ = TryWrite(bytes);
}

absl::Status SpillFile::TryWrite(std::string_view bytes) {
  if (!fd_) {
    CELLAR_ASSIGN_OR_RETURN(NewArtifact artifact, store_.Create(extension_));
    id_ = std::move(artifact.id);
    path_ = std::move(artifact.path);
    fd_ = std::move(artifact.fd);
  }
  while (!bytes.empty()) {
    const ssize_t written = write(fd_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus(errno, "write " + path_);
    written_bytes_ += static_cast<uint64_t>(written);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

void SpillFile::End(bool keep) {
  if (id_.empty()) return;
  struct stat info;
  const bool is_gone = fd_ && fstat(fd_.get(), &info) == 0 && info.st_nlink == 0;
  fd_.reset();
  if (keep && written_bytes_ > 0 && !is_gone) return;
  if (is_gone) {
    status_ = absl::NotFoundError(path_ + " was removed while it was written");
  } else {
    store_.Remove(id_).IgnoreError();  // clean-up finds it later
  }
  id_.clear();
  path_.clear();
  written_bytes_ = 0;
}

}  // namespace

// Shared by a Spill and the writer; freed by the one that lets go last.
struct SpillWriter::Job {
  SpillFile file;  // the writer's thread only; everything below: under the mutex
  uint64_t max_bytes;
  size_t max_waiting_bytes;
  std::function<void()> on_progress;

  std::string waiting;
  uint64_t appended_bytes = 0;
  bool takes_more = true;
  bool is_ended = false;  // Close or Discard was called
  bool keep = false;
  bool is_paused = false;
  bool is_queued = false;
  bool is_busy = false;      // the writer is doing I/O for it
  bool is_orphaned = false;  // its Spill is gone

  bool is_settled = false;
  std::string id;
  std::string path;
  uint64_t written_bytes = 0;
  std::string error;

  // After I/O: what the file has come to.
  void Publish() {
    id = file.id();
    path = file.path();
    written_bytes = file.written_bytes();
    if (file.status().ok()) return;
    error = std::string(file.status().message());
    takes_more = false;
    FreeText(waiting);
  }

  void Resume() {
    if (!std::exchange(is_paused, false)) return;
    if (on_progress) on_progress();
  }
};

SpillWriter::SpillWriter() {
  // A file size limit, too, is then an error of write and not the end of the program (SIGXFSZ).
  SignalBlock block;
  thread_ = std::thread([this] { Run(); });
}

SpillWriter::~SpillWriter() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  has_work_.notify_one();
  thread_.join();
}

void SpillWriter::Enqueue(Job* job) {
  if (job->is_queued || job->is_busy) return;
  job->is_queued = true;
  queue_.push_back(job);
  has_work_.notify_one();
}

void SpillWriter::Run() {
  std::string bytes;
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    has_work_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Job* job = queue_.front();
    queue_.pop_front();
    job->is_queued = false;
    job->is_busy = true;
    const bool ends = job->is_ended;
    const bool keep = job->keep;
    bytes.clear();
    bytes.swap(job->waiting);
    // The owner can fill the next batch while this one is written.
    job->Resume();

    lock.unlock();
    job->file.Write(bytes);
    if (ends) job->file.End(keep);
    // A large buffer is not kept for the next batch, which may not come.
    if (ends || bytes.capacity() > 2 * Spill::kPauseBytes) FreeText(bytes);
    lock.lock();

    job->is_busy = false;
    job->Publish();
    job->Resume();
    if (ends && keep == job->keep) {
      Settle(job);
    } else if (job->is_ended || !job->waiting.empty()) {
      Enqueue(job);
    }
  }
}

void SpillWriter::Settle(Job* job) {
  job->is_settled = true;
  if (job->is_orphaned) {
    delete job;
  } else if (job->on_progress) {
    job->on_progress();
  }
}

Spill::Spill(SpillWriter* writer, const ArtifactStore& store, Options options)
    : writer_(writer),
      job_(new SpillWriter::Job{SpillFile(store, std::move(options.extension)), options.max_bytes,
                                options.max_waiting_bytes, std::move(options.on_progress)}) {}

Spill::~Spill() {
  std::lock_guard<std::mutex> lock(writer_->mutex_);
  if (!job_->is_ended) End(/*keep=*/false);
  job_->is_orphaned = true;
  job_->on_progress = nullptr;
  if (job_->is_settled) delete job_;
}

void Spill::Append(std::string_view bytes) {
  std::lock_guard<std::mutex> lock(writer_->mutex_);
  const uint64_t room = job_->max_bytes - std::min(job_->max_bytes, job_->appended_bytes);
  job_->appended_bytes += bytes.size();
  if (!job_->takes_more) return;
  if (bytes.size() > room) {
    job_->takes_more = false;
    job_->error = "the limit of " + std::to_string(job_->max_bytes) + " bytes was reached";
    bytes = bytes.substr(0, room);
  } else if (bytes.size() > job_->max_waiting_bytes - job_->waiting.size()) {
    job_->takes_more = false;
    job_->error = "the disk was too slow";
    bytes = bytes.substr(0, job_->max_waiting_bytes - job_->waiting.size());
  }
  if (bytes.empty()) return;
  job_->waiting.append(bytes);
  job_->is_paused = job_->waiting.size() >= kPauseBytes;
  writer_->Enqueue(job_);
}

void Spill::Close() {
  std::lock_guard<std::mutex> lock(writer_->mutex_);
  if (!job_->is_ended) End(/*keep=*/true);
}

void Spill::Discard() {
  std::lock_guard<std::mutex> lock(writer_->mutex_);
  if (job_->is_ended && !job_->keep) return;
  End(/*keep=*/false);
}

// With the lock held.
void Spill::End(bool keep) {
  job_->is_ended = true;
  job_->is_settled = false;
  job_->keep = keep;
  if (!keep) FreeText(job_->waiting);
  job_->Resume();  // nothing more comes that could be held back
  writer_->Enqueue(job_);
}

bool Spill::WantsPause() const {
  std::lock_guard<std::mutex> lock(writer_->mutex_);
  return job_->is_paused;
}

bool Spill::IsSettled() const {
  std::lock_guard<std::mutex> lock(writer_->mutex_);
  return job_->is_settled;
}

SpillFacts Spill::Facts() const {
  std::lock_guard<std::mutex> lock(writer_->mutex_);
  SpillFacts facts{job_->id, job_->path, job_->written_bytes,
                   job_->appended_bytes - job_->written_bytes, job_->error};
  if (facts.missing_bytes > 0 && facts.error.empty()) facts.error = "not yet written";
  return facts;
}

}  // namespace cellar::host
