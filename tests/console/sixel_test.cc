#include "host/console/sixel.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <string_view>

#include "gtest/gtest.h"

namespace cellar::host {
namespace {

// A terminal that understands sixels, and nothing else.
class SixelTerminal {
 public:
  explicit SixelTerminal(std::string_view text) : text_(text) {
    Expect("\x1bP0;1q\"1;1;");
    raster_.width = Number();
    Expect(";");
    raster_.height = Number();
    raster_.pixels.resize(raster_.width * raster_.height, Pixel{.alpha = 0});
    while (!text_.empty() && text_[0] != '\x1b') Command();
    Expect("\x1b\\");
    EXPECT_EQ(text_, "");
  }

  const Raster& raster() const { return raster_; }
  size_t colours() const { return colours_.size(); }

 private:
  void Expect(std::string_view expected) {
    ASSERT_EQ(text_.substr(0, expected.size()), expected);
    text_.remove_prefix(expected.size());
  }

  size_t Number() {
    size_t number = 0;
    EXPECT_TRUE(!text_.empty() && std::isdigit(text_[0]));
    while (!text_.empty() && std::isdigit(text_[0])) {
      number = number * 10 + static_cast<size_t>(text_[0] - '0');
      text_.remove_prefix(1);
    }
    return number;
  }

  uint8_t Channel() {
    Expect(";");
    const size_t percent = Number();
    EXPECT_LE(percent, 100u);
    return static_cast<uint8_t>(std::lround(static_cast<double>(percent) * 2.55));
  }

  void Command() {
    const char command = text_[0];
    text_.remove_prefix(1);
    if (command == '#') {
      colour_ = Number();
      if (!text_.starts_with(";2")) return;
      Expect(";2");
      const uint8_t red = Channel();
      const uint8_t green = Channel();
      colours_[colour_] = {red, green, Channel()};
    } else if (command == '$') {
      x_ = 0;
    } else if (command == '-') {
      x_ = 0;
      top_ += 6;
    } else if (command == '!') {
      const size_t count = Number();
      const char sixel = text_[0];
      text_.remove_prefix(1);
      for (size_t i = 0; i < count; ++i) Draw(sixel);
    } else {
      Draw(command);
    }
  }

  void Draw(char sixel) {
    ASSERT_GE(sixel, '?');
    ASSERT_LE(sixel, '~');
    for (size_t row = 0; row < 6; ++row) {
      if (((sixel - '?') >> row & 1) == 0) continue;
      ASSERT_LT(x_, raster_.width);
      ASSERT_LT(top_ + row, raster_.height);
      ASSERT_TRUE(colours_.contains(colour_));
      Pixel& pixel = raster_.pixels[(top_ + row) * raster_.width + x_];
      EXPECT_EQ(pixel.alpha, 0) << "drawn twice";
      pixel = colours_[colour_];
    }
    ++x_;
  }

  std::string_view text_;
  Raster raster_;
  std::map<size_t, Pixel> colours_;
  size_t colour_ = 0;
  size_t x_ = 0;
  size_t top_ = 0;
};

int Difference(const Pixel& a, const Pixel& b) {
  return std::max(
      {std::abs(a.red - b.red), std::abs(a.green - b.green), std::abs(a.blue - b.blue)});
}

TEST(SixelTest, APictureOfFewColoursIsShownAsItIs) {
  const std::vector<Pixel> colours = {{255, 255, 255}, {0, 0, 0}, {31, 119, 180}, {0, 0, 0, 0}};
  Raster raster = {.width = 23, .height = 13};
  for (size_t i = 0; i < raster.width * raster.height; ++i) {
    raster.pixels.push_back(colours[i * i % 7 % colours.size()]);
  }
  const SixelTerminal terminal(Sixel(Quantised(raster)));
  EXPECT_EQ(terminal.colours(), 3u);
  ASSERT_EQ(terminal.raster().pixels.size(), raster.pixels.size());
  for (size_t i = 0; i < raster.pixels.size(); ++i) {
    EXPECT_EQ(terminal.raster().pixels[i].alpha, raster.pixels[i].alpha);
    // Percent are all the precision there is.
    EXPECT_LE(Difference(terminal.raster().pixels[i], raster.pixels[i]), 2) << i;
  }
}

TEST(SixelTest, APictureOfManyColoursLooksTheSame) {
  constexpr size_t kSide = 128;
  Raster raster = {.width = kSide, .height = kSide};
  for (size_t y = 0; y < kSide; ++y) {
    for (size_t x = 0; x < kSide; ++x) {
      raster.pixels.push_back({static_cast<uint8_t>(x * 2), static_cast<uint8_t>(y * 2),
                               static_cast<uint8_t>((x + y) / 2)});
    }
  }
  const SixelTerminal terminal(Sixel(Quantised(raster)));
  EXPECT_LE(terminal.colours(), 256u);
  EXPECT_GE(terminal.colours(), 200u);
  // From a step away, where the eye sees the mean of some pixels.
  const Raster seen = ScaledDown(terminal.raster(), kSide / 8);
  const Raster wanted = ScaledDown(raster, kSide / 8);
  ASSERT_EQ(seen.pixels.size(), wanted.pixels.size());
  for (size_t i = 0; i < seen.pixels.size(); ++i) {
    EXPECT_LE(Difference(seen.pixels[i], wanted.pixels[i]), 6) << i;
  }
}

TEST(SixelTest, ABlankLineOfOneColourIsShort) {
  Raster raster = {.width = 1000, .height = 6, .pixels = std::vector<Pixel>(6000)};
  EXPECT_EQ(Sixel(Quantised(raster)), "\x1bP0;1q\"1;1;1000;6#0;2;0;0;0#0!1000~$-\x1b\\");
}

}  // namespace
}  // namespace cellar::host
