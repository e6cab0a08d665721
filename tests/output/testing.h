// What the tests of host/output share: a directory that goes away, random input, a strict check of
// text.
#pragma once

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace cellar::host {

class TempDirectory {
 public:
  TempDirectory() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "cellar-output-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::vector<std::string> FilesIn(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Decodes by value, unlike the sanitiser, which goes by the table of allowed bytes.
inline bool IsValidUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const size_t size = lead < 0x80       ? 1
                        : lead >> 5 == 6  ? 2
                        : lead >> 4 == 14 ? 3
                        : lead >> 3 == 30 ? 4
                                          : 0;
    if (size == 0 || at + size > text.size()) return false;
    uint32_t value = size == 1 ? lead : lead & (0x7F >> size);
    for (size_t i = 1; i < size; ++i) {
      const auto next = static_cast<unsigned char>(text[at + i]);
      if (next >> 6 != 2) return false;
      value = value << 6 | (next & 0x3F);
    }
    constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < kLeast[size] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
      return false;
    at += size;
  }
  return true;
}

// Bytes in which what matters to a sanitiser is frequent.
inline std::string RandomOutput(std::mt19937* random, size_t pieces) {
  static const std::vector<std::string> kPieces = {"a",
                                                   "plain text ",
                                                   "\n",
                                                   "\r",
                                                   "\r\n",
                                                   "\b",
                                                   "\t",
                                                   "\x1b",
                                                   "\x1b[31m",
                                                   "\x1b[",
                                                   "\x1b]0;title\x07",
                                                   "\x1b]8;;http://x\x1b\\",
                                                   "\x1bP+q",
                                                   "\x1b(B",
                                                   "\x18",
                                                   "\x07",
                                                   "é",
                                                   "漢",
                                                   "😀",
                                                   "\xc2\x9b",
                                                   "\xe2\x80\xae",
                                                   "\xd8\x9c",
                                                   "\xff",
                                                   "\xc3",
                                                   "\xe2\x82",
                                                   "\xf0\x9f",
                                                   "\xed\xa0\x80",
                                                   "\xc0\xaf",
                                                   "\x80",
                                                   "\x7f",
                                                   "\\",
                                                   "[",
                                                   "m",
                                                   ";",
                                                   std::string(1, '\0'),
                                                   std::string(70, 'x')};
  std::string bytes;
  for (size_t i = 0; i < pieces; ++i) {
    if ((*random)() % 8 == 0) {
      bytes.push_back(static_cast<char>((*random)()));
    } else {
      bytes += kPieces[(*random)() % kPieces.size()];
    }
  }
  return bytes;
}

// `bytes` cut into chunks of 0 to 19 bytes.
inline std::vector<std::string_view> RandomChunks(std::mt19937* random, std::string_view bytes) {
  std::vector<std::string_view> chunks;
  while (!bytes.empty()) {
    chunks.push_back(bytes.substr(0, (*random)() % 20));
    bytes.remove_prefix(chunks.back().size());
  }
  return chunks;
}

}  // namespace cellar::host
