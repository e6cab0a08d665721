#include "host/cli/session_commands.h"

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/cli/ask_daemon.h"
#include "host/console/complain.h"
#include "host/console/exit_codes.h"
#include "host/console/standard_output.h"
#include "host/console/table.h"
#include "host/console/terminal.h"
#include "host/eval/call_fields.h"
#include "host/eval/json_writer.h"
#include "host/output/printable.h"
#include "host/serve/frame_fields.h"
#include "host/serve/standing.h"
#include "host/session/session_errors.h"

namespace cellar::host {
namespace {

using nlohmann::ordered_json;

std::string Age(int64_t seconds) {
  if (seconds < 60) return std::to_string(seconds) + " s";
  return std::to_string(seconds / 60) + " min";
}

// What it does, and for how long.
std::string StateOf(const ordered_json& session) {
  const std::string age = Age(NumberIn(session, "idle_s"));
  if (!FlagIn(session, "busy")) return "idle " + age;
  const std::string call = TextIn(session, "call");
  return "busy " + (call.empty() ? "" : call + ", ") + age;
}

// A session's line, in columns.
std::vector<std::string> ColumnsOf(const ordered_json& session) {
  std::string snapshots;
  for (const ordered_json& cell : session.value("snapshots", ordered_json::array())) {
    snapshots += (snapshots.empty() ? "rewinds to before cell " : ", ") + cell.dump();
  }
  std::string owners;
  for (const ordered_json& owner : session.value("owners", ordered_json::array())) {
    owners += (owners.empty() ? "owned by " : ", ") + owner.get<std::string>();
  }
  std::vector<std::string> columns = {
      Printable(TextIn(session, "id")),
      StateOf(session),
      std::to_string(NumberIn(session, "cells_run")),
      std::to_string(NumberIn(session, "memory_bytes") >> 20) + " MiB",
      Printable(TextIn(session, "cwd")),
      Printable(TextIn(session, "interpreter"))};
  const std::string more = snapshots + (snapshots.empty() || owners.empty() ? "" : "; ") + owners;
  if (!more.empty()) columns.push_back(Printable(more));
  return columns;
}

int ListSessions(bool json) {
  absl::StatusOr<ordered_json> done = AskDaemon({{"type", "sessions"}});
  if (!done.ok() && !absl::IsNotFound(done.status())) return ComplainOf(done.status());
  const ordered_json sessions =
      done.ok() ? done->value("sessions", ordered_json::array()) : ordered_json::array();
  if (json) {
    JsonWriter writer(IsTerminal(STDOUT_FILENO));
    writer.Json(sessions.dump());
    return WriteOut(writer.Take() + "\n");
  }
  if (sessions.empty()) return WriteOut("no sessions\n");
  std::vector<std::vector<std::string>> rows = {
      {"SESSION", "STATE", "CELLS", "MEMORY", "DIRECTORY", "PYTHON"}};
  for (const ordered_json& session : sessions) rows.push_back(ColumnsOf(session));
  PrintTable(rows);
  return kExitFine;
}

// Without a daemon there is no such session either.
absl::StatusOr<ordered_json> AskAbout(const std::string& session, ordered_json request,
                                      std::string_view when_slow = {}) {
  request["session"] = session;
  absl::StatusOr<ordered_json> done = AskDaemon(std::move(request), when_slow);
  if (!absl::IsNotFound(done.status())) return done;
  return NoSuchSession(session);
}

int AskAboutSession(const std::string& type, const std::string& session) {
  const std::string_view when_slow =
      type == "reset" ? "waits for the cell that runs; Ctrl-C gives the reset up" : "";
  absl::StatusOr<ordered_json> done = AskAbout(session, {{"type", type}}, when_slow);
  if (!done.ok()) return ComplainOf(done.status());
  if (done->value("interrupted", true) == false) std::printf("no cell was running\n");
  if (const int64_t closed = NumberIn(*done, "closed"); closed > 1) {
    std::printf("%lld sessions closed\n", static_cast<long long>(closed));
  }
  const absl::Status refusal = RefusalIn(*done);
  return refusal.ok() ? kExitFine : ComplainOf(refusal);
}

struct MoveOptions {
  std::string session;
  std::string branch;
  std::optional<uint32_t> cell;
};

// Asks for a rewind or a branch, and says where it stands.
int Move(const MoveOptions& options, ordered_json request) {
  if (options.cell) request["cell"] = *options.cell;
  absl::StatusOr<ordered_json> done = AskAbout(options.session, std::move(request));
  if (!done.ok()) return ComplainOf(done.status());
  if (absl::Status refusal = RefusalIn(*done); !refusal.ok()) return ComplainOf(refusal);
  std::printf("%s\n", Printable(Describe(StandingIn(*done))).c_str());
  return kExitFine;
}

void AddName(CLI::App& command, std::string& session) {
  command.add_option("session", session, "Name of the session")->required()->option_text("NAME");
}

void AddSessionCommand(CLI::App& app, const std::string& name, const std::string& description,
                       int* exit_code) {
  auto session = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(name, description);
  AddName(*command, *session);
  command->callback([name, session, exit_code] { *exit_code = AskAboutSession(name, *session); });
}

void AddRewind(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<MoveOptions>();
  CLI::App* command =
      app.add_subcommand("rewind", "Take a session back to before one of its cells");
  AddName(*command, options->session);
  command
      ->add_option(
          "cell", options->cell,
          "One of those that cellar sessions lists after \"rewinds to before cell\"; without it, "
          "the newest of them that takes the last cell back")
      ->option_text("N");
  command->callback([options, exit_code] { *exit_code = Move(*options, {{"type", "rewind"}}); });
}

void AddBranch(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<MoveOptions>();
  CLI::App* command = app.add_subcommand("branch", "Make a new session that goes on from another");
  AddName(*command, options->session);
  command->add_option("new", options->branch, "Name of the new one")
      ->required()
      ->check([](const std::string& given) {
        const std::string problem = ProblemOfName(given);
        return problem.empty() ? "" : "the name " + problem;
      })
      ->option_text("NEW");
  command
      ->add_option("cell", options->cell,
                   "Go on from before that cell, one that cellar sessions lists after \"rewinds "
                   "to before cell\"; without it, from now")
      ->option_text("N");
  command->callback([options, exit_code] {
    *exit_code = Move(*options, {{"type", "branch"}, {"new_session", options->branch}});
  });
}

}  // namespace

void AddSessionCommands(CLI::App& app, int* exit_code) {
  auto json = std::make_shared<bool>(false);
  CLI::App* sessions = app.add_subcommand("sessions", "List the sessions of cellar eval -s");
  sessions->add_flag("--json", *json, "Print the structured list instead of text");
  sessions->callback([json, exit_code] { *exit_code = ListSessions(*json); });

  AddSessionCommand(
      app, "reset",
      "Give a session a fresh namespace, once the calls on it that run or wait are over; where "
      "several have that name, the one that was used last",
      exit_code);
  AddSessionCommand(app, "interrupt", "Interrupt the cell that runs on a session", exit_code);
  AddSessionCommand(app, "close",
                    "End a session, and what its cells have started; all that have that name, in "
                    "whatever directory",
                    exit_code);
  AddRewind(app, exit_code);
  AddBranch(app, exit_code);
}

}  // namespace cellar::host
