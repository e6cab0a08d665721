// A C++ program that runs Python cells: values go in and come out, output is shown while a cell
// runs, and a thread of the program interrupts a cell that runs for too long.
#include <iostream>
#include <string_view>
#include <thread>

#include "absl/synchronization/notification.h"
#include "cellar/cellar.h"

namespace {

// Called while the cell runs, by whichever thread runs the host.
class Printer : public cellar::CellObserver {
 public:
  void OnText(cellar::Stream, std::string_view text) override {
    std::cout << text << std::flush;
    if (text.ends_with('\n') && !line_.HasBeenNotified()) line_.Notify();
  }
  void WaitForLine() { line_.WaitForNotification(); }

 private:
  absl::Notification line_;
};

absl::Status RunCells(cellar::Session& session) {
  if (absl::Status status = session.Set("weights", {0.5, 1.5, 2.0}); !status.ok()) return status;
  absl::StatusOr<cellar::CellOutcome> sum = session.Run("total = sum(weights)\ntotal");
  if (!sum.ok()) return sum.status();
  std::cout << "result: " << sum->result().value_or("none") << "\n";

  // What a cell raises is no error of the program.
  absl::StatusOr<cellar::CellOutcome> failed = session.Run("weights[10]");
  if (!failed.ok()) return failed.status();
  std::cout << "raised: " << failed->error->ename << ": " << failed->error->evalue << "\n";

  Printer printer;
  std::thread impatient([&] {
    printer.WaitForLine();
    session.Interrupt();
  });
  absl::StatusOr<cellar::CellOutcome> endless =
      session.Run("print('counting')\nwhile True: total += 1", {.observer = &printer});
  impatient.join();
  if (!endless.ok()) return endless.status();
  std::cout << (endless->status == cellar::CellStatus::kCancelled ? "interrupted" : "ended")
            << "\n";

  absl::StatusOr<nlohmann::json> total = session.Get("total");
  if (!total.ok()) return total.status();
  std::cout << "state kept: " << std::boolalpha << (*total >= 4.0) << "\n";
  return absl::OkStatus();
}

}  // namespace

int main() {
  absl::StatusOr<std::unique_ptr<cellar::Host>> host = cellar::Host::Start();
  if (!host.ok()) {
    std::cerr << "embed: " << host.status() << "\n";
    return 1;
  }
  absl::StatusOr<std::unique_ptr<cellar::Session>> session = (*host)->Open();
  absl::Status status = session.ok() ? RunCells(**session) : session.status();
  if (!status.ok()) {
    std::cerr << "embed: " << status << "\n";
    return 1;
  }
  return 0;
}
