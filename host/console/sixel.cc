#include "host/console/sixel.h"

#include <algorithm>
#include <vector>

namespace cellar::host {
namespace {

// A character stands for a column of so many pixels.
constexpr size_t kBandRows = 6;

// Colours are given in percent.
int Percent(uint8_t channel) { return (channel * 100 + 127) / 255; }

void AppendRun(char sixel, size_t count, std::string* text) {
  constexpr size_t kWorthCounting = 3;
  if (count > kWorthCounting) {
    *text += '!' + std::to_string(count) + sixel;
  } else {
    text->append(count, sixel);
  }
}

// The pixels of one colour in a band, as bits of its columns.
class Layer {
 public:
  explicit Layer(size_t width) : columns_(width) {}

  bool empty() const { return is_empty_; }

  void Set(size_t column, size_t row) {
    columns_[column] |= static_cast<unsigned char>(1u << row);
    is_empty_ = false;
  }

  void AppendAndClear(std::string* text) {
    size_t end = columns_.size();
    while (end > 0 && columns_[end - 1] == 0) --end;
    for (size_t at = 0; at < end;) {
      const auto first = columns_.begin() + static_cast<ptrdiff_t>(at);
      const auto run = std::find_if(first, columns_.begin() + static_cast<ptrdiff_t>(end),
                                    [bits = *first](unsigned char other) { return other != bits; });
      AppendRun(static_cast<char>('?' + *first), static_cast<size_t>(run - first), text);
      at += static_cast<size_t>(run - first);
    }
    std::ranges::fill(columns_, 0);
    is_empty_ = true;
  }

 private:
  std::vector<unsigned char> columns_;
  bool is_empty_ = true;
};

}  // namespace

std::string Sixel(const IndexedRaster& raster) {
  // "0;1": what is not drawn stays as it is. Then the shape of a pixel, and the size.
  std::string text =
      "\x1bP0;1q\"1;1;" + std::to_string(raster.width) + ";" + std::to_string(raster.height);
  for (size_t i = 0; i < raster.palette.size(); ++i) {
    const Pixel& colour = raster.palette[i];
    text += "#" + std::to_string(i) + ";2;" + std::to_string(Percent(colour.red)) + ";" +
            std::to_string(Percent(colour.green)) + ";" + std::to_string(Percent(colour.blue));
  }
  std::vector<Layer> layers(raster.palette.size(), Layer(raster.width));
  for (size_t top = 0; top < raster.height; top += kBandRows) {
    const size_t rows = std::min(kBandRows, raster.height - top);
    for (size_t row = 0; row < rows; ++row) {
      for (size_t column = 0; column < raster.width; ++column) {
        const int colour = raster.pixels[(top + row) * raster.width + column];
        if (colour >= 0) layers[static_cast<size_t>(colour)].Set(column, row);
      }
    }
    for (size_t i = 0; i < layers.size(); ++i) {
      if (layers[i].empty()) continue;
      text += "#" + std::to_string(i);
      layers[i].AppendAndClear(&text);
      text += '$';  // back to the left edge
    }
    text += '-';  // to the next band
  }
  return text + "\x1b\\";
}

}  // namespace cellar::host
