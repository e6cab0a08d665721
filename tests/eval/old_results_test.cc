#include "host/eval/old_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cellar::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

CallResult ResultOf(size_t bytes) {
  return {.background = {{.type = CellOutput::Type::kStdout, .text = std::string(bytes, 'x')}}};
}

TEST(OldResultsTest, ForgetsThoseThatEndedFirstWhenTheyAreTooLargeTogether) {
  OldResults results;
  EXPECT_THAT(results.Keep(2, ResultOf(size_t{30} << 20), false), IsEmpty());
  EXPECT_THAT(results.Keep(1, ResultOf(size_t{30} << 20), false), IsEmpty());
  EXPECT_THAT(results.Keep(3, ResultOf(size_t{30} << 20), false), ElementsAre(2));
  EXPECT_FALSE(results.Contains(2));
  EXPECT_TRUE(results.Contains(1));
}

TEST(OldResultsTest, KeepsTheLastOneWhateverItsSize) {
  OldResults results;
  EXPECT_THAT(results.Keep(1, ResultOf(1), false), IsEmpty());
  EXPECT_THAT(results.Keep(2, ResultOf(size_t{65} << 20), false), ElementsAre(1));
  EXPECT_TRUE(results.Contains(2));
}

TEST(OldResultsTest, KnowsWhichNobodyHasAskedFor) {
  OldResults results;
  results.Keep(1, absl::UnavailableError("no worker"), /*is_asked_for=*/true);
  EXPECT_FALSE(results.HasUnasked(absl::Hours(1)));
  results.Keep(2, CallResult{}, /*is_asked_for=*/false);
  EXPECT_NE(results.Find(2), nullptr);
  EXPECT_TRUE(results.HasUnasked(absl::Hours(1)));
  EXPECT_FALSE(results.HasUnasked(absl::ZeroDuration()));
  EXPECT_NE(results.Ask(2), nullptr);
  EXPECT_FALSE(results.HasUnasked(absl::Hours(1)));
  EXPECT_EQ(results.Ask(3), nullptr);
}

}  // namespace
}  // namespace cellar::host
