// A fuzz target without libFuzzer: runs the seeds, every beginning of a seed, and then for some
// seconds inputs made of them at random. What fails aborts; the input is then in a file that is
// named last.
//
//   TARGET SEEDS_DIR SECONDS
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr size_t kMaxBytes = 64u << 10;

std::string current;  // the input under way

void SaveInput(int signal) {
  const std::string path = (std::filesystem::temp_directory_path() / "cellar-fuzz-input").string();
  std::ofstream(path, std::ios::binary) << current;
  std::fprintf(stderr, "fuzz: the input is in %s\n", path.c_str());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void Run(std::string input) {
  current = std::move(input);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(current.data()), current.size());
}

std::vector<std::string> ReadSeeds(const char* directory) {
  std::vector<std::string> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::ifstream file(entry.path(), std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return seeds;
}

class Mutations {
 public:
  Mutations(std::vector<std::string> seeds, unsigned seed)
      : seeds_(std::move(seeds)), random_(seed) {}

  std::string Next() {
    std::string input = seeds_[Below(seeds_.size())];
    for (size_t i = Below(8) + 1; i > 0; --i) Change(input);
    input.resize(std::min(input.size(), kMaxBytes));
    return input;
  }

 private:
  size_t Below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }

  void Change(std::string& input) {
    const size_t at = Below(input.size() + 1);
    const size_t size = Below(input.size() - at + 1);
    switch (Below(5)) {
      case 0:
        if (at < input.size()) input[at] = static_cast<char>(Below(256));
        return;
      case 1:
        input.erase(at, size);
        return;
      case 2:
        input.insert(at, input.substr(at, size));
        return;
      case 3:
        input.insert(at, 1, static_cast<char>(Below(256)));
        return;
      case 4: {
        const std::string& other = seeds_[Below(seeds_.size())];
        input = input.substr(0, at) + other.substr(Below(other.size() + 1));
        return;
      }
    }
  }

  std::vector<std::string> seeds_;
  std::mt19937 random_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::signal(SIGABRT, SaveInput);
  std::signal(SIGSEGV, SaveInput);
  const std::vector<std::string> seeds = ReadSeeds(argv[1]);
  if (seeds.empty()) {
    std::fprintf(stderr, "fuzz: no seeds in %s\n", argv[1]);
    return 1;
  }
  for (const std::string& seed : seeds) {
    for (size_t size = 0; size <= seed.size(); ++size) Run(seed.substr(0, size));
  }
  const char* given = std::getenv("CELLAR_FAULT_SEED");
  const unsigned seed = given != nullptr ? std::strtoul(given, nullptr, 10) : std::random_device()();
  std::fprintf(stderr, "CELLAR_FAULT_SEED=%u\n", seed);
  Mutations mutations(seeds, seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[2]));
  size_t count = 0;
  for (; std::chrono::steady_clock::now() < end; ++count) Run(mutations.Next());
  std::fprintf(stderr, "fuzz: %zu seeds, %zu inputs made of them\n", seeds.size(), count);
  return 0;
}
