#include "host/cli/session_commands.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/base/fds.h"
#include "host/cli/shared_eval.h"
#include "host/console/complain.h"
#include "host/console/exit_codes.h"
#include "host/console/terminal.h"
#include "host/console/text_width.h"
#include "host/eval/json_writer.h"
#include "host/output/printable.h"
#include "host/serve/dial.h"
#include "host/serve/frame_fields.h"

namespace cellar::host {
namespace {

using nlohmann::ordered_json;

// Asks the daemon, if there is one: without one there is nothing these commands could be about.
absl::StatusOr<ordered_json> AskDaemon(ordered_json request) {
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<Client> client, DialDaemon(CurrentEnvironment()));
  request["id"] = "1";
  return client->Ask(request);
}

int ExitCodeOf(const absl::Status& status) {
  Complain(status);
  return absl::IsNotFound(status) ? kExitUsage : kExitCannotRun;
}

std::string Age(int64_t seconds) {
  if (seconds < 60) return std::to_string(seconds) + " s";
  return std::to_string(seconds / 60) + " min";
}

// A session's line, in columns.
std::vector<std::string> ColumnsOf(const ordered_json& session) {
  const bool busy = session.contains("busy") && session["busy"] == true;
  std::string owners;
  for (const ordered_json& owner : session.value("owners", ordered_json::array())) {
    owners += (owners.empty() ? "  owned by " : ", ") + owner.get<std::string>();
  }
  std::string snapshots;
  for (const ordered_json& cell : session.value("snapshots", ordered_json::array())) {
    snapshots += (snapshots.empty() ? "  rewinds to " : ", ") + cell.dump();
  }
  const std::string cells = std::to_string(NumberIn(session, "cells_run"));
  return {Printable(TextIn(session, "id")),
          busy ? "busy" : "idle " + Age(NumberIn(session, "idle_s")),
          cells + (cells == "1" ? " cell" : " cells"),
          std::to_string(NumberIn(session, "memory_bytes") >> 20) + " MiB",
          Printable(TextIn(session, "cwd")),
          Printable(TextIn(session, "interpreter") + snapshots + owners)};
}

void PrintTable(const std::vector<std::vector<std::string>>& rows) {
  UseUtf8();
  std::vector<size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], static_cast<size_t>(Columns(row[i])));
    }
  }
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) {
        line.append(widths[i] - static_cast<size_t>(Columns(row[i])) + 2, ' ');
      }
    }
    std::printf("%s\n", line.c_str());
  }
}

int ListSessions(bool json) {
  absl::StatusOr<ordered_json> done = AskDaemon({{"type", "sessions"}});
  if (!done.ok() && !absl::IsNotFound(done.status())) return ExitCodeOf(done.status());
  const ordered_json sessions =
      done.ok() ? done->value("sessions", ordered_json::array()) : ordered_json::array();
  if (json) {
    JsonWriter writer(IsTerminal(STDOUT_FILENO));
    writer.Json(sessions.dump());
    WriteAll(STDOUT_FILENO, writer.Take() + "\n");
    return kExitFine;
  }
  std::vector<std::vector<std::string>> rows;
  for (const ordered_json& session : sessions) rows.push_back(ColumnsOf(session));
  PrintTable(rows);
  return kExitFine;
}

int AskAboutSession(const std::string& type, const std::string& session) {
  absl::StatusOr<ordered_json> done = AskDaemon({{"type", type}, {"session", session}});
  if (absl::IsNotFound(done.status())) {
    return ExitCodeOf(absl::NotFoundError("there is no session \"" + session + "\""));
  }
  if (!done.ok()) return ExitCodeOf(done.status());
  if (done->value("interrupted", true) == false) std::printf("no cell was running\n");
  return RefusalExitCode(*done).value_or(kExitFine);
}

int Rewind(const std::string& session, std::optional<uint32_t> cell) {
  ordered_json request = {{"type", "rewind"}, {"session", session}};
  if (cell) request["cell"] = *cell;
  absl::StatusOr<ordered_json> done = AskDaemon(std::move(request));
  if (!done.ok()) return ExitCodeOf(done.status());
  if (std::optional<int> refused = RefusalExitCode(*done)) return *refused;
  std::printf("the session stands before cell %lld\n",
              static_cast<long long>(NumberIn(*done, "before_cell")));
  return kExitFine;
}

int Branch(const std::string& session, const std::string& branch, std::optional<uint32_t> cell) {
  ordered_json request = {{"type", "branch"}, {"session", session}, {"new_session", branch}};
  if (cell) request["cell"] = *cell;
  absl::StatusOr<ordered_json> done = AskDaemon(std::move(request));
  if (!done.ok()) return ExitCodeOf(done.status());
  return RefusalExitCode(*done).value_or(kExitFine);
}

int ShowCall(ordered_json request, bool json) {
  absl::StatusOr<ordered_json> done = AskDaemon(std::move(request));
  if (!done.ok()) return ExitCodeOf(done.status());
  return ShowResult(*done, json);
}

// What became of it is for `wait` to say.
int CancelCall(const std::string& call) {
  absl::StatusOr<ordered_json> done = AskDaemon({{"type", "cancel"}, {"call", call}});
  if (!done.ok()) return ExitCodeOf(done.status());
  return RefusalExitCode(*done).value_or(kExitFine);
}

void AddSessionCommand(CLI::App& app, const std::string& name, const std::string& description,
                       int* exit_code) {
  auto session = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(name, description);
  command->add_option("session", *session, "Name of the session")->required()->option_text("NAME");
  command->callback([name, session, exit_code] { *exit_code = AskAboutSession(name, *session); });
}

}  // namespace

void AddSessionCommands(CLI::App& app, int* exit_code) {
  auto json = std::make_shared<bool>(false);
  CLI::App* sessions = app.add_subcommand("sessions", "List the sessions of cellar eval -s");
  sessions->add_flag("--json", *json, "Print the structured list instead of text");
  sessions->callback([json, exit_code] { *exit_code = ListSessions(*json); });

  AddSessionCommand(app, "reset", "Give a session a fresh namespace", exit_code);
  AddSessionCommand(app, "interrupt", "Interrupt the cell that runs on a session", exit_code);
  AddSessionCommand(app, "close", "End a session, and what its cells have started", exit_code);

  struct RewindOptions {
    std::string session;
    std::optional<uint32_t> cell;
  };
  auto rewind_options = std::make_shared<RewindOptions>();
  CLI::App* rewind = app.add_subcommand("rewind", "Take a session back to before one of its cells");
  rewind->add_option("session", rewind_options->session, "Name of the session")
      ->required()
      ->option_text("NAME");
  rewind
      ->add_option("cell", rewind_options->cell,
                   "Number of the cell, of those a snapshot is kept of; without it, the last")
      ->option_text("N");
  rewind->callback([rewind_options, exit_code] {
    *exit_code = Rewind(rewind_options->session, rewind_options->cell);
  });

  struct BranchOptions {
    std::string session;
    std::string branch;
    std::optional<uint32_t> cell;
  };
  auto branch_options = std::make_shared<BranchOptions>();
  CLI::App* branch = app.add_subcommand("branch", "Make a new session that goes on from another");
  branch->add_option("session", branch_options->session, "Name of the session")
      ->required()
      ->option_text("NAME");
  branch->add_option("new", branch_options->branch, "Name of the new one")
      ->required()
      ->option_text("NEW");
  branch
      ->add_option(
          "cell", branch_options->cell,
          "Go on from before that cell, of those a snapshot is kept of; without it, from now")
      ->option_text("N");
  branch->callback([branch_options, exit_code] {
    *exit_code = Branch(branch_options->session, branch_options->branch, branch_options->cell);
  });

  struct CallOptions {
    std::string call;
    double limit = -1;
    bool json = false;
  };
  auto options = std::make_shared<CallOptions>();
  const auto add_call_argument = [options](CLI::App* command) {
    command->add_option("call", options->call, "The handle that cellar eval --detach printed")
        ->required()
        ->option_text("CALL");
  };
  const auto add_call_options = [options, add_call_argument](CLI::App* command) {
    add_call_argument(command);
    command->add_flag("--json", options->json, "Print the structured result instead of text");
  };
  CLI::App* wait = app.add_subcommand(
      "wait", "Wait for a call of cellar eval --detach to end, and take its result");
  add_call_options(wait);
  wait->add_option("--limit", options->limit, "Seconds to wait at most; then as tail")
      ->check(CLI::Range(0.0, 86400.0))
      ->option_text("SECONDS");
  wait->callback([options, exit_code] {
    ordered_json request = {{"type", "wait"}, {"call", options->call}};
    if (options->limit >= 0) request["limit"] = options->limit;
    *exit_code = ShowCall(std::move(request), options->json);
  });
  CLI::App* tail = app.add_subcommand("tail", "Show what a call of cellar eval --detach has done");
  add_call_options(tail);
  tail->callback([options, exit_code] {
    *exit_code = ShowCall({{"type", "tail"}, {"call", options->call}}, options->json);
  });
  CLI::App* cancel =
      app.add_subcommand("cancel", "End a call of cellar eval --detach, whether it runs or waits");
  add_call_argument(cancel);
  cancel->callback([options, exit_code] { *exit_code = CancelCall(options->call); });
}

}  // namespace cellar::host
