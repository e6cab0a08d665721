// A template as its host sees it: a program that forks workers. Requests may be made at once; they
// wait in the template's socket until Python has started, so that starting a session costs no extra
// round trip.
//
// Lives on the loop's thread. Destroying it ends the template and everything below it.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "host/base/event_loop.h"
#include "host/base/process.h"
#include "host/wire/channel_messages.h"
#include "host/wire/template_messages.h"
#include "host/worker/worker.h"

namespace cellar::host {

struct TemplateOptions {
  std::string program;                   // the worker program
  std::vector<std::string> environment;  // "K=V"
  std::string executable;                // what sys.executable will be
  std::string home;                      // PyConfig.home, or empty
  std::string libpython;      // to be used instead of the one it is linked with, or empty
  std::string site_packages;  // as in wire::Start, with prefix
  std::string prefix;
  std::vector<std::string> preload;
  int start_limit_s = 30;  // a .pth file or sitecustomize may hang

  auto operator<=>(const TemplateOptions&) const = default;
};

// Shared with the workers that it has not started yet: they ask it why, should they never start;
// and with the sessions that have a worker below it.
class Template : public std::enable_shared_from_this<Template> {
 public:
  static absl::StatusOr<std::shared_ptr<Template>> Start(EventLoop& loop, TemplateOptions options);
  ~Template();

  // Asks for a new worker and sends it `setup`. A template that cannot start shows as the worker's
  // exit.
  absl::StatusOr<std::unique_ptr<Worker>> Fork(const wire::Setup& setup, WorkerListener& listener);

  // Lets it go on if a cell has stopped it.
  void Continue();
  // Ends it and everything below it, without waiting.
  void Leave();

  bool alive() const { return !ended_; }
  // It has ended, and its process is collected.
  bool gone() const { return !process_.pidfd; }
  // What the started template told of itself; nothing while it starts.
  const std::optional<wire::Ready>& ready() const { return ready_; }

 private:
  Template(EventLoop& loop, TemplateOptions options) : loop_(loop), options_(std::move(options)) {}

  absl::Status Spawn();
  absl::Status SendFork(Birth& birth);
  void SendUnsent();
  void OnControl();
  void OnLog();
  size_t ReadLog();
  void End(std::string reason);
  void Dismiss();
  void Collect();
  absl::Status WhyNotStarted();
  std::string EndedEarly() const;

  EventLoop& loop_;
  TemplateOptions options_;
  ChildProcess process_;
  UniqueFd control_;
  std::deque<std::vector<UniqueFd>> unsent_;  // descriptors of forks that its socket had no room for
  UniqueFd log_;  // the template's stdout and stderr
  std::string log_tail_;
  std::optional<wire::Ready> ready_;
  EventLoop::TimerId start_timer_ = 0;
  EventLoop::TimerId collect_timer_ = 0;
  bool ended_ = false;
  std::string failure_;
};

}  // namespace cellar::host
