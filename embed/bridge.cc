#include "embed/bridge.h"

#include <array>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "embed/fork_guard.h"
#include "embed/interrupts.h"
#include "embed/line.h"
#include "embed/streams.h"
#include "embed/worker.h"

namespace py = pybind11;

namespace cellar::embed {
namespace {

// Well below a frame's limit.
constexpr size_t kMaxArguments = 64u << 20;

// Both under the GIL.
std::set<Line*> g_lines;  // all of this process
std::array<wire::BridgeOffer, wire::kOfferKinds> g_offers;

[[noreturn]] void Raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw py::error_already_set();
}

void Check(const absl::Status& status) {
  if (!status.ok()) Raise(PyExc_ConnectionError, std::string(status.message()));
}

py::tuple ToTuple(const wire::BridgeAnswer& answer) {
  py::list images;
  for (const wire::BridgeImage& image : answer.images) {
    images.append(py::make_tuple(image.mime, py::bytes(image.data)));
  }
  return py::make_tuple(answer.call, static_cast<int>(answer.kind), py::bytes(answer.data), images);
}

// A line as an object; the thread's or loop's that made it. Its calls are numbered by the caller.
class BridgeLine {
 public:
  explicit BridgeLine(bool of_main_thread) {
    CheckNotForked();
    absl::StatusOr<std::unique_ptr<Line>> line = absl::UnknownError("");
    {
      py::gil_scoped_release released;
      line = Line::Open(Worker().channel, of_main_thread);
    }
    Check(line.status());
    line_ = *std::move(line);
    g_lines.insert(line_.get());
  }
  ~BridgeLine() { g_lines.erase(line_.get()); }
  BridgeLine(const BridgeLine&) = delete;

  void Start(uint64_t call, const std::string& name, const py::bytes& args) {
    CheckNotForked();
    wire::BridgeCall message = {
        .call = call, .cell = CurrentCell(), .name = name, .args = std::string(args)};
    if (name.size() + message.args.size() > kMaxArguments) {
      Raise(PyExc_ValueError,
            absl::StrCat("the arguments for ", name.substr(0, 100), " are ", message.args.size(),
                         " bytes of JSON, more than ", kMaxArguments));
    }
    absl::Status status;
    {
      py::gil_scoped_release released;
      status = line_->Start(message);
    }
    Check(status);
  }

  // Blocks until the call has its answer, (call, kind, data, images), or a cell is to be run
  // meanwhile, (cell, code). KeyboardInterrupt when the host has cancelled the call.
  py::object Wait(uint64_t call) {
    while (true) {
      if (auto answer = line_->TakeAnswer(call)) {
        if (answer->kind == wire::AnswerKind::kCancelled) RaiseCancelled();
        return ToTuple(*answer);
      }
      if (auto nested = line_->TakeNested(call)) {
        return py::make_tuple(nested->cell, py::bytes(nested->code));
      }
      if (Receive(Line::Wait::kUntilReadable) == Line::Received::kSignal &&
          PyErr_CheckSignals() != 0) {
        throw py::error_already_set();
      }
    }
  }

  // The answer of one call if it has come, else None. Those of others stay.
  py::object Answer(uint64_t call) {
    (void)Receive(Line::Wait::kNo);
    std::optional<wire::BridgeAnswer> answer = line_->TakeAnswer(call);
    if (!answer) return py::none();
    return ToTuple(*answer);
  }

  // The answers that have come, without waiting.
  py::list Answers() {
    (void)Receive(Line::Wait::kNo);
    py::list answers;
    for (const wire::BridgeAnswer& answer : line_->TakeAnswers()) answers.append(ToTuple(answer));
    return answers;
  }

  void Withdraw(uint64_t call) {
    if (!IsForkedChild()) line_->Withdraw(call);
  }

  bool IsOpen() const { return line_->IsOpen(); }
  int fd() const { return line_->fd(); }

 private:
  static void CheckNotForked() {
    if (IsForkedChild()) {
      Raise(PyExc_RuntimeError,
            "a process forked by a cell cannot call the host; return a value to the cell, and call "
            "there");
    }
  }

  Line::Received Receive(Line::Wait wait) {
    absl::StatusOr<Line::Received> received = absl::UnknownError("");
    {
      py::gil_scoped_release released;
      received = line_->Receive(wait);
    }
    for (wire::BridgeOffer& offer : line_->TakeOffers()) ReceiveOffer(std::move(offer));
    Check(received.status());
    return *received;
  }

  [[noreturn]] void RaiseCancelled() const {
    // The signal may have come first: then this is what it raises.
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    HearInterruptByBridge();
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw py::error_already_set();
  }

  std::unique_ptr<Line> line_;
};

}  // namespace

void DefineBridge(py::module_& module) {
  py::class_<BridgeLine>(module, "BridgeLine")
      .def(py::init<bool>())
      .def("start", &BridgeLine::Start)
      .def("wait", &BridgeLine::Wait)
      .def("answer", &BridgeLine::Answer)
      .def("answers", &BridgeLine::Answers)
      .def("withdraw", &BridgeLine::Withdraw)
      .def("is_open", &BridgeLine::IsOpen)
      .def("fileno", &BridgeLine::fd);
  // (sequence, JSON) of wire::OfferKind; the sequence is 0 when the host has offered nothing.
  module.def("bridge_offer", [](size_t kind) {
    const wire::BridgeOffer& offer = g_offers.at(kind);
    return py::make_tuple(offer.sequence, py::bytes(offer.json));
  });
  module.def("hear_interrupt", &HearInterruptByBridge);
}

void ReceiveOffer(wire::BridgeOffer offer) {
  const auto kind = static_cast<size_t>(offer.kind);
  if (kind >= g_offers.size() || offer.sequence <= g_offers[kind].sequence) return;
  g_offers[kind] = std::move(offer);
}

std::vector<int> LineFds() {
  std::vector<int> fds;
  for (const Line* line : g_lines) {
    if (line->fd() >= 0) fds.push_back(line->fd());
  }
  return fds;
}

void AbandonLines() {
  for (Line* line : g_lines) line->Abandon();
}

}  // namespace cellar::embed
