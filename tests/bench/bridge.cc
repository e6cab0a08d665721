#include "tests/bench/bridge.h"

#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cellar/cellar.h"
#include "tests/bench/processes.h"
#include "tests/bench/samples.h"

namespace cellar::bench {
namespace {

constexpr char kPrepare[] = R"(
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from cellar_runtime import bridge
def work(count):
    for i in range(count): bridge.host.call('echo', i)
pool = ThreadPoolExecutor(16)
def seconds(count, threads):
    start = perf_counter()
    if threads == 1: work(count)
    else: list(pool.map(work, [count // threads] * threads))
    return perf_counter() - start
seconds(16, 1), seconds(160, 16)
)";

double Evaluate(Session& session, const std::string& code) {
  absl::StatusOr<CellOutcome> outcome = session.Run(code);
  double value = 0;
  if (!outcome.ok() || !absl::SimpleAtod(outcome->result().value_or(""), &value)) {
    Fail("a cell that calls the host has failed");
  }
  return value;
}

}  // namespace

void MeasureBridge(ProcessPingPong& limit, const BridgeCounts& counts) {
  ToolSet tools;
  tools.Add({.name = "echo"},
            [](const BridgeCall& call, const BridgeReply& reply) { reply({.value = call.args}); });
  absl::StatusOr<std::unique_ptr<Host>> host =
      Host::Start({.artifacts_directory = "artifacts", .bridge = &tools});
  if (!host.ok()) Fail(host.status().ToString());
  absl::StatusOr<std::unique_ptr<Session>> session = (*host)->Open();
  if (!session.ok() || !(*session)->Run(kPrepare).ok()) Fail("a session could not be opened");
  Samples one;
  Samples sixteen;
  Samples bare;
  const int count = counts.calls_per_round;
  for (int round = 0; round < counts.rounds; ++round) {
    one.Add(count / Evaluate(**session, absl::StrCat("seconds(", count, ", 1)")));
    sixteen.Add(count / Evaluate(**session, absl::StrCat("seconds(", count, ", 16)")));
    bare.Add(count / SecondsOf([&] {
               for (int i = 0; i < count; ++i) limit.RoundTrip();
             }));
  }
  PrintValue("bridge_rate", one.Quantile(0.5), "calls/s");
  PrintValue("bridge_rate_threads", sixteen.Quantile(0.5), "calls/s");
  PrintValue("bridge_rate_limit", bare.Quantile(0.5), "calls/s");
}

}  // namespace cellar::bench
