// Random output, for a sanitiser and what stands on it.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace cellar::host {

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
