// A picture in memory: read from a PNG file, made smaller, and given a palette. Bounded whatever
// the file says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace cellar::host {

struct Pixel {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
  uint8_t alpha = 255;
  bool operator==(const Pixel&) const = default;
};

struct Raster {
  size_t width = 0;
  size_t height = 0;
  std::vector<Pixel> pixels;  // row by row
};

// Nothing for what is no PNG, or too large to be held.
std::optional<Raster> DecodePng(std::string_view data);

// The same picture, at most so wide.
Raster ScaledDown(Raster raster, size_t max_width);

struct IndexedRaster {
  static constexpr size_t kMaxColours = 256;
  static constexpr int kClear = -1;  // shows what is behind the picture

  size_t width = 0;
  size_t height = 0;
  std::vector<Pixel> palette;
  std::vector<int> pixels;  // indices of the palette, or kClear
};

// A picture of few colours keeps them. For others the palette is chosen by median cut (Heckbert,
// 1982), and what it lacks is spread over the neighbours (Floyd and Steinberg, 1976).
IndexedRaster Quantised(const Raster& raster);

}  // namespace cellar::host
