// The fuzz target over a fixed corpus: every kind of frame, cut, doubled and with bytes changed by
// a fixed seed.
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "host/wire/channel_messages.h"
#include "tests/testing/decoder_target.h"

namespace cellar {
namespace {

std::vector<std::string> Seeds() {
  using namespace wire;
  Position position = {.ring = 10, .out = 20, .err = 30};
  return {
      MessageFrame(Hello{}),
      MessageFrame(Display{.cell = 1,
                           .position = position,
                           .data = {{"text/plain", MimeKind::kText, "x"},
                                    {"application/json", MimeKind::kJson, "{}"}},
                           .display_id = "d"}),
      MessageFrame(Error{.cell = 1, .position = position, .ename = "E", .exit_code = 3}),
      MessageFrame(Done{.cell = 1, .position = position}),
      MessageFrame(Notice{.cell = 1, .text = "n"}),
      MessageFrame(Value{.request = 1, .kind = ValueKind::kJson, .data = "1"}),
  };
}

void Try(const std::string& bytes) {
  DecodeAnything(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

TEST(DecoderCorpusTest, SurvivesEveryCutOfEveryKindOfFrame) {
  for (const std::string& seed : Seeds()) {
    for (size_t size = 0; size <= seed.size(); ++size) Try("\x03" + seed.substr(0, size));
  }
}

TEST(DecoderCorpusTest, SurvivesDamagedFrames) {
  std::mt19937 random(3);
  std::vector<std::string> seeds = Seeds();
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(1, static_cast<char>(random()));
    for (unsigned i = 0; i <= random() % 4; ++i) bytes += seeds[random() % seeds.size()];
    for (unsigned i = 0; i <= random() % 6; ++i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    Try(bytes);
  }
}

}  // namespace
}  // namespace cellar
