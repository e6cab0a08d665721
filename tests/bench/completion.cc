#include "tests/bench/completion.h"

#include <memory>
#include <string>

#include "tests/bench/processes.h"
#include "tests/bench/samples.h"

namespace cellar::bench {
namespace {

constexpr char kPrepare[] = R"(
import pandas as pd
df = pd.DataFrame({f"column{i}": range(1000) for i in range(50)})
)";

// Names, attributes of large modules and objects, keys, keyword arguments, modules.
constexpr const char* kTexts[] = {"d",    "pd.",           "df.",       "pd.core.frame.",
                                  "df['", "pd.DataFrame(", "import pan"};

}  // namespace

void MeasureCompletion(Host& host, int rounds) {
  absl::StatusOr<std::unique_ptr<Session>> session = host.Open();
  if (!session.ok()) Fail(session.status().ToString());
  absl::StatusOr<CellOutcome> prepared = (*session)->Run(kPrepare);
  if (!prepared.ok()) Fail(prepared.status().ToString());
  if (!prepared->ok()) {
    PrintValue("completion_without_pandas", 1, "session");
    return;
  }
  Samples samples;
  for (int round = 0; round < rounds; ++round) {
    for (const char* text : kTexts) {
      samples.Add(SecondsOf([&] {
        absl::StatusOr<Completions> found = (*session)->Complete(text);
        if (!found.ok() || found->matches.empty()) Fail("nothing completes " + std::string(text));
      }));
    }
  }
  PrintSeconds("completion", samples);
}

}  // namespace cellar::bench
