#include "host/repl/shared_session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/base/json_text.h"
#include "host/base/status.h"
#include "host/serve/call_frames.h"
#include "host/serve/dial.h"
#include "host/serve/frame_fields.h"
#include "host/serve/standing.h"

namespace cellar::host {
namespace {

using nlohmann::ordered_json;

// A daemon that starts quicker is not worth a word.
constexpr absl::Duration kWorthTelling = absl::Seconds(1);

// A call that was cancelled while it waited has run nothing.
absl::Status OutcomeOf(const ordered_json& done) {
  CELLAR_RETURN_IF_ERROR(RefusalIn(done));
  const ordered_json result = done.value("result", ordered_json::object());
  const ordered_json cells = result.value("cells", ordered_json::array());
  if (cells.empty() || TextIn(cells.front(), "status") != "not_run") return absl::OkStatus();
  return absl::CancelledError("the cell was not run");
}

std::vector<PromptSession::Listed> ListIn(const ordered_json& done) {
  std::vector<PromptSession::Listed> all;
  for (const ordered_json& session : done.value("sessions", ordered_json::array())) {
    if (!session.is_object()) continue;
    all.push_back({.name = TextIn(session, "id"),
                   .cells_run = static_cast<uint64_t>(NumberIn(session, "cells_run")),
                   .busy = FlagIn(session, "busy")});
    for (const ordered_json& cell : session.value("snapshots", ordered_json::array())) {
      if (cell.is_number_unsigned()) all.back().snapshots.push_back(cell.get<uint32_t>());
    }
  }
  return all;
}

}  // namespace

SharedSession::SharedSession(EventLoop& loop, BridgeProvider& desk, SharedSessionOptions options)
    : loop_(loop),
      desk_(desk),
      options_(std::move(options)),
      replies_(std::make_shared<ReplyDesk>(
          loop, [this](uint64_t call, const BridgeAnswer& answer) { Reply(call, answer); })) {}

void SharedSession::Start(PromptSessionListener& listener, StatusCallback ready) {
  listener_ = &listener;
  Connect(std::move(ready));
}

SharedSession::~SharedSession() {
  StopDialling();
  replies_->Close();
}

void SharedSession::Connect(StatusCallback done) {
  if (link_ != nullptr) return done(absl::OkStatus());
  waiting_.push_back(std::move(done));
  if (dial_) return;
  dial_.emplace(loop_, options_.env, [this](absl::StatusOr<std::unique_ptr<Client>> client) {
    OnDialled(std::move(client));
  });
  slow_dial_ = loop_.After(kWorthTelling, [this] { listener_->OnWaitsForDaemon(); });
}

void SharedSession::OnDialled(absl::StatusOr<std::unique_ptr<Client>> client) {
  StopDialling();
  if (!client.ok()) return TellWaiting(client.status());
  const auto on_other = [this](const Frame& frame) {
    if (TextIn(frame, "type") != "withdraw") return;
    OnWithdraw(static_cast<uint64_t>(NumberIn(frame, "call")));
  };
  link_ =
      std::make_unique<Link>(loop_, (*client)->socket(),
                             Link::Events{.on_other = on_other, .on_gone = [this] { OnGone(); }});
  link_->Ask({{"type", "hello"}, {"input", true}}, [](const Frame&) {});
  Watch(options_.name, [this](const absl::Status& status) { TellWaiting(status); });
}

void SharedSession::StopDialling() {
  dial_.reset();
  loop_.Cancel(std::exchange(slow_dial_, 0));
}

void SharedSession::TellWaiting(const absl::Status& status) {
  for (StatusCallback& done : std::exchange(waiting_, {})) done(status);
}

void SharedSession::Interrupt() {
  if (waiting_.empty()) return Cancel(call_);
  StopDialling();
  TellWaiting(absl::CancelledError("given up: there is no daemon yet"));
}

void SharedSession::Watch(const std::string& name, StatusCallback done) {
  const uint64_t number = watches_ + 1;
  auto on_frame = [this, name, number, done = std::move(done)](const Frame& frame) mutable {
    if (done && TextIn(frame, "type") == "done") {
      return std::exchange(done, nullptr)(RefusalIn(frame));
    }
    if (done == nullptr) {
      if (number == watches_) OnWatched(frame);
      return;
    }
    own_cells_[options_.name].next_cell = next_cell_;
    options_.name = name;
    watches_ = number;
    Cancel(std::exchange(watch_, TextIn(frame, "id")));
    OnState(frame);
    // Where the session has gone on meanwhile, nobody has told which cells are whose.
    if (own_cells_[name].next_cell != next_cell_) own_cells().clear();
    std::exchange(done, nullptr)(absl::OkStatus());
  };
  Frame request = {{"type", "watch"}, {"session", name}};
  AddOpening(options_.opening, request);
  link_->Ask(std::move(request), std::move(on_frame));
}

void SharedSession::OnWatched(const Frame& frame) {
  const std::string type = TextIn(frame, "type");
  if (type == "state") return OnState(frame);
  if (!frame.contains("call")) return TellOf(frame, *listener_);  // of the session itself
  WatchedCall& call = shown_[TextIn(frame, "call")];
  const auto number = static_cast<uint32_t>(NumberIn(frame, "execution_count"));
  if (type == "started") {
    call = {.handle = TextIn(frame, "call"),
            .by = TextIn(frame, "by"),
            .is_nested = FlagIn(frame, "nested")};
    if (!call.is_nested) {
      own_cells().erase(number);
      MoveTo(number);
    }
  }
  TellOf(frame, listener_->Others(call));
  // A call may have another cell; where the session stands is said when it is over.
  if (type == "finished") MoveTo(std::max(next_cell_, number + 1));
}

void SharedSession::MoveTo(uint32_t cell) {
  next_cell_ = cell;
  listener_->OnMoved();
}

void SharedSession::OnState(const Frame& frame) {
  next_cell_ = static_cast<uint32_t>(NumberIn(frame, "next_cell"));
  other_call_.clear();
  other_by_.clear();
  const Frame running = frame.value("running", Frame());
  if (!running.is_object()) shown_.clear();
  if (running.is_object() && !FlagIn(running, "own")) {
    other_call_ = TextIn(running, "call");
    other_by_ = TextIn(running, "by");
  }
  const std::string change = TextIn(frame, "change");
  if (!change.empty()) {
    own_cells().erase(own_cells().lower_bound(next_cell_), own_cells().end());
    told_change_ = "the session was " + change;
  }
  if (change == "closed") listener_->OnChange(SessionChange::kClosed);
  if (own_changes_ == 0 && change == "reset") listener_->OnChange(SessionChange::kReset);
  if (own_changes_ == 0 && change == "rewound") listener_->OnChange(SessionChange::kRewound);
  listener_->OnMoved();
}

size_t SharedSession::others_since(uint32_t cell) const {
  if (cell >= next_cell_) return 0;
  const auto session = own_cells_.find(options_.name);
  if (session == own_cells_.end()) return next_cell_ - cell;
  const std::set<uint32_t>& own = session->second.numbers;
  return next_cell_ - cell -
         static_cast<size_t>(std::distance(own.lower_bound(cell), own.lower_bound(next_cell_)));
}

void SharedSession::OnGone() {
  link_.reset();
  watch_.clear();
  other_call_.clear();
  other_by_.clear();
  next_cell_ = 1;
  own_cells_.clear();
  own_changes_ = 0;
  while (!asked_.empty()) OnWithdraw(*asked_.begin());
  listener_->OnLost();
}

void SharedSession::OnInput(const Frame& frame) {
  const auto call = static_cast<uint64_t>(NumberIn(frame, "call"));
  const bool hidden = FlagIn(frame, "password");
  asked_.insert(call);
  desk_.Start({.id = call,
               .session = options_.name,
               .name = BridgeProvider::kInput,
               .args = Frame({{"hidden", hidden}}).dump()},
              BridgeReply(replies_, call));
}

void SharedSession::OnWithdraw(uint64_t call) {
  if (asked_.erase(call) > 0) desk_.Cancel(call);
}

void SharedSession::Reply(uint64_t call, const BridgeAnswer& answer) {
  if (asked_.erase(call) == 0 || link_ == nullptr) return;
  Frame reply = {{"type", "reply"}, {"call", call}};
  if (answer.error) {
    reply["error"] = *answer.error;
  } else {
    reply["value"] = Frame::parse(answer.value, nullptr, /*allow_exceptions=*/false);
  }
  link_->Send(reply);
}

void SharedSession::Run(std::string code, StatusCallback done) {
  Connect([this, code = std::move(code), done = std::move(done)](absl::Status status) mutable {
    if (!status.ok()) return done(std::move(status));
    const Frame cell = {{"code", std::move(code)}, {"timeout", 0}};
    Frame request = {{"type", "eval"},
                     {"session", options_.name},
                     {"by", ThisClient("prompt")},
                     {"cells", {cell}}};
    AddOpening(options_.opening, request);
    call_ =
        link_->Ask(std::move(request), [this, done = std::move(done)](const Frame& frame) mutable {
          const std::string type = TextIn(frame, "type");
          if (type == "input") return OnInput(frame);
          if (type == "finished") {
            own_cells().insert(static_cast<uint32_t>(NumberIn(frame, "execution_count")));
            return TellOf(WithoutOldNews(frame), *listener_);
          }
          if (type != "done") return TellOf(frame, *listener_);
          call_.clear();
          done(OutcomeOf(frame));
        });
  });
}

// Those of a change that the watch has told of when it happened.
SharedSession::Frame SharedSession::WithoutOldNews(Frame finished) {
  const std::string told = std::exchange(told_change_, "");
  if (!told.empty() && TextIn(finished, "state_detail").starts_with(told)) {
    finished["state_detail"] = "";
  }
  return finished;
}

void SharedSession::Ask(Frame request, absl::AnyInvocable<void(absl::StatusOr<Frame>)> done) {
  Connect([this, request = std::move(request),
           done = std::move(done)](const absl::Status& status) mutable {
    if (!status.ok()) return done(status);
    request["session"] = options_.name;
    link_->Ask(std::move(request), [done = std::move(done)](const Frame& frame) mutable {
      const absl::Status refusal = RefusalIn(frame);
      if (!refusal.ok()) return done(refusal);
      done(frame);
    });
  });
}

void SharedSession::AskStanding(Frame request, StandingCallback done) {
  Ask(std::move(request), [done = std::move(done)](absl::StatusOr<Frame> frame) mutable {
    if (!frame.ok()) return done(frame.status());
    done(StandingIn(*frame));
  });
}

void SharedSession::Cancel(const std::string& call) {
  if (link_ == nullptr || call.empty()) return;
  link_->Cancel(call);
}

// A daemon that was started for it would have nothing to say.
void SharedSession::Complete(std::string text, uint32_t cursor, QueryCallback done) {
  if (link_ == nullptr) return done(absl::UnavailableError("there is no daemon"));
  Ask({{"type", "complete"}, {"text", std::move(text)}, {"cursor", cursor}},
      [done = std::move(done)](absl::StatusOr<Frame> frame) mutable {
        if (!frame.ok()) return done(frame.status());
        done(JsonText(frame->value("answer", Frame())));
      });
}

void SharedSession::Reset(StatusCallback done) {
  ++own_changes_;
  Ask({{"type", "reset"}},
      [this, done = std::move(done)](const absl::StatusOr<Frame>& frame) mutable {
        if (own_changes_ > 0) --own_changes_;
        done(frame.status());
      });
}

void SharedSession::Rewind(uint32_t cell, StandingCallback done) {
  ++own_changes_;
  AskStanding({{"type", "rewind"}, {"cell", cell}},
              [this, done = std::move(done)](absl::StatusOr<Standing> standing) mutable {
                if (own_changes_ > 0) --own_changes_;
                done(std::move(standing));
              });
}

void SharedSession::Branch(const std::string& name, StandingCallback done) {
  AskStanding({{"type", "branch"}, {"new_session", name}},
              [this, name, done = std::move(done)](absl::StatusOr<Standing> standing) mutable {
                if (standing.ok()) own_cells_[name] = {own_cells(), standing->before_cell};
                done(std::move(standing));
              });
}

void SharedSession::Switch(const std::string& name, StatusCallback done) {
  List([this, name, done = std::move(done)](absl::StatusOr<std::vector<Listed>> all) mutable {
    if (!all.ok()) return done(all.status());
    for (const Listed& session : *all) {
      if (session.name == name) return Watch(name, std::move(done));
    }
    done(absl::NotFoundError(
        absl::StrCat("no session ", name, "; :branch makes one, :sessions lists them")));
  });
}

void SharedSession::List(ListCallback done) {
  Connect([this, done = std::move(done)](const absl::Status& status) mutable {
    if (!status.ok()) return done(status);
    link_->Ask({{"type", "sessions"}}, [done = std::move(done)](const Frame& frame) mutable {
      const absl::Status refusal = RefusalIn(frame);
      if (!refusal.ok()) return done(refusal);
      done(ListIn(frame));
    });
  });
}

}  // namespace cellar::host
