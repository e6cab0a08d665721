// Values that cross between the program and a session.
#include <string>

#include "absl/strings/str_cat.h"
#include "cellar/testing.h"

namespace cellar::testing {
namespace {

using ::nlohmann::json;
using ::testing::HasSubstr;

class ValuesTest : public CellTest {
 protected:
  std::string WhyNot(std::string name) {
    return std::string(session().Get(std::move(name)).status().message());
  }
};

TEST_F(ValuesTest, JsonArrivesAsPythonValuesAndComesBack) {
  const json value = {{"list", {1, -2, 3.5, true, nullptr}},
                      {"nested", {{"empty", json::object()}}}};
  Set("value", value);
  EXPECT_THAT(Run("value['list']"), ResultIs("[1, -2, 3.5, True, None]"));
  EXPECT_EQ(Get("value"), value);
}

TEST_F(ValuesTest, UnicodeIsKept) {
  const std::string text = std::string("Käse \U0001F9C0 \u4E2D\u6587") + '\0';
  Set("text", text);
  EXPECT_THAT(Run("[len(text), text[5]]"), ResultIs("[10, '\U0001F9C0']"));
  EXPECT_EQ(Get("text"), text);
}

TEST_F(ValuesTest, BytesWithNulAreKept) {
  const std::string bytes("\0\xff\0a\n", 5);
  ASSERT_TRUE(session().SetBytes("data", bytes).ok());
  EXPECT_THAT(Run("data"), ResultIs(R"(b'\x00\xff\x00a\n')"));
  EXPECT_EQ(session().GetBytes("data").value(), bytes);
}

TEST_F(ValuesTest, LargeBytesAreKept) {
  const std::string bytes(8 << 20, 'b');
  ASSERT_TRUE(session().SetBytes("data", bytes).ok());
  EXPECT_THAT(Run("len(data)"), ResultIs("8388608"));
  EXPECT_EQ(session().GetBytes("data").value(), bytes);
}

TEST_F(ValuesTest, WhatNoMessageHoldsIsAnErrorAndTheSessionGoesOn) {
  Run("x = 'kept'\ndata = bytes(90 << 20)");
  EXPECT_THAT(std::string(session().GetBytes("data").status().message()),
              HasSubstr("data is too large: 90 MiB"));
  EXPECT_THAT(std::string(session().SetBytes("more", std::string(90 << 20, 'b')).message()),
              HasSubstr("90 MiB"));
  EXPECT_THAT(std::string(session().Run(std::string(90 << 20, ' ')).status().message()),
              HasSubstr("90 MiB"));
  EXPECT_THAT(Run("x"), ResultIs("'kept'"));
}

TEST_F(ValuesTest, WhatACellComputedIsThere) {
  Run("squares = {str(i): i * i for i in range(3)}");
  EXPECT_EQ(Get("squares"), (json{{"0", 0}, {"1", 1}, {"2", 4}}));
}

TEST_F(ValuesTest, AnAbsentNameIsNotFound) {
  EXPECT_EQ(session().Get("nothing").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(session().GetBytes("nothing").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ValuesTest, WhatJsonCannotHoldIsAnErrorThatNamesTheValue) {
  Run("thing = object()\nnan = float('nan')\nloop = []\nloop.append(loop)\n"
      "twins = [{1: 'a', '1': 'b'}]");
  for (const char* name : {"thing", "nan", "loop", "twins"}) {
    EXPECT_EQ(session().Get(name).status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(WhyNot(name), HasSubstr(name));
  }
}

TEST_F(ValuesTest, WhatAValuesOwnMethodsRaiseIsAnErrorToo) {
  Run("class Mute(Exception):\n"
      "  def __str__(self): raise KeyError\n"
      "class Liar(dict):\n"
      "  def items(self): raise self.error\n"
      "def liar(error):\n"
      "  made = Liar(key=1)\n"
      "  made.error = error\n"
      "  return made\n"
      "leaves, interrupts, mumbles = liar(SystemExit), liar(KeyboardInterrupt), liar(Mute)");
  for (const char* name : {"leaves", "interrupts", "mumbles"}) {
    EXPECT_EQ(session().Get(name).status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(WhyNot(name), HasSubstr(name));
  }
  EXPECT_THAT(Run("1"), ResultIs("1"));
}

TEST_F(ValuesTest, AWorkerThatIsHeldUpDoesNotHoldUpTheCaller) {
  absl::StatusOr<std::unique_ptr<Host>> host =
      Host::Start({.value_limit = absl::Milliseconds(100)});
  ASSERT_TRUE(host.ok()) << host.status();
  absl::StatusOr<std::unique_ptr<Session>> session = (*host)->Open();
  ASSERT_TRUE(session.ok()) << session.status();
  auto run = [&](std::string code) { return (*session)->Run(std::move(code))->result(); };
  run("import asyncio, time\nx, y = 1, 2\nasyncio.get_running_loop().call_soon(time.sleep, 1)");
  EXPECT_EQ((*session)->Get("x").status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(run("y"), "2");
  EXPECT_EQ(*(*session)->Get("y"), 2);  // not the answer that came late
}

TEST_F(ValuesTest, BytesAndJsonAreNotMistakenForEachOther) {
  Run("data = b'1'\ntext = '1'");
  EXPECT_EQ(session().Get("data").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(session().GetBytes("text").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ValuesTest, WhatIsNoNameOrNoUtf8IsRefused) {
  EXPECT_EQ(session().Set("not a name", 1).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(session().Set("x\xff", 1).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(session().Get("x\xff").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(session().Set("x", "\xff").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(session().Get("x").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace cellar::testing
