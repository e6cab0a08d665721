#include "notebook/content_hash.h"

#include <cstdint>
#include <cstring>

namespace cellar::notebook {
namespace {

// Odd numbers with well spread bits: the fractions of the golden ratio and of the square root of 3.
constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;
constexpr uint64_t kFinalMultiplier = 0xbb67ae8584caa73b;

uint64_t Mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * kMultiplier;
  return hash ^ (hash >> 32);
}

}  // namespace

std::string ContentHash(std::string_view content) {
  uint64_t hash = Mix(kMultiplier, content.size() + 1);
  size_t pos = 0;
  for (; pos + sizeof(uint64_t) <= content.size(); pos += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, content.data() + pos, sizeof(word));
    hash = Mix(hash, word);
  }
  for (; pos < content.size(); ++pos) hash = Mix(hash, static_cast<unsigned char>(content[pos]));
  hash = Mix(hash, 0) * kFinalMultiplier;
  hash ^= hash >> 29;
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(hash >> shift) & 0xf];
  return digits;
}

}  // namespace cellar::notebook
