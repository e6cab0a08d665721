// Damaged notebooks and texts, made from a fixed seed: whatever comes in, nothing crashes, and what
// is accepted can be edited. The libFuzzer target in tests/fuzz looks for more.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/testing/try_everything.h"

namespace cellar::notebook {
namespace {

constexpr int kRounds = 5000;

constexpr char kSeed[] =
    "{\"cells\": [{\"cell_type\": \"code\", \"id\": \"a\", \"metadata\": {\"x\": [1, -2.5e3, "
    "NaN]}, "
    "\"execution_count\": 1, \"outputs\": [{\"output_type\": \"stream\", \"text\": [\"o\\n\"]}], "
    "\"source\": [\"a\\n\", \"\\u00e9\\ud83d\\ude00\"]},\n {\"cell_type\": \"markdown\", "
    "\"source\": \"# %% [code]\"}],"
    "\n \"nbformat\": 4, \"nbformat_minor\": 5, \"worksheets\": [{\"cells\": []}]}\n";

TEST(RandomBytesTest, PrefixesDoNotCrash) {
  const std::string seed = kSeed;
  for (size_t size = 0; size <= seed.size(); ++size) TryEverything(seed.substr(0, size));
}

TEST(RandomBytesTest, MutationsDoNotCrash) {
  std::mt19937 random(20240229);
  const std::string alphabet = "{}[]\",:\\un0159eE+-.# %\n\r\t \x01\xff\xc3";
  for (int round = 0; round < kRounds; ++round) {
    std::string bytes = kSeed;
    for (int change = random() % 4; change >= 0; --change) {
      const size_t at = random() % bytes.size();
      switch (random() % 3) {
        case 0:
          bytes[at] = alphabet[random() % alphabet.size()];
          break;
        case 1:
          bytes.erase(at, random() % 20);
          break;
        default:
          bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 30));
      }
      if (bytes.empty()) bytes = "{";
    }
    TryEverything(bytes);
  }
}

}  // namespace
}  // namespace cellar::notebook
