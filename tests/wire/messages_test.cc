#include <string>

#include "gtest/gtest.h"
#include "host/wire/bridge_messages.h"
#include "host/wire/channel_messages.h"
#include "host/wire/template_messages.h"

namespace cellar::wire {
namespace {

Display SampleDisplay() {
  return {.cell = 7,
          .position = {.ring = 1, .out = 2, .err = 3},
          .kind = DisplayKind::kResult,
          .data = {{"text/plain", MimeKind::kText, "2"},
                   {"image/png", MimeKind::kBytes, std::string("\0\xff", 2)}},
          .metadata = "{}",
          .display_id = "id"};
}

TEST(MessagesTest, ADisplayKeepsEveryField) {
  std::optional<Display> display = Decode<Display>(Encode(SampleDisplay()));
  ASSERT_TRUE(display.has_value());
  EXPECT_EQ(display->cell, 7u);
  EXPECT_EQ(display->position.err, 3u);
  EXPECT_EQ(display->kind, DisplayKind::kResult);
  ASSERT_EQ(display->data.size(), 2u);
  EXPECT_EQ(display->data[1].mime, "image/png");
  EXPECT_EQ(display->data[1].data, std::string("\0\xff", 2));
  EXPECT_EQ(display->display_id, "id");
}

TEST(MessagesTest, ABridgeAnswerKeepsItsImages) {
  std::optional<BridgeAnswer> answer = Decode<BridgeAnswer>(
      Encode(BridgeAnswer{.call = 1u << 31,
                          .kind = AnswerKind::kValue,
                          .data = "{}",
                          .images = {{"image/png", std::string("\0\xff", 2)}, {"image/gif", ""}}}));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->call, 1u << 31);
  ASSERT_EQ(answer->images.size(), 2u);
  EXPECT_EQ(answer->images[0].data, std::string("\0\xff", 2));
}

TEST(MessagesTest, AnEnvironmentEntryCanRemoveAVariable) {
  wire::Setup setup = {
      .cwd = "/", .environment = {{"A", "1"}, {"B", std::nullopt}}, .sys_path = {"x"}};
  std::optional<wire::Setup> decoded = Decode<wire::Setup>(Encode(setup));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->environment[0].value, "1");
  EXPECT_FALSE(decoded->environment[1].value.has_value());
}

TEST(MessagesTest, EveryCutOfAMessageIsRefused) {
  std::string bytes = Encode(SampleDisplay());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Decode<Display>(std::string_view(bytes).substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(Decode<Display>(bytes + "x").has_value()) << "something is left over";
}

TEST(MessagesTest, AListThatClaimsBillionsOfItemsIsRefusedWithoutMakingThem) {
  std::string bytes = Encode(Start{});
  // The preload count is the first of the two last 32-bit fields.
  bytes.replace(bytes.size() - 8, 4, "\xff\xff\xff\xff");
  EXPECT_FALSE(Decode<Start>(bytes).has_value());
}

TEST(MessagesTest, AListOfMillionsOfEmptyItemsIsRefused) {
  Hello hello = {.not_carried = std::vector<std::string>(kMaxListItems)};
  EXPECT_TRUE(Decode<Hello>(Encode(hello)).has_value());
  hello.not_carried.emplace_back();
  EXPECT_FALSE(Decode<Hello>(Encode(hello)).has_value());
}

}  // namespace
}  // namespace cellar::wire
