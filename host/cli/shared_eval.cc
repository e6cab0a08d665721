#include "host/cli/shared_eval.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "host/base/fds.h"
#include "host/console/call_printer.h"
#include "host/console/complain.h"
#include "host/console/exit_codes.h"
#include "host/console/terminal.h"
#include "host/eval/json_writer.h"
#include "host/output/printable.h"
#include "host/serve/dial.h"
#include "host/session/launch.h"

namespace cellar::host {
namespace {

using nlohmann::ordered_json;

ordered_json RequestFor(const Call& call, const SharedEvalOptions& options) {
  ordered_json request = {{"id", "1"}, {"type", "eval"}, {"session", call.session}};
  if (!call.cwd.empty()) request["cwd"] = call.cwd;
  if (!call.opening_cwd.empty()) request["opening_cwd"] = call.opening_cwd;
  if (!call.opening_interpreter.empty()) request["opening_interpreter"] = call.opening_interpreter;
  if (!options.interpreter.empty()) request["interpreter"] = options.interpreter;
  if (call.mode == CallMode::kPerCall) request["mode"] = "per-call";
  if (!call.owner.empty()) request["owner"] = call.owner;
  if (call.retry) request["retry"] = *call.retry == Retry::kOnce ? "once" : "never";
  if (!call.parent.empty()) request["parent"] = call.parent;
  if (call.background_after) {
    request["background_after"] = absl::ToDoubleSeconds(*call.background_after);
  }
  if (options.detach) request["background_after"] = 0;
  for (const wire::EnvironmentEntry& entry : call.environment) {
    request["env"][entry.name] = entry.value ? ordered_json(*entry.value) : ordered_json();
  }
  request["stream"] = !options.json && !options.detach;
  for (const CallCell& cell : call.cells) {
    request["cells"].push_back({{"code", cell.code},
                                {"title", cell.title},
                                {"timeout", absl::ToDoubleSeconds(cell.timeout)},
                                {"reset", cell.reset}});
  }
  return request;
}

wire::Display DisplayOf(const ordered_json& frame) {
  wire::Display display;
  const ordered_json bundle = frame.value("data", ordered_json::object());
  for (const auto& [mime, value] : bundle.items()) {
    wire::MimeEntry entry = {.mime = mime};
    if (!value.is_string()) {
      entry.kind = wire::MimeKind::kJson;
      entry.data = value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    } else if (entry.data = value.get<std::string>();
               mime.starts_with("image/") && mime != "image/svg+xml") {
      entry.kind = wire::MimeKind::kBytes;
      std::string bytes;
      if (absl::Base64Unescape(entry.data, &bytes)) entry.data = std::move(bytes);
    }
    display.data.push_back(std::move(entry));
  }
  return display;
}

CellResult CellOf(const ordered_json& frame) {
  CellResult cell;
  cell.outcome.state_detail = TextIn(frame, "state_detail");
  for (const ordered_json& notice : frame.value("notices", ordered_json::array())) {
    if (notice.is_string()) cell.outcome.notices.push_back(notice.get<std::string>());
  }
  const auto error = frame.find("error");
  if (error == frame.end() || !error->is_object()) return cell;
  cell.outcome.error = CellError{.ename = TextIn(*error, "ename"),
                                 .evalue = TextIn(*error, "evalue"),
                                 .traceback = TextIn(*error, "traceback")};
  const std::string& ename = cell.outcome.error->ename;
  if (ename == "WorkerDied" || ename == "CellKilled") cell.outcome.death.emplace();
  return cell;
}

// One call, from its request to its last frame.
class SharedCall {
 public:
  explicit SharedCall(Client& client)
      : client_(client), printer_([this] { reader_gone_ = true; }) {}

  // The last frame; Cancelled when a signal or the reader's end came first.
  absl::StatusOr<ordered_json> Run(const ordered_json& request) {
    CELLAR_RETURN_IF_ERROR(WatchSignals());
    CELLAR_RETURN_IF_ERROR(client_.Send(request));
    while (true) {
      CELLAR_RETURN_IF_ERROR(Wait());
      CELLAR_ASSIGN_OR_RETURN(ordered_json frame, client_.Receive());
      if (TextIn(frame, "id") != "1") continue;
      const std::string type = TextIn(frame, "type");
      if (type == "done") {
        if (request["stream"]) ShowSaved(frame);
        return frame;
      }
      Show(type, frame);
      if (reader_gone_) {
        exit_code_ = 128 + SIGPIPE;
        return absl::CancelledError("");
      }
    }
  }

  // How the program ends when Run was cut short, or the call interrupted; or 0.
  int exit_code() const { return exit_code_; }

 private:
  absl::Status WatchSignals() {
    sigset_t handled;
    sigemptyset(&handled);
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&handled, signal);
    sigprocmask(SIG_BLOCK, &handled, nullptr);
    signals_ = UniqueFd(signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals_) return ErrnoStatus(errno, "creating a signalfd");
    return absl::OkStatus();
  }

  // Until there is something to read, or a signal ends the program: the daemon then sees that its
  // client is gone, and cancels the call.
  absl::Status Wait() {
    while (!client_.has_frame()) {
      pollfd watched[] = {{.fd = client_.fd(), .events = POLLIN},
                          {.fd = signals_.get(), .events = POLLIN}};
      if (poll(watched, 2, -1) < 0 && errno != EINTR) return ErrnoStatus(errno, "waiting");
      signalfd_siginfo info;
      while (read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
        CELLAR_RETURN_IF_ERROR(OnSignal(static_cast<int>(info.ssi_signo)));
      }
      if (watched[0].revents != 0) break;
    }
    return absl::OkStatus();
  }

  // The first Ctrl-C interrupts this call, the second leaves.
  absl::Status OnSignal(int signal) {
    const bool again = exit_code_ != 0;
    exit_code_ = 128 + signal;
    if (signal != SIGINT || again) return absl::CancelledError("");
    return client_.Send({{"id", "cancel"}, {"type", "cancel"}, {"call", "1"}});
  }

  void Show(const std::string& type, const ordered_json& frame) {
    if (type == "stdout" || type == "stderr") {
      printer_.OnText(type == "stdout" ? Stream::kStdout : Stream::kStderr, TextIn(frame, "text"));
    } else if (type == "display" || type == "result") {
      printer_.OnDisplay(DisplayOf(frame));
    } else if (type == "finished") {
      printer_.OnCellFinished(0, CellOf(frame));
    }
  }

  void ShowSaved(const ordered_json& done) {
    const ordered_json result = done.value("result", ordered_json::object());
    for (const ordered_json& cell : result.value("cells", ordered_json::array())) {
      for (const ordered_json& output : cell.value("outputs", ordered_json::array())) {
        const ordered_json saved = output.value("saved", ordered_json::object());
        for (const auto& [mime, data] : saved.items()) {
          printer_.NoteSaved({.mime = mime,
                              .bytes = data.value("bytes", uint64_t{0}),
                              .artifact_path = TextIn(data, "path")});
        }
      }
    }
  }

  Client& client_;
  CallPrinter printer_;
  UniqueFd signals_;
  bool reader_gone_ = false;
  int exit_code_ = 0;
};

// Where the session is opened, if it is not open: here, and with what is activated here.
absl::Status NoteOpening(const SharedEvalOptions& options, Call& call) {
  std::error_code error;
  if (!call.cwd.empty()) {
    const std::filesystem::path cwd = std::filesystem::canonical(call.cwd, error);
    if (error) return ErrnoStatus(error.value(), call.cwd);
    call.cwd = cwd.string();
  }
  call.opening_cwd = std::filesystem::current_path(error).string();
  if (error) return ErrnoStatus(error.value(), "finding the directory");
  if (EnvironmentValue(options.env, "VIRTUAL_ENV").empty() &&
      EnvironmentValue(options.env, "CONDA_PREFIX").empty()) {
    return absl::OkStatus();
  }
  CELLAR_ASSIGN_OR_RETURN(Launch launch,
                          PrepareLaunch({.env = options.env, .cwd = call.opening_cwd}));
  call.opening_interpreter = launch.interpreter.executable;
  return absl::OkStatus();
}

}  // namespace

int RunSharedEval(const Call& call, const SharedEvalOptions& options) {
  Call opened = call;
  absl::Status status = NoteOpening(options, opened);
  if (!status.ok()) {
    Complain(status);
    return kExitUsage;
  }
  absl::StatusOr<std::unique_ptr<Client>> client = DialOrStartDaemon(options.env);
  if (!client.ok()) {
    Complain(client.status());
    return kExitCannotRun;
  }
  SharedCall shared(**client);
  absl::StatusOr<ordered_json> done = shared.Run(RequestFor(opened, options));
  if (!done.ok()) {
    if (shared.exit_code() != 0) return shared.exit_code();
    Complain(done.status());
    return kExitCannotRun;
  }
  if (std::optional<int> refused = RefusalExitCode(*done)) return *refused;
  if (TextIn(*done, "status") == "running" && !options.json) {
    std::printf("%s\n", TextIn((*done)["result"], "handle").c_str());
    return kExitFine;
  }
  if (options.json) {
    const int exit_code = ShowResult(*done, /*json=*/true);
    return shared.exit_code() != 0 ? shared.exit_code() : exit_code;
  }
  if (shared.exit_code() != 0) return shared.exit_code();
  return TextIn(*done, "status") == "ok" ? kExitFine : kExitCellFailed;
}

std::optional<int> RefusalExitCode(const ordered_json& done) {
  if (TextIn(done, "status") != "refused") return std::nullopt;
  const ordered_json error = done.value("error", ordered_json::object());
  Complain(absl::UnknownError(TextIn(error, "evalue")));
  const std::string ename = TextIn(error, "ename");
  const bool could_not = ename == "CannotRun" || ename == "Cancelled";
  return could_not ? kExitCannotRun : kExitUsage;
}

int ShowResult(const ordered_json& done, bool json) {
  if (std::optional<int> refused = RefusalExitCode(done)) return *refused;
  const ordered_json result = done.value("result", ordered_json::object());
  std::string text = TextIn(result, "text");
  if (json) {
    JsonWriter writer(IsTerminal(STDOUT_FILENO));
    writer.Json(result.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
    text = writer.Take();
  }
  WriteAll(STDOUT_FILENO, text + "\n");
  const std::string status = TextIn(done, "status");
  return status == "ok" || status == "running" ? kExitFine : kExitCellFailed;
}

}  // namespace cellar::host
