#include "host/repl/local_session.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "host/console/terminal.h"

namespace cellar::host {
namespace {

PromptSession::Listed ListingOf(const std::string& name, const Session& session) {
  PromptSession::Listed listed = {.name = name, .cells_run = session.cells_run()};
  for (const KeptSnapshot& moment : session.snapshots().kept) {
    listed.snapshots.push_back(moment.before_cell);
  }
  return listed;
}

}  // namespace

LocalSession::~LocalSession() {
  for (Session* session : all()) session->ObserveBackground(nullptr);
}

Session& LocalSession::session() const {
  auto branch = branches_.find(current_);
  return branch == branches_.end() ? console_.session() : *branch->second;
}

std::vector<Session*> LocalSession::all() const {
  std::vector<Session*> sessions = {&console_.session()};
  for (const auto& [name, branch] : branches_) sessions.push_back(branch.get());
  return sessions;
}

void LocalSession::Start(PromptSessionListener& listener, StatusCallback ready) {
  listener_ = &listener;
  session().ObserveBackground(listener_);
  ready(session().Prepare());
}

void LocalSession::Leave(absl::AnyInvocable<void()> done) {
  on_left_ = std::move(done);
  open_ = all();
  CloseNext();
}

// One after the other, or what their exit handlers print would be mixed.
void LocalSession::CloseNext() {
  if (open_.empty()) return on_left_();
  Session* session = open_.back();
  open_.pop_back();
  session->ObserveBackground(listener_);
  session->Close([this] { CloseNext(); });
}

void LocalSession::Run(std::string code, StatusCallback done) {
  const CallCell cell = {.code = std::move(code)};
  listener_->OnCellStarted(0, cell);
  session().Run({.code = cell.code, .observer = listener_, .environment = NewWidth()},
                [this, done = std::move(done)](absl::StatusOr<CellOutcome> outcome) mutable {
                  if (!outcome.ok()) return done(outcome.status());
                  CellResult result = {.status = CellRunStatus::kComplete};
                  result.outcome = *std::move(outcome);
                  listener_->OnCellFinished(0, result);
                  done(absl::OkStatus());
                });
}

std::vector<wire::EnvironmentEntry> LocalSession::NewWidth() {
  const int columns = SizeOfScreen(STDOUT_FILENO).columns;
  if (std::exchange(columns_told_[current_], columns) == columns) return {};
  return {{"COLUMNS", std::to_string(columns)}};
}

void LocalSession::Complete(std::string text, uint32_t cursor, QueryCallback done) {
  session().Query({.kind = wire::QueryKind::kComplete, .text = std::move(text), .cursor = cursor},
                  std::move(done));
}

void LocalSession::Rewind(uint32_t cell, StandingCallback done) {
  columns_told_.erase(current_);  // what cells came with is undone with them
  session().Rewind(cell, std::move(done));
}

void LocalSession::Branch(const std::string& name, StandingCallback done) {
  if (name == kMain || branches_.contains(name)) {
    return done(absl::AlreadyExistsError(absl::StrCat("there is a session ", name, " already")));
  }
  session().Branch({},
                   [this, name, done = std::move(done)](absl::StatusOr<Branched> branched) mutable {
                     if (!branched.ok()) return done(branched.status());
                     branches_[name] = std::move(branched->session);
                     done(std::move(branched->standing));
                   });
}

void LocalSession::Switch(const std::string& name, StatusCallback done) {
  if (name != kMain && !branches_.contains(name)) {
    return done(absl::NotFoundError(
        absl::StrCat("no session ", name, " here; :branch makes one, :sessions lists them")));
  }
  session().ObserveBackground(nullptr);
  current_ = name;
  session().ObserveBackground(listener_);
  done(absl::OkStatus());
}

void LocalSession::List(ListCallback done) {
  std::vector<Listed> all = {ListingOf(kMain, console_.session())};
  for (const auto& [name, branch] : branches_) all.push_back(ListingOf(name, *branch));
  done(std::move(all));
}

}  // namespace cellar::host
