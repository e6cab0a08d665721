// What clients ask of sessions other than to run cells.
#include <utility>
#include <vector>

#include "host/base/clock.h"
#include "host/serve/connection.h"
#include "host/serve/frame.h"
#include "host/serve/server.h"
#include "host/session/session_errors.h"

namespace cellar::host {
namespace {

void WriteSession(const SessionInfo& info, CallId holder, JsonWriter& json) {
  json.BeginObject();
  json.Key("id").String(info.key.id);
  json.Key("cwd").String(info.key.cwd);
  json.Key("interpreter").String(info.key.interpreter);
  json.Key("busy").Bool(info.busy);
  json.Key("call");
  holder != 0 ? json.String(HandleOf(holder)) : json.Null();
  json.Key("waiting").Number(static_cast<int64_t>(info.waiting));
  json.Key("cells_run").Number(static_cast<int64_t>(info.cells_run));
  json.Key("snapshots").BeginArray();
  for (uint32_t before_cell : info.snapshots) json.Number(before_cell);
  json.EndArray();
  json.Key("memory_bytes").Number(static_cast<int64_t>(info.memory_bytes));
  json.Key("worker_pid").Number(info.worker_pid);
  json.Key("owners").BeginArray();
  for (const std::string& owner : info.owners) json.String(owner);
  json.EndArray();
  json.Key("idle_s").Number(absl::ToInt64Seconds(MonotonicNow() - info.last_used));
  json.EndObject();
}

}  // namespace

void Connection::Do(const RequestId& id, ResetRequest request) {
  if (server_.registry_.Find(request.session) == nullptr) {
    return Send(RefusedFrame(id, NoSuchSession(request.session)));
  }
  const auto reset = resets_.insert(resets_.end(), 0);
  *reset = server_.service_.Reset({.id = request.session},
                                  Later<absl::Status>([this, id, reset](absl::Status status) {
                                    resets_.erase(reset);
                                    Send(status.ok() ? OkFrame(id) : RefusedFrame(id, status));
                                  }));
}

void Connection::Do(const RequestId& id, InterruptRequest request) {
  Session* session = server_.registry_.Find(request.session);
  if (session == nullptr) return Send(RefusedFrame(id, NoSuchSession(request.session)));
  Frame frame = BeginDone(id, "ok");
  frame.Key("interrupted").Bool(session->Interrupt());
  Send(frame.Take());
}

void Connection::Do(const RequestId& id, RewindRequest request) {
  Session* session = server_.registry_.Find(request.session);
  if (session == nullptr) return Send(RefusedFrame(id, NoSuchSession(request.session)));
  session->Rewind(
      request.cell,
      [&service = server_.service_, name = request.session,
       answer = AnswerStanding(id)](const absl::StatusOr<Standing>& standing) mutable {
        if (standing.ok()) service.Tell(name, SessionChange::kRewound);
        answer(standing);
      },
      /*is_news=*/true);
}

void Connection::Do(const RequestId& id, BranchRequest request) {
  server_.registry_.Branch(request.session,
                           {.before_cell = request.cell, .id = std::move(request.new_session)},
                           AnswerStanding(id));
}

absl::AnyInvocable<void(absl::StatusOr<Standing>)> Connection::AnswerStanding(const RequestId& id) {
  using Answer = absl::StatusOr<Standing>;
  return Later<Answer>([this, id](Answer standing) {
    if (!standing.ok()) return Send(RefusedFrame(id, standing.status()));
    Frame frame = BeginDone(id, "ok");
    frame.Key("before_cell").Number(standing->before_cell);
    frame.Key("not_carried").BeginArray();
    for (const std::string& what : standing->not_carried) frame.json().String(what);
    frame.json().EndArray();
    Send(frame.Take());
  });
}

void Connection::Do(const RequestId& id, CloseRequest request) {
  const size_t count = server_.registry_.CountOf(request.session);
  if (count == 0) return Send(RefusedFrame(id, NoSuchSession(request.session)));
  server_.options_.on_closed(request.session);
  auto answer = Later<size_t>([this, id](size_t closed) {
    Frame frame = BeginDone(id, "ok");
    frame.Key("closed").Number(static_cast<int64_t>(closed));
    Send(frame.Take());
  });
  server_.registry_.Close(request.session,
                          [answer = std::move(answer), count]() mutable { answer(count); });
}

void Connection::Do(const RequestId& id, SessionsRequest) {
  using Infos = std::vector<SessionInfo>;
  server_.registry_.List(Later<Infos>([this, id](Infos infos) {
    Frame frame = BeginDone(id, "ok");
    frame.Key("sessions").BeginArray();
    for (const SessionInfo& info : infos) {
      WriteSession(info, server_.service_.HolderOf(info.key), frame.json());
    }
    frame.json().EndArray();
    Send(frame.Take());
  }));
}

void Connection::Do(const RequestId& id, QueryRequest request) {
  Session* session = server_.registry_.Find(request.session);
  if (session == nullptr) return Send(RefusedFrame(id, NoSuchSession(request.session)));
  using Answer = absl::StatusOr<std::string>;
  session->Query(std::move(request.query), Later<Answer>([this, id](Answer answer) {
                   if (!answer.ok()) return Send(RefusedFrame(id, answer.status()));
                   Frame frame = BeginDone(id, "ok");
                   frame.Key("answer");
                   if (!frame.json().Json(*answer)) frame.json().Null();
                   Send(frame.Take());
                 }));
}

}  // namespace cellar::host
