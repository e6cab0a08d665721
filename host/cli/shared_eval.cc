#include "host/cli/shared_eval.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "host/cli/ask_daemon.h"
#include "host/cli/opening.h"
#include "host/cli/refused_eval.h"
#include "host/console/call_printer.h"
#include "host/console/complain.h"
#include "host/console/exit_codes.h"
#include "host/console/foreground.h"
#include "host/console/standard_output.h"
#include "host/console/terminal.h"
#include "host/serve/call_frames.h"
#include "host/serve/dial.h"
#include "host/serve/frame_fields.h"
#include "host/serve/link.h"
#include "host/session/launch.h"

namespace cellar::host {
namespace {

using nlohmann::ordered_json;

ordered_json RequestFor(const Call& call, const SharedEvalOptions& options) {
  ordered_json request = {{"type", "eval"}, {"session", call.session}, {"by", ThisClient("eval")}};
  if (!call.cwd.empty()) request["cwd"] = call.cwd;
  AddOpening(call.opening, request);
  if (!options.interpreter.empty()) request["interpreter"] = options.interpreter;
  if (call.mode == CallMode::kPerCall) request["mode"] = "per-call";
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
                                {"timeout", cell.given_timeout},
                                {"reset", cell.reset}});
  }
  return request;
}

// One call, from its request to its last frame.
class SharedCall {
 public:
  SharedCall(Foreground& foreground, const UniqueFd& socket, const Environment& env,
             const std::vector<CallCell>& cells)
      : foreground_(foreground),
        images_(ArtifactsDirectory(env)),
        printer_([this](int error) { Leave(ComplainOfLostOutput(error)); },
                 {.loop = &foreground.loop(),
                  .images = &images_,
                  .foreground = &foreground,
                  .on_room = [this] { OnRoom(); }}),
        link_(foreground.loop(), socket, {}) {
    printer_.Plan(cells);
  }

  // The last frame; Cancelled when a signal or the reader's end came first.
  absl::StatusOr<ordered_json> Run(ordered_json request) {
    CELLAR_RETURN_IF_ERROR(
        foreground_.WatchSignals([this] { OnInterrupt(); }, [this] { printer_.OnResize(); }));
    streams_ = request.value("stream", false);
    id_ = link_.Ask(std::move(request), [this](const ordered_json& frame) { OnFrame(frame); });
    foreground_.loop().Run();
    if (foreground_.exit_code() != 0) exit_code_ = foreground_.exit_code();
    if (!done_) return absl::CancelledError("");
    return *std::move(done_);
  }

  // How the program ends when Run was cut short, or the call interrupted; or 0.
  int exit_code() const { return exit_code_; }

  // A line on standard output, behind what the cells have printed.
  void Say(const std::string& text) { printer_.Say(text); }

  // When all is written, or a signal has come. How the program ends then; `otherwise`, unless
  // exit_code() says something else.
  int WaitForReader(int otherwise) {
    is_over_ = true;
    if (!printer_.IsWritten()) foreground_.loop().Run();
    if (foreground_.exit_code() != 0) return foreground_.exit_code();
    return exit_code_ != 0 ? exit_code_ : otherwise;
  }

 private:
  void OnFrame(const ordered_json& frame) {
    TellOf(frame, printer_);
    if (printer_.WantsPause()) link_.Pause(true);
    if (TextIn(frame, "type") != "done") return;
    if (streams_) {
      ShowSaved(frame);
      NoteNotRun(frame);
    }
    done_ = frame;
    foreground_.loop().Stop();
  }

  void OnRoom() {
    if (is_over_ && printer_.IsWritten()) return foreground_.loop().Stop();
    link_.Pause(false);
  }

  // The first Ctrl-C interrupts this call, the second leaves.
  void OnInterrupt() {
    if (is_over_) return Leave(kExitInterrupted);
    if (exit_code_ != 0) {
      if (streams_) printer_.EndLine();
      Complain(
          "left: the cell has been interrupted, and is killed if it does not end; the next result "
          "says if the state was lost");
      return Leave(exit_code_);
    }
    exit_code_ = kExitInterrupted;
    link_.Cancel(id_);
    foreground_.loop().After(kReaderGrace, [this] {
      if (!printer_.IsWritten()) Leave(exit_code_);
    });
  }

  // The daemon sees that its client is gone, and cancels the call.
  void Leave(int exit_code) {
    exit_code_ = exit_code;
    foreground_.loop().Stop();
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

  void NoteNotRun(const ordered_json& done) {
    if (TextIn(done, "status") == "running") return;
    const ordered_json result = done.value("result", ordered_json::object());
    std::vector<CellRunStatus> cells;
    for (const ordered_json& cell : result.value("cells", ordered_json::array())) {
      cells.push_back(
          CellRunStatusFromName(TextIn(cell, "status")).value_or(CellRunStatus::kComplete));
    }
    printer_.NoteNotRun(cells);
  }

  Foreground& foreground_;
  ArtifactStore images_;
  CallPrinter printer_;
  Link link_;
  std::string id_;
  bool streams_ = false;
  bool is_over_ = false;
  std::optional<ordered_json> done_;
  int exit_code_ = 0;
};

// An owner stays for as long as its client is connected, which here is until the call is over.
absl::Status CheckOwner(const Call& call) {
  if (call.owner.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "owner: this command leaves when its call is over, and the session would be closed; without "
      "an owner it stays open");
}

// Where the session is opened, if it is not open: here, and with what is activated here.
absl::Status NoteOpening(const SharedEvalOptions& options, Call& call) {
  std::error_code error;
  if (!call.cwd.empty()) {
    const std::filesystem::path cwd = std::filesystem::canonical(call.cwd, error);
    if (error) return ErrnoStatus(error.value(), call.cwd);
    call.cwd = cwd.string();
  }
  CELLAR_ASSIGN_OR_RETURN(call.opening, OpeningHere(options.env, /*interpreter=*/""));
  return absl::OkStatus();
}

}  // namespace

int RunSharedEval(const Call& call, const SharedEvalOptions& options) {
  Call opened = call;
  absl::Status status = CheckOwner(call);
  if (status.ok()) status = NoteOpening(options, opened);
  if (!status.ok()) return RefuseEval(status, call.session, options.json);
  // First, because Ctrl-C ends a client that waits for a daemon to start.
  absl::StatusOr<std::unique_ptr<Client>> client = DialOrStartDaemon(options.env);
  absl::StatusOr<std::unique_ptr<Foreground>> foreground = Foreground::Create();
  if (!client.ok() || !foreground.ok()) {
    status = client.ok() ? foreground.status() : client.status();
    return RefuseEval(status, call.session, options.json);
  }
  SharedCall shared(**foreground, (*client)->socket(), options.env, opened.cells);
  absl::StatusOr<ordered_json> done = shared.Run(RequestFor(opened, options));
  if (!done.ok()) {
    if (shared.exit_code() != 0) return shared.exit_code();
    return RefuseEval(done.status(), call.session, options.json);
  }
  if (absl::Status refusal = RefusalIn(*done); !refusal.ok()) {
    const int exit_code = ComplainOf(refusal);
    if (options.json) shared.Say(RefusedResult(call.session, std::string(refusal.message())));
    return shared.WaitForReader(exit_code);
  }
  if (TextIn(*done, "status") == "running" && !options.json) {
    const std::string handle = TextIn((*done)["result"], "handle");
    // Without --detach it stands among the output of its cells.
    shared.Say(options.detach ? handle
                              : "[the call is still running; its handle is " + handle + "]");
  } else if (options.json) {
    shared.Say(TextOfResult(*done, /*json=*/true));
  }
  return shared.WaitForReader(ExitCodeOfResult(*done));
}

}  // namespace cellar::host
