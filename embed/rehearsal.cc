#include "embed/rehearsal.h"

#include <pybind11/pybind11.h>
#include <sys/socket.h>

#include <cstdio>
#include <string>
#include <utility>

#include "embed/interpreter.h"
#include "embed/worker.h"
#include "host/base/fds.h"
#include "host/wire/channel_messages.h"

namespace py = pybind11;

namespace cellar::embed {
namespace {

// CPython adapts code to what it sees when it has been called eight times.
constexpr int kRounds = 12;
constexpr uint32_t kCell = 1;
// What nearly every session does sooner or later.
constexpr const char* kCells[] = {
    "x = 1",
    "x + 1",
    "print(x)",
    "def f(n):\n    return n\nf(x)",
    "import sys\nsys.version_info[0]",
    "display([x])",
    "1 / 0",
    "import asyncio\nawait asyncio.sleep(0)",
};

// Nobody wants the answers, but there must be room for the next.
void Drain(int host) {
  char buffer[16u << 10];
  while (recv(host, buffer, sizeof(buffer), MSG_DONTWAIT) > 0) {
  }
}

}  // namespace

void Rehearse() {
  absl::StatusOr<std::pair<UniqueFd, UniqueFd>> sockets = MakeSocketPair(SOCK_STREAM);
  if (!sockets.ok()) return;
  auto& [host, channel] = *sockets;
  Worker().channel.Adopt(std::move(channel));
  const std::string end = wire::MessageFrame(wire::Exit{});
  try {
    const py::object& runtime = Worker().runtime;
    for (int round = 0; round < kRounds; ++round) {
      for (const char* code : kCells) {
        WriteAll(host.get(), wire::MessageFrame(wire::Execute{.cell = kCell, .code = code}) + end);
        runtime.attr("rehearse")();
        Drain(host.get());
      }
    }
    runtime.attr("forget")();
  } catch (py::error_already_set& error) {
    std::fprintf(stderr, "cellar: rehearsing failed: %s\n", error.what());
  }
  Worker().output.shared().begun_cell.store(0);
  FreezeGarbageCollector(/*collect=*/true);
}

}  // namespace cellar::embed
