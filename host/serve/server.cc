#include "host/serve/server.h"

#include <unistd.h>

#include <utility>

#include "host/serve/frame.h"

namespace cellar::host {

Server::Server(EventLoop& loop, SessionRegistry& registry, CallService& service,
               ClientBridge& bridge, ServerOptions options)
    : loop_(loop),
      registry_(registry),
      service_(service),
      bridge_(bridge),
      options_(std::move(options)) {
  registry_.AnswerCalls(&bridge_);
}

Server::~Server() = default;

void Server::Serve(UniqueFd in, UniqueFd out) {
  connections_.push_back(std::make_unique<Connection>(*this, std::move(in), std::move(out)));
  connections_.back()->Start();
}

void Server::InterruptCalls() {
  for (const std::unique_ptr<Connection>& connection : connections_) connection->InterruptCalls();
}

void Server::SendHello(Connection& connection) const {
  const absl::string_view mode = ToolModeName(options_.offer.mode);
  JsonWriter json(/*pretty=*/false);
  json.BeginObject().Key("type").String("hello");
  json.Key("name").String("cellar").Key("version").String(CELLAR_VERSION);
  json.Key("protocol").Number(kLineProtocol);
  json.Key("pid").Number(getpid());
  json.Key("tool_mode").String({mode.data(), mode.size()});
  if (!options_.offer.reason.empty()) json.Key("reason").String(options_.offer.reason);
  json.Key("requests").BeginArray();
  for (std::string_view name : RequestNames()) json.String(name);
  json.EndArray().EndObject();
  connection.Send(json.Take() + '\n');
}

NotebookJob& Server::RunNotebook(NotebookSessionRun request, CallStream& stream,
                                 NotebookJob::DoneCallback done) {
  auto place = notebooks_.emplace(notebooks_.end());
  *place = std::make_unique<NotebookJob>(
      loop_, registry_, service_, files_, std::move(request), stream,
      [this, place, done = std::move(done)](absl::StatusOr<NotebookJob::Outcome> outcome) mutable {
        const std::unique_ptr<NotebookJob> over = std::move(*place);
        notebooks_.erase(place);
        done(std::move(outcome));
      });
  (*place)->Start();
  return **place;
}

void Server::RemoveOwner(const std::string& owner) {
  auto found = owners_.find(owner);
  if (found == owners_.end() || --found->second > 0) return;
  owners_.erase(found);
  registry_.Leave(owner);
}

// Posted, because a connection must not be destroyed in a call that it makes.
void Server::Remove(Connection& connection, absl::Status why) {
  loop_.Post([this, gone = &connection, why = std::move(why)] {
    connections_.remove_if([gone](const auto& other) { return other.get() == gone; });
    options_.on_left(why);
  });
}

}  // namespace cellar::host
