#include "host/cli/own_eval.h"

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/cli/refused_eval.h"
#include "host/console/call_desk.h"
#include "host/console/call_printer.h"
#include "host/console/complain.h"
#include "host/console/exit_codes.h"
#include "host/console/standard_output.h"
#include "host/console/terminal.h"
#include "host/eval/result_json.h"

namespace cellar::host {
namespace {

// One call in a host of its own.
class Evaluation {
 public:
  Evaluation(std::unique_ptr<Console> console, const LaunchQuery& query, Call call, bool json)
      : console_(std::move(console)),
        printer_([this](int error) { OnOutputLost(error); }, {.loop = &console_->loop(),
                                                              .images = &console_->artifacts(),
                                                              .foreground = &console_->foreground(),
                                                              .on_room = [this] { OnRoom(); }}),
        json_(json),
        call_(std::move(call)),
        desk_(*console_, query) {
    if (!call_.session.empty() && call_.mode == CallMode::kSession) {
      desk_.registry().ExpectState(
          call_.session,
          absl::StrCat("the session ends with this command; with -s ", call_.session, " it lasts"));
    }
    // The launch is for its directory, and nobody else can reach its session.
    call_.cwd.clear();
    call_.mode = CallMode::kSession;
  }

  int Run() {
    const absl::Status watched =
        console_->WatchSignals([this] { OnInterrupt(); }, [this] { printer_.OnResize(); });
    if (!watched.ok()) {
      return ComplainOf(watched);
    }
    printer_.Plan(call_.cells);
    session_ = call_.session;
    id_ = desk_.service().Submit(std::move(call_), json_ ? nullptr : &printer_,
                                 [this](absl::StatusOr<CallResult> result) {
                                   OnDone(std::move(result), desk_.registry().Find(session_));
                                 });
    if (const int signalled = desk_.Run(); signalled != 0) return signalled;
    is_over_ = true;
    if (json_ && result_) PrintJson();
    if (const int signalled = WaitForReader(); signalled != 0) return signalled;
    return exit_code_;
  }

 private:
  // The exit code if a signal has come first, or 0.
  int WaitForReader() {
    if (printer_.IsWritten()) return 0;
    if (interrupted_) console_->loop().After(kReaderGrace, [this] { console_->loop().Stop(); });
    return desk_.Run();
  }

  void OnRoom() {
    if (is_over_ && printer_.IsWritten()) return console_->loop().Stop();
    Session* session = desk_.registry().Find(session_);
    if (session != nullptr) session->GoOn();
  }

  // The first Ctrl-C interrupts the cell, the second ends the program.
  void OnInterrupt() {
    exit_code_ = kExitInterrupted;
    if (is_over_) return console_->loop().Stop();
    if (std::exchange(interrupted_, true)) {
      if (!json_) printer_.EndLine();
      Complain("left: the cell that was running is killed, and its session is gone");
      return console_->loop().Stop();
    }
    desk_.service().Cancel(id_);
  }

  void OnOutputLost(int error) {
    interrupted_ = true;
    exit_code_ = ComplainOfLostOutput(error);
    console_->loop().Stop();
  }

  void OnDone(absl::StatusOr<CallResult> result, Session* session) {
    if (result.ok()) {
      if (!interrupted_) {
        exit_code_ = result->status == CallStatus::kOk ? kExitFine : kExitFailed;
      }
      result_ = *std::move(result);
      if (!json_) {
        std::vector<CellRunStatus> cells;
        for (const CellResult& cell : result_->cells) cells.push_back(cell.status);
        printer_.NoteNotRun(cells);
      }
    } else {
      exit_code_ = ComplainOf(result.status());
      result_ = CallResult{.status = CallStatus::kError,
                           .session_id = session_,
                           .refusal = std::string(result.status().message())};
    }
    if (session == nullptr) return desk_.Finish();
    // What exit handlers print comes after the last cell.
    if (!json_) session->ObserveBackground(&printer_);
    session->Close([this, session] {
      last_words_ = session->TakeBackground();
      desk_.Finish();
    });
  }

  void PrintJson() {
    for (CellOutput& output : last_words_) result_->background.push_back(std::move(output));
    printer_.Say(ResultToJson(*result_, IsTerminal(STDOUT_FILENO)));
  }

  std::unique_ptr<Console> console_;
  CallPrinter printer_;
  bool json_;
  Call call_;
  CallDesk desk_;
  CallId id_ = 0;
  std::string session_;
  std::optional<CallResult> result_;
  std::vector<CellOutput> last_words_;
  bool interrupted_ = false;
  bool is_over_ = false;
  int exit_code_ = kExitFine;
};

}  // namespace

int RunOwnEval(Call call, LaunchQuery query, bool json) {
  if (!call.cwd.empty()) query.cwd = call.cwd;
  absl::StatusOr<Launch> launch = PrepareLaunch(query);
  if (!launch.ok()) return RefuseEval(launch.status(), call.session, json);
  absl::StatusOr<std::unique_ptr<Console>> console = Console::Create(*std::move(launch));
  if (!console.ok()) return RefuseEval(console.status(), call.session, json);
  return Evaluation(*std::move(console), query, std::move(call), json).Run();
}

}  // namespace cellar::host
