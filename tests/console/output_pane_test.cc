#include "host/console/output_pane.h"

#include <unistd.h>

#include "gtest/gtest.h"
#include "host/base/fds.h"
#include "host/console/text_width.h"

namespace cellar::host {
namespace {

class OutputPaneTest : public ::testing::Test {
 protected:
  OutputPaneTest()
      : pipe_(*MakePipe()),
        pane_(pipe_.write.get(),
              {.lines = 2, .hint = "ask", .max_characters = 5, .colour = false}) {
    UseUtf8();
    pane_.Begin();
  }

  // What was written since the last time.
  std::string Written() {
    char buffer[4096];
    const ssize_t size = read(pipe_.read.get(), buffer, sizeof(buffer));
    return std::string(buffer, size > 0 ? static_cast<size_t>(size) : 0);
  }
  // The same when the pane is hidden, without what it drew and erased before.
  std::string Final() {
    Written();
    pane_.Hide();
    const std::string text = Written();
    const size_t drawn = text.rfind("\x1b[J");
    return drawn == std::string::npos ? text : text.substr(drawn + 3);
  }

  Pipe pipe_;
  OutputPane pane_;
};

TEST_F(OutputPaneTest, TheFirstLinesAppearAsTheyCome) {
  pane_.Write("a\nb");
  EXPECT_EQ(Written(), "a\nb");
  pane_.Write("c\n");
  EXPECT_EQ(Written(), "c\n");
  EXPECT_EQ(Final(), "");
}

TEST_F(OutputPaneTest, OfALongOutputTheLastLinesStay) {
  pane_.Write("1\n2\n3\n4\n5\n6\n7");
  EXPECT_EQ(Final(), "… 2 lines left out; ask\n5\n6\n7");
}

TEST_F(OutputPaneTest, NothingIsSaidWhenNothingIsLeftOut) {
  pane_.Write("1\n2\n3\n4\n5\n");
  EXPECT_EQ(Final(), "3\n4\n5\n");
}

TEST_F(OutputPaneTest, ACollapsedProgressBarIsOneLine) {
  pane_.Write("1\n2\n10 %\r20 %\r30");
  pane_.Write(" %\n");
  EXPECT_EQ(Final(), "30 %\n");
}

TEST_F(OutputPaneTest, LongLinesAreCut) {
  pane_.Write("1234567890\n日本日本日本日本\nx1234567890\n");
  EXPECT_EQ(Written().substr(0, 28), "12345…\n日本日本日…\n");
  EXPECT_EQ(Final(), "x1234…\n");
}

TEST_F(OutputPaneTest, TheStatusIsErasedBeforeTextAndAtTheEnd) {
  pane_.Draw({"busy"});
  EXPECT_NE(Written().find("busy"), std::string::npos);
  pane_.Write("a\n");
  EXPECT_EQ(Written(), "\r\x1b[Ja\n");
  pane_.Draw({"busy"});
  Written();
  pane_.Hide();
  EXPECT_EQ(Written(), "\r\x1b[J");
}

TEST_F(OutputPaneTest, ALineThatWasBegunIsNotDrawnOver) {
  pane_.Write("who: ");
  Written();
  pane_.Draw({"busy"});
  EXPECT_EQ(Written(), "");
  EXPECT_EQ(pane_.TakeLine(), "who: ");
  EXPECT_EQ(Written(), "\r\x1b[J");
}

TEST_F(OutputPaneTest, ALineOfSeveralRowsIsTakenOffWhole) {
  OutputPane pane(pipe_.write.get(), {.lines = 2});
  pane.Begin();
  pane.Write(std::string(160, 'x'));  // two full rows
  Written();
  pane.TakeLine();
  EXPECT_EQ(Written(), "\r\x1b[1A\x1b[J");
}

}  // namespace
}  // namespace cellar::host
