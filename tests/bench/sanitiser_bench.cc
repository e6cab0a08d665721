// How fast output goes through the sanitiser alone and through a sink.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "host/output/sanitiser.h"
#include "host/output/sink.h"

namespace cellar::host {
namespace {

constexpr size_t kBytes = 1 << 20;
constexpr size_t kChunk = 16 * 1024;

std::string Repeated(std::string_view text) {
  std::string all;
  while (all.size() < kBytes) all += text;
  return all;
}

const std::string_view kTexts[] = {
    "a plain line of output such as a program prints by the thousand\n",  // long lines
    "12345\n",                                                            // short lines
    "\x1b[32mok\x1b[0m a coloured line of a test runner\n",               // colours
    "\r 42%|████▏     | 42/100 [00:01<00:02, 30.5it/s]",                  // progress
    "中文输出的一行，全部不是 ASCII 字符\n",                              // not ASCII
};

void BM_Sanitiser(benchmark::State& state) {
  const std::string bytes = Repeated(kTexts[state.range(0)]);
  Sanitiser sanitiser;
  std::string text;
  for (auto _ : state) {
    for (size_t at = 0; at < bytes.size(); at += kChunk) {
      text.clear();
      sanitiser.Write(std::string_view(bytes).substr(at, kChunk), &text);
      benchmark::DoNotOptimize(text.data());
    }
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK(BM_Sanitiser)->DenseRange(0, 4);

// The artifact is limited to what fits before the loop, so that the disk does not count.
void BM_Sink(benchmark::State& state) {
  const std::string bytes = Repeated(kTexts[state.range(0)]);
  const std::string directory = std::filesystem::temp_directory_path() / "cellar-sanitiser-bench";
  const ArtifactStore store(directory);
  {
    SpillWriter writer;
    Sink sink(&writer, &store, {.max_artifact_bytes = 1});
    for (auto _ : state) {
      for (size_t at = 0; at < bytes.size(); at += kChunk) {
        sink.Write(Stream::kStdout, std::string_view(bytes).substr(at, kChunk));
      }
    }
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
  std::filesystem::remove_all(directory);
}
BENCHMARK(BM_Sink)->DenseRange(0, 4);

}  // namespace
}  // namespace cellar::host

BENCHMARK_MAIN();
