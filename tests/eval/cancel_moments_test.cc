// A call is cancelled at any moment, also after its end, while the next one waits or runs already.
#include "tests/testing/calls_test.h"
#include "tests/testing/moments.h"
#include "tests/testing/sanitized.h"

namespace cellar::host {
namespace {

class CancelMomentsTest : public CallsTest {};

constexpr const char* kShortCells[] = {
    "end = time.perf_counter() + 0.003\nwhile time.perf_counter() < end: pass",
    "time.sleep(0.003)",
    "await asyncio.sleep(0.003)",
    "for i in range(300): print(i)",
    "class R:\n  def __repr__(self): time.sleep(0.002); return 'r'\nR()",
};

TEST_F(CancelMomentsTest, ACancelHitsItsCallOrNone) {
  const int count = InterruptedCells();
  Moments moments;
  EXPECT_EQ(Value("a", "import asyncio, time\nx = 'kept'; x"), "'kept'");
  int hit = 0;
  int late = 0;
  for (int i = 0; i < count; ++i) {
    const absl::Time start = absl::Now();
    auto first = Submit({.session = "a", .cells = {{.code = kShortCells[i % 5]}}});
    // Long enough that what comes too late for the first cell finds this one.
    auto second = Submit({.session = "a", .cells = {{.code = "time.sleep(0.003); x"}}});
    bool is_sent = false;
    loop_->After(moments.Within(absl::Milliseconds(10)), [&] {
      is_sent = true;
      if (first->result.has_value() && !second->result.has_value()) ++late;
      service_->Cancel(first->id);
    });
    RunUntil([&] { return is_sent && first->result && second->result; });
    const absl::StatusOr<CallResult>& result = *first->result;
    ASSERT_TRUE(result.ok()) << i << result.status();
    const CellResult& cell = result->cells.front();
    ASSERT_NE(result->status, CallStatus::kError) << i << ValueOf(*result);
    ASSERT_EQ(cell.outcome.state, StateAfter::kKept) << i << cell.outcome.state_detail;
    if (result->status == CallStatus::kCancelled) ++hit;
    ASSERT_TRUE(second->result->ok()) << i << second->result->status();
    ASSERT_EQ(ValueOf(**second->result), "'kept'") << "cell " << i << " was cancelled";
    // After 1 s the host insists: then the first signal was not heard.
    ASSERT_LT(absl::Now() - start, kSlowness * absl::Milliseconds(900)) << i;
  }
  EXPECT_GT(hit, count / 10) << "the moments were not spread over the cells";
  EXPECT_GT(late, count / 10) << "the moments were not spread beyond the cells";
}

}  // namespace
}  // namespace cellar::host
