// The reader of cells/ takes what its README allows, and nothing else.
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hostile/hostile_cell.h"
#include "tests/testing/scratch_directory.h"

namespace cellar::host {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<std::vector<HostileCell>> Read(std::string_view text) {
  ScratchDirectory directory;
  std::ofstream(directory / "some.py") << text;
  std::ofstream(directory / "README.md") << "not cells";
  return ReadCellFiles(directory.path());
}

TEST(CellFilesTest, ReadsEveryField) {
  const auto cells = Read(R"(# What they have in common.

# %% Plain | completes
first

third

# %% Full | any ending | says "a\n\"|\"" | time-out 300 ms | kill -9 after 20 ms | forgets names | ends keeper
pass
# %% Long | dies | repeats "x\n" 3 times
ax
x
)");
  ASSERT_TRUE(cells.ok()) << cells.status();
  ASSERT_EQ(cells->size(), 3);
  const HostileCell &plain = cells->at(0), &full = cells->at(1), &long_one = cells->at(2);
  EXPECT_EQ(plain.name, "Plain");
  EXPECT_EQ(plain.code, "first\n\nthird");
  EXPECT_EQ(plain.ending, Ending::kCompletes);
  EXPECT_EQ(plain.told, "");
  EXPECT_EQ(plain.timeout, absl::Seconds(10));
  EXPECT_EQ(plain.killed_after, std::nullopt);
  EXPECT_FALSE(plain.forgets_names || plain.ends_keeper);
  EXPECT_EQ(full.ending, std::nullopt);
  EXPECT_EQ(full.told, "a\n\"|\"");
  EXPECT_EQ(full.timeout, absl::Milliseconds(300));
  EXPECT_EQ(full.killed_after, absl::Milliseconds(20));
  EXPECT_TRUE(full.forgets_names && full.ends_keeper);
  EXPECT_EQ(long_one.ending, Ending::kDies);
  EXPECT_EQ(long_one.code, "ax\nx\nx\nx");
}

TEST(CellFilesTest, AHeaderThatDoesNotParseIsAnError) {
  for (const char* header :
       {"# %%", "# %% Name", "# %% Name | explodes", "# %% Two words | dies",
        "# %% Name | dies | says text", "# %% Name | dies | says \"\\q\"",
        "# %% Name | dies | time-out 3 s", "# %% Name | dies | forgets names | forgets names",
        "# %% Name | dies | time-out 3 ms | says \"late\"", "# %% Name | dies "}) {
    EXPECT_EQ(Read(std::string(header) + "\ncode\n").status().code(),
              absl::StatusCode::kInvalidArgument)
        << header;
  }
}

TEST(CellFilesTest, CodeThatIsMissingIsAnError) {
  EXPECT_THAT(Read("code\n# %% Name | dies\ncode").status().ToString(),
              HasSubstr("before the first header"));
  EXPECT_THAT(Read("# %% Name | dies\n\n").status().ToString(), HasSubstr("no code"));
  EXPECT_THAT(Read("# %% Name | dies | repeats \"x\" 2 times\ny").status().ToString(),
              HasSubstr("nothing to repeat"));
}

TEST(CellFilesTest, TwoCellsOfOneNameAreAnError) {
  EXPECT_THAT(Read("# %% Name | dies\n1\n# %% Name | fails\n2").status().ToString(),
              HasSubstr("two cells are called Name"));
}

TEST(CellFilesTest, ADirectoryThatIsNotThereIsAnError) {
  EXPECT_FALSE(ReadCellFiles("/nowhere").ok());
}

}  // namespace
}  // namespace cellar::host
