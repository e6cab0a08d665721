#include "embed/host_requests.h"

#include <pybind11/stl.h>

#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "embed/bridge.h"
#include "embed/fork_guard.h"
#include "embed/reports.h"
#include "embed/snapshot.h"
#include "embed/worker.h"
#include "host/wire/bridge_messages.h"
#include "host/wire/channel_messages.h"
#include "host/wire/copy_messages.h"

namespace py = pybind11;

namespace cellar::embed {
namespace {

std::optional<CopyRequest> g_copy_request;  // received, and not yet carried out
std::vector<std::string> g_not_carried;     // into this copy, which has not said hello yet

// Cannot fail: a name that a client made up may be no UTF-8.
py::object Text(const std::string& text) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

// As (name, value or None).
py::list EntriesOf(const std::vector<wire::EnvironmentEntry>& environment) {
  py::list entries;
  for (const wire::EnvironmentEntry& entry : environment) {
    entries.append(py::make_tuple(py::bytes(entry.name), entry.value
                                                             ? py::object(py::bytes(*entry.value))
                                                             : py::object(py::none())));
  }
  return entries;
}

// Requests as (kind, fields…) for the runtime package.
py::tuple RequestOf(const wire::Execute& message) {
  return py::make_tuple("execute", message.cell, py::bytes(message.code));
}

py::tuple RequestOf(const wire::Set& message) {
  return py::make_tuple("set", message.request, Text(message.name),
                        message.kind == wire::ValueKind::kJson, py::bytes(message.data));
}

py::tuple RequestOf(const wire::Get& message) {
  return py::make_tuple("get", message.request, Text(message.name));
}

py::tuple RequestOf(const wire::Query& message) {
  return py::make_tuple("query", message.request, static_cast<int>(message.kind),
                        py::bytes(message.text), message.cursor, message.with_source);
}

py::tuple RequestOf(const wire::Setup& message) {
  py::list path;
  for (const std::string& item : message.sys_path) path.append(py::bytes(item));
  return py::make_tuple("setup", py::bytes(message.cwd), EntriesOf(message.environment), path,
                        message.memory_cap, message.open_files);
}

py::tuple RequestOf(const wire::Enter& message) {
  return py::make_tuple("enter", py::bytes(message.cwd), EntriesOf(message.environment));
}

// Nothing when it cannot be read, by a mistake of the host: one that was left out would be waited
// for, so this worker has to end.
template <typename Message>
std::optional<Message> Read(const std::string& payload) {
  std::optional<Message> message = wire::Decode<Message>(payload);
  if (!message) SendToHost(wire::Hello{.error = "was sent a message that it cannot read"});
  return message;
}

template <typename Message>
void Add(const std::string& payload, py::list& requests) {
  if (auto message = Read<Message>(payload)) requests.append(RequestOf(*message));
}

void AddCopy(Channel::Message& message, py::list& requests) {
  std::optional<wire::Copy> copy = Read<wire::Copy>(message.payload);
  if (!copy) return;
  if (message.fds.size() != wire::CopyFdCount(copy->kind)) {
    SendToHost(wire::Copied{.request = copy->request, .error = wire::kNoDescriptors});
    return;
  }
  g_copy_request = CopyRequest{.message = *copy, .fds = std::move(message.fds)};
  requests.append(py::make_tuple("copy"));
}

void AddRequest(Channel::Message& message, py::list& requests) {
  using wire::MessageType;
  switch (static_cast<MessageType>(message.type)) {
    case MessageType::kExecute:
      return Add<wire::Execute>(message.payload, requests);
    case MessageType::kSet:
      return Add<wire::Set>(message.payload, requests);
    case MessageType::kGet:
      return Add<wire::Get>(message.payload, requests);
    case MessageType::kQuery:
      return Add<wire::Query>(message.payload, requests);
    case MessageType::kSetup:
      return Add<wire::Setup>(message.payload, requests);
    case MessageType::kEnter:
      return Add<wire::Enter>(message.payload, requests);
    case MessageType::kBridgeOffer:
      if (auto offer = Read<wire::BridgeOffer>(message.payload)) ReceiveOffer(*std::move(offer));
      return;
    case MessageType::kExit:
      return requests.append(py::make_tuple("exit"));
    case MessageType::kCopy:
      return AddCopy(message, requests);
    default:
      return;
  }
}

py::list Receive() {
  py::list requests;
  // What has come is the worker's.
  if (IsForkedChild()) {
    requests.append(py::make_tuple("forked_child"));
    return requests;
  }
  for (Channel::Message& message : Worker().channel.Receive()) AddRequest(message, requests);
  return requests;
}

CopyRequest TakeCopyRequest() {
  std::optional<CopyRequest> request = std::exchange(g_copy_request, std::nullopt);
  if (!request) throw std::runtime_error("the host has not asked for a copy");
  return *std::move(request);
}

void RefuseCopy(const std::string& reason) {
  CopyRequest request = TakeCopyRequest();
  SendToHost(wire::Copied{.request = request.message.request, .error = reason});
}

// prepare_copy(function): what it returns; None when that took too long, and there is no copy to be
// made any more.
py::object PrepareCopyInWorker(const py::function& function) {
  CopyRequest request = TakeCopyRequest();
  PyObject* prepared = nullptr;
  if (!PrepareCopy(request, [&] { prepared = PyObject_CallNoArgs(function.ptr()); })) {
    PyErr_Clear();
    Py_XDECREF(prepared);
    return py::none();
  }
  g_copy_request = std::move(request);
  if (prepared == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(prepared);
}

// In a copy that is to run: whether it is to draw other random numbers, and whether the original
// had children. None in this process.
std::optional<std::pair<bool, bool>> CopyWorker(std::vector<std::string> threads,
                                                int python_threads, std::set<int> fds) {
  CopyRequest request = TakeCopyRequest();
  std::optional<Awakening> awake = MakeCopy(
      std::move(request),
      {.threads = std::move(threads), .python_threads = python_threads, .own_fds = std::move(fds)});
  if (!awake) return std::nullopt;
  g_not_carried = std::move(awake->not_carried);
  return std::pair(awake->reseed, awake->had_children);
}

}  // namespace

void DefineHostRequests(py::module_& module) {
  module.def("receive", &Receive);
  module.def("send_hello", [](const std::string& error) {
    SendToHost(wire::Hello{.error = error, .not_carried = std::exchange(g_not_carried, {})});
  });
  module.def("prepare_copy", &PrepareCopyInWorker);
  module.def("copy", &CopyWorker);
  module.def("refuse_copy", &RefuseCopy);
}

}  // namespace cellar::embed
