#include "cellar/cellar.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/library/engine.h"
#include "host/library/opener.h"
#include "host/library/query_answers.h"

namespace cellar {
namespace {

using OptionalValue = std::optional<host::SessionValue>;

absl::StatusOr<host::SessionValue> GetValue(Engine& engine, uint64_t id, std::string name) {
  CELLAR_ASSIGN_OR_RETURN(OptionalValue value,
                          engine.Ask<OptionalValue>(id, [&](host::Session& session,
                                                            Engine::Answer<OptionalValue> answer) {
                            session.Get(name, std::move(answer));
                          }));
  if (!value) return absl::NotFoundError(absl::StrCat("the session has no ", name));
  return *std::move(value);
}

absl::Status SetValue(Engine& engine, uint64_t id, std::string name, host::SessionValue value) {
  return engine
      .Ask<OptionalValue>(id,
                          [&](host::Session& session, Engine::Answer<OptionalValue> answer) {
                            session.Set(std::move(name), std::move(value), std::move(answer));
                          })
      .status();
}

absl::StatusOr<std::string> AskQuery(Engine& engine, uint64_t id, wire::Query query,
                                     std::optional<size_t> cursor = std::nullopt) {
  constexpr size_t kEnd = std::numeric_limits<uint32_t>::max();
  query.cursor = static_cast<uint32_t>(std::min(cursor.value_or(kEnd), kEnd));
  return engine.Ask<std::string>(id,
                                 [&](host::Session& session, Engine::Answer<std::string> answer) {
                                   session.Query(std::move(query), std::move(answer));
                                 });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Host>> Host::Start(HostOptions options) {
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<const Opener> opener, Opener::Make(std::move(options)));
  const host::Launch& launch = opener->launch();
  CELLAR_ASSIGN_OR_RETURN(
      std::shared_ptr<Engine> engine,
      Engine::Start(launch.artifacts_directory, host::ArtifactLimitsFrom(launch.settings)));
  return std::unique_ptr<Host>(new Host(std::move(opener), std::move(engine)));
}

Host::Host(std::unique_ptr<const Opener> opener, std::shared_ptr<Engine> engine)
    : opener_(std::move(opener)), engine_(std::move(engine)) {}

Host::~Host() { engine_->Shutdown(); }

const std::vector<std::string>& Host::warnings() const {
  return opener_->launch().interpreter.warnings;
}

absl::StatusOr<std::unique_ptr<Session>> Host::Open(SessionOptions options) {
  CELLAR_ASSIGN_OR_RETURN(host::SessionOptions prepared, opener_->Prepare(std::move(options)));
  CELLAR_ASSIGN_OR_RETURN(uint64_t id, engine_->Open(std::move(prepared)));
  return std::unique_ptr<Session>(new Session(engine_, id));
}

void Host::RenewOffer() { engine_->RenewOffers(); }

Session::Session(std::shared_ptr<Engine> engine, uint64_t id)
    : engine_(std::move(engine)), id_(id) {}

Session::~Session() { Close(); }

absl::StatusOr<CellOutcome> Session::Run(std::string code, RunOptions options) {
  const bool unlimited = options.timeout == absl::InfiniteDuration();
  host::CellRequest request = {.code = std::move(code),
                               .timeout = unlimited ? absl::ZeroDuration() : options.timeout,
                               .observer = options.observer};
  return engine_->Ask<CellOutcome>(
      id_, [&](host::Session& session, Engine::Answer<CellOutcome> answer) {
        if (options.parent != 0) {
          return session.RunNested(options.parent, std::move(request), std::move(answer));
        }
        session.Run(std::move(request), std::move(answer));
      });
}

void Session::Interrupt() { engine_->Interrupt(id_); }

absl::Status Session::Set(std::string name, const nlohmann::json& value) {
  std::string text;
  // dump() has no other way to say that a string is not UTF-8.
  try {
    text = value.dump();
  } catch (const nlohmann::json::type_error& error) {
    return absl::InvalidArgumentError(absl::StrCat("the value for ", name, ": ", error.what()));
  }
  return SetValue(*engine_, id_, std::move(name), {.is_json = true, .data = std::move(text)});
}

absl::Status Session::SetBytes(std::string name, std::string bytes) {
  return SetValue(*engine_, id_, std::move(name), {.is_json = false, .data = std::move(bytes)});
}

absl::StatusOr<nlohmann::json> Session::Get(std::string name) {
  CELLAR_ASSIGN_OR_RETURN(host::SessionValue value, GetValue(*engine_, id_, name));
  if (!value.is_json) {
    return absl::InvalidArgumentError(absl::StrCat(name, " holds bytes, which JSON cannot"));
  }
  nlohmann::json json = nlohmann::json::parse(value.data, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return absl::DataLossError(absl::StrCat("the worker sent damaged JSON for ", name));
  }
  return json;
}

absl::StatusOr<std::string> Session::GetBytes(std::string name) {
  CELLAR_ASSIGN_OR_RETURN(host::SessionValue value, GetValue(*engine_, id_, name));
  if (value.is_json) return absl::InvalidArgumentError(absl::StrCat(name, " does not hold bytes"));
  return std::move(value.data);
}

absl::StatusOr<Completions> Session::Complete(std::string text, std::optional<size_t> cursor) {
  wire::Query query = {.kind = wire::QueryKind::kComplete, .text = std::move(text)};
  CELLAR_ASSIGN_OR_RETURN(std::string answer, AskQuery(*engine_, id_, std::move(query), cursor));
  return ParseCompletions(answer);
}

absl::StatusOr<Inspection> Session::Inspect(std::string text, std::optional<size_t> cursor,
                                            bool with_source) {
  wire::Query query = {
      .kind = wire::QueryKind::kInspect, .text = std::move(text), .with_source = with_source};
  CELLAR_ASSIGN_OR_RETURN(std::string answer, AskQuery(*engine_, id_, std::move(query), cursor));
  return ParseInspection(answer);
}

absl::StatusOr<Completeness> Session::IsComplete(std::string text) {
  wire::Query query = {.kind = wire::QueryKind::kIsComplete, .text = std::move(text)};
  CELLAR_ASSIGN_OR_RETURN(std::string answer, AskQuery(*engine_, id_, std::move(query)));
  return ParseCompleteness(answer);
}

absl::StatusOr<Standing> Session::Rewind(std::optional<uint32_t> before_cell) {
  return engine_->Ask<Standing>(id_, [&](host::Session& session, Engine::Answer<Standing> answer) {
    session.Rewind(before_cell, std::move(answer));
  });
}

absl::StatusOr<Branched> Session::Branch(BranchOptions options) {
  CELLAR_ASSIGN_OR_RETURN(Engine::Branched branched, engine_->Branch(id_, options));
  return Branched{.session = std::unique_ptr<Session>(new Session(engine_, branched.id)),
                  .standing = std::move(branched.standing)};
}

absl::StatusOr<SnapshotStatus> Session::Snapshots() {
  return engine_->Ask<SnapshotStatus>(
      id_, [](host::Session& session, Engine::Answer<SnapshotStatus> answer) {
        answer(session.snapshots());
      });
}

void Session::Close() { engine_->Close(id_); }

}  // namespace cellar
