#include "host/console/raster.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

namespace cellar::host {
namespace {

constexpr size_t kMaxPixels = 16u << 20;

constexpr bool IsClear(const Pixel& pixel) { return pixel.alpha < 128; }

// Colours as they are while errors are spread: beyond what a pixel can hold.
using Colour = std::array<int, 3>;

constexpr Colour ColourOf(const Pixel& pixel) { return {pixel.red, pixel.green, pixel.blue}; }

int Distance(const Colour& a, const Colour& b) {
  int sum = 0;
  for (size_t i = 0; i < 3; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

// Colours that differ only in the lowest bits are counted as one.
constexpr int kDroppedBits = 3;
constexpr size_t kBins = size_t{1} << (3 * (8 - kDroppedBits));

size_t BinOf(const Colour& colour) {
  size_t bin = 0;
  for (int channel : colour) {
    bin = bin << (8 - kDroppedBits) | static_cast<size_t>(channel) >> kDroppedBits;
  }
  return bin;
}

struct Bin {
  uint64_t count = 0;
  std::array<uint64_t, 3> sums = {};
  Colour colour() const {
    return {static_cast<int>(sums[0] / count), static_cast<int>(sums[1] / count),
            static_cast<int>(sums[2] / count)};
  }
};

// A part of the colours that shares one entry of the palette.
struct Box {
  std::vector<Bin>::iterator begin;
  std::vector<Bin>::iterator end;
  uint64_t count = 0;
  size_t longest = 0;  // the channel in which the colours differ most
  int length = 0;

  Box(std::vector<Bin>::iterator first, std::vector<Bin>::iterator last) : begin(first), end(last) {
    Colour low = {255, 255, 255};
    Colour high = {0, 0, 0};
    for (auto bin = begin; bin != end; ++bin) {
      count += bin->count;
      const Colour colour = bin->colour();
      for (size_t i = 0; i < 3; ++i) {
        low[i] = std::min(low[i], colour[i]);
        high[i] = std::max(high[i], colour[i]);
      }
    }
    for (size_t i = 0; i < 3; ++i) {
      if (high[i] - low[i] <= length) continue;
      longest = i;
      length = high[i] - low[i];
    }
  }

  // How much is gained by splitting it: many pixels, and far apart.
  uint64_t weight() const { return count * static_cast<uint64_t>(length); }

  // Half of the pixels on either side, and at least one bin.
  std::pair<Box, Box> Split() const {
    std::sort(begin, end, [this](const Bin& a, const Bin& b) {
      return a.colour()[longest] < b.colour()[longest];
    });
    uint64_t before = begin->count;
    auto middle = begin + 1;
    while (middle + 1 != end && before + middle->count / 2 < count / 2) before += middle++->count;
    return {Box(begin, middle), Box(middle, end)};
  }

  Pixel Mean() const {
    std::array<uint64_t, 3> sums = {};
    for (auto bin = begin; bin != end; ++bin) {
      for (size_t i = 0; i < 3; ++i) sums[i] += bin->sums[i];
    }
    return {static_cast<uint8_t>(sums[0] / count), static_cast<uint8_t>(sums[1] / count),
            static_cast<uint8_t>(sums[2] / count)};
  }
};

std::vector<Pixel> MedianCut(const Raster& raster) {
  std::vector<Bin> bins(kBins);
  for (const Pixel& pixel : raster.pixels) {
    if (IsClear(pixel)) continue;
    const Colour colour = ColourOf(pixel);
    Bin& bin = bins[BinOf(colour)];
    ++bin.count;
    for (size_t i = 0; i < 3; ++i) bin.sums[i] += static_cast<uint64_t>(colour[i]);
  }
  std::erase_if(bins, [](const Bin& bin) { return bin.count == 0; });
  std::vector<Box> boxes = {Box(bins.begin(), bins.end())};
  while (boxes.size() < IndexedRaster::kMaxColours) {
    auto heaviest = std::ranges::max_element(boxes, {}, &Box::weight);
    if (heaviest->weight() == 0) break;
    auto [left, right] = heaviest->Split();
    *heaviest = left;
    boxes.push_back(right);
  }
  std::vector<Pixel> palette;
  for (const Box& box : boxes) palette.push_back(box.Mean());
  return palette;
}

// The palette's entry that is nearest; asked for a bin once.
class Nearest {
 public:
  explicit Nearest(const std::vector<Pixel>& palette) : palette_(palette), known_(kBins, -1) {}

  int Find(const Colour& colour) {
    int& entry = known_[BinOf(colour)];
    if (entry < 0) {
      const auto nearest = std::ranges::min_element(palette_, {}, [&colour](const Pixel& pixel) {
        return Distance(colour, ColourOf(pixel));
      });
      entry = static_cast<int>(nearest - palette_.begin());
    }
    return entry;
  }

 private:
  const std::vector<Pixel>& palette_;
  std::vector<int> known_;
};

std::vector<int> Dithered(const Raster& raster, const std::vector<Pixel>& palette) {
  Nearest nearest(palette);
  std::vector<int> indices(raster.pixels.size(), IndexedRaster::kClear);
  // What was too little so far, in sixteenths; one column more on either side.
  std::vector<Colour> here(raster.width + 2);
  std::vector<Colour> below(raster.width + 2);
  for (size_t y = 0; y < raster.height; ++y) {
    for (size_t x = 0; x < raster.width; ++x) {
      const size_t at = y * raster.width + x;
      if (IsClear(raster.pixels[at])) continue;
      Colour wanted = ColourOf(raster.pixels[at]);
      for (size_t i = 0; i < 3; ++i)
        wanted[i] = std::clamp(wanted[i] + here[x + 1][i] / 16, 0, 255);
      indices[at] = nearest.Find(wanted);
      const Colour got = ColourOf(palette[static_cast<size_t>(indices[at])]);
      for (size_t i = 0; i < 3; ++i) {
        const int error = wanted[i] - got[i];
        here[x + 2][i] += error * 7;
        below[x][i] += error * 3;
        below[x + 1][i] += error * 5;
        below[x + 2][i] += error;
      }
    }
    std::swap(here, below);
    std::ranges::fill(below, Colour{});
  }
  return indices;
}

// Nothing when there are more colours than a palette has.
std::optional<IndexedRaster> WithItsOwnColours(const Raster& raster) {
  IndexedRaster indexed = {.width = raster.width, .height = raster.height};
  std::unordered_map<uint32_t, int> entries;
  for (const Pixel& pixel : raster.pixels) {
    if (IsClear(pixel)) {
      indexed.pixels.push_back(IndexedRaster::kClear);
      continue;
    }
    const uint32_t key = uint32_t{pixel.red} << 16 | uint32_t{pixel.green} << 8 | pixel.blue;
    const auto [entry, is_new] = entries.try_emplace(key, static_cast<int>(entries.size()));
    if (is_new) {
      if (entries.size() > IndexedRaster::kMaxColours) return std::nullopt;
      indexed.palette.push_back(pixel);
    }
    indexed.pixels.push_back(entry->second);
  }
  return indexed;
}

}  // namespace

std::optional<Raster> DecodePng(std::string_view data) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, data.data(), data.size()) == 0) return std::nullopt;
  Raster raster = {.width = image.width, .height = image.height};
  if (raster.width == 0 || raster.height == 0 || raster.height > kMaxPixels / raster.width) {
    png_image_free(&image);
    return std::nullopt;
  }
  raster.pixels.resize(raster.width * raster.height);
  image.format = PNG_FORMAT_RGBA;
  static_assert(sizeof(Pixel) == 4);
  if (png_image_finish_read(&image, nullptr, raster.pixels.data(), 0, nullptr) == 0) {
    return std::nullopt;
  }
  return raster;
}

// Each pixel is the mean of those it stands for, which count as much as they are seen.
Raster ScaledDown(Raster raster, size_t max_width) {
  if (raster.width <= max_width || max_width == 0) return raster;
  Raster scaled = {.width = max_width,
                   .height = std::max<size_t>(1, raster.height * max_width / raster.width)};
  scaled.pixels.reserve(scaled.width * scaled.height);
  for (size_t y = 0; y < scaled.height; ++y) {
    const size_t top = y * raster.height / scaled.height;
    const size_t bottom = std::max(top + 1, (y + 1) * raster.height / scaled.height);
    for (size_t x = 0; x < scaled.width; ++x) {
      const size_t left = x * raster.width / scaled.width;
      const size_t right = (x + 1) * raster.width / scaled.width;
      std::array<uint64_t, 3> sums = {};
      uint64_t alpha = 0;
      for (size_t row = top; row < bottom; ++row) {
        for (size_t column = left; column < right; ++column) {
          const Pixel& pixel = raster.pixels[row * raster.width + column];
          alpha += pixel.alpha;
          const Colour colour = ColourOf(pixel);
          for (size_t i = 0; i < 3; ++i) sums[i] += static_cast<uint64_t>(colour[i]) * pixel.alpha;
        }
      }
      const uint64_t count = (bottom - top) * (right - left);
      const uint64_t seen = std::max<uint64_t>(1, alpha);
      scaled.pixels.push_back(
          {static_cast<uint8_t>(sums[0] / seen), static_cast<uint8_t>(sums[1] / seen),
           static_cast<uint8_t>(sums[2] / seen), static_cast<uint8_t>(alpha / count)});
    }
  }
  return scaled;
}

IndexedRaster Quantised(const Raster& raster) {
  if (auto indexed = WithItsOwnColours(raster)) return *std::move(indexed);
  IndexedRaster indexed = {
      .width = raster.width, .height = raster.height, .palette = MedianCut(raster)};
  indexed.pixels = Dithered(raster, indexed.palette);
  return indexed;
}

}  // namespace cellar::host
