#include "host/console/raster.h"

#include <png.h>
#include <zlib.h>

#include <string>

#include "gtest/gtest.h"

namespace cellar::host {
namespace {

std::string PngOf(const Raster& raster) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(raster.width);
  image.height = static_cast<png_uint_32>(raster.height);
  image.format = PNG_FORMAT_RGBA;
  std::string png(1u << 20, '\0');
  png_alloc_size_t size = png.size();
  EXPECT_NE(png_image_write_to_memory(&image, png.data(), &size, /*convert_to_8bit=*/0,
                                      raster.pixels.data(), 0, nullptr),
            0);
  png.resize(size);
  return png;
}

const Raster& Squares() {
  static const auto& squares = *new Raster{.width = 4,
                                           .height = 2,
                                           .pixels = {{10, 20, 30},
                                                      {30, 40, 50},
                                                      {0, 0, 0, 0},
                                                      {200, 100, 0},
                                                      {50, 60, 70},
                                                      {70, 80, 90},
                                                      {0, 0, 0, 0},
                                                      {200, 100, 0}}};
  return squares;
}

TEST(RasterTest, APngIsRead) {
  const std::optional<Raster> read = DecodePng(PngOf(Squares()));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->width, 4u);
  EXPECT_EQ(read->height, 2u);
  EXPECT_EQ(read->pixels, Squares().pixels);
}

TEST(RasterTest, WhatIsNoPngIsRefused) {
  EXPECT_FALSE(DecodePng(""));
  EXPECT_FALSE(DecodePng("\x89PNG\r\n\x1a\n"));
  EXPECT_FALSE(DecodePng("GIF89a, which is something else"));
  const std::string png = PngOf(Squares());
  EXPECT_FALSE(DecodePng(std::string_view(png).substr(0, png.size() / 2)));
}

TEST(RasterTest, OneThatSaysItIsHugeIsRefused) {
  std::string png = PngOf(Squares());
  // The header: its type, width and height at 12, and the checksum of all of it at 29.
  png.replace(16, 8, std::string("\0\x0f\0\0\0\x0f\0\0", 8));
  const uLong sum = crc32(0, reinterpret_cast<const Bytef*>(&png[12]), 17);
  for (size_t i = 0; i < 4; ++i) png[29 + i] = static_cast<char>(sum >> (24 - 8 * i));
  EXPECT_FALSE(DecodePng(png));
}

TEST(RasterTest, ASmallerOneHasTheMeanOfWhatIsSeen) {
  const Raster scaled = ScaledDown(Squares(), 2);
  EXPECT_EQ(scaled.width, 2u);
  EXPECT_EQ(scaled.height, 1u);
  EXPECT_EQ(scaled.pixels, (std::vector<Pixel>{{40, 50, 60, 255}, {200, 100, 0, 127}}));
  EXPECT_EQ(ScaledDown(Squares(), 4).pixels, Squares().pixels);
  EXPECT_EQ(ScaledDown(Squares(), 1).height, 1u);
}

TEST(RasterTest, APaletteHasTheColoursThatAreThere) {
  const IndexedRaster indexed = Quantised(Squares());
  EXPECT_EQ(indexed.palette.size(), 5u);
  EXPECT_EQ(indexed.pixels, (std::vector<int>{0, 1, IndexedRaster::kClear, 2,  //
                                              3, 4, IndexedRaster::kClear, 2}));
}

}  // namespace
}  // namespace cellar::host
