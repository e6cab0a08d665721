#include "notebook/content_hash.h"

#include <gtest/gtest.h>

#include <set>

namespace cellar::notebook {
namespace {

TEST(ContentHashTest, IsTheSameForever) {
  EXPECT_EQ(ContentHash(""), "517b25f08f7793f4");
  EXPECT_EQ(ContentHash("cellar notebook"), "a190d4bb9e925e51");
}

TEST(ContentHashTest, DiffersForSmallChanges) {
  std::set<std::string> hashes;
  std::string content(100, '\0');
  for (char& c : content) {
    hashes.insert(ContentHash(content));
    c = 1;
    hashes.insert(ContentHash(content));
    c = 0;
  }
  for (size_t size = 0; size < 100; ++size) hashes.insert(ContentHash(content.substr(0, size)));
  EXPECT_EQ(hashes.size(), 201u);
}

}  // namespace
}  // namespace cellar::notebook
