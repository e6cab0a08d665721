#include "host/base/lifeline.h"

#include <gtest/gtest.h>

#include <optional>

namespace cellar {
namespace {

TEST(LifelineTest, AWatchOutlivesTheObjectAndSaysSo) {
  std::optional<Lifeline> line(std::in_place);
  const auto alive = line->watch();
  EXPECT_TRUE(*alive);
  line.reset();
  EXPECT_FALSE(*alive);
}

TEST(LifelineTest, ALineThatWasCutStaysSo) {
  Lifeline line;
  const auto before = line.watch();
  line.Cut();
  EXPECT_FALSE(*before);
  EXPECT_FALSE(*line.watch());
}

}  // namespace
}  // namespace cellar
