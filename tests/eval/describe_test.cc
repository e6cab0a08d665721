#include "host/eval/describe.h"

#include <gtest/gtest.h>

#include "host/eval/call_parser.h"
#include "nlohmann/json.hpp"

namespace cellar::host {
namespace {

using nlohmann::json;

json Described(ToolMode mode = ToolMode::kBoth) {
  return json::parse(DescribeTool(mode), nullptr, /*allow_exceptions=*/false);
}

// A value that a field with this schema takes.
json Example(const json& schema) {
  if (schema.contains("enum")) return schema["enum"].back();
  const std::string type = schema["type"];
  if (type == "string") return "x";
  if (type == "boolean") return true;
  if (type == "number") return schema["maximum"];
  if (type == "array") return json::array({Example(schema["items"])});
  json object = json::object();
  if (schema.contains("properties")) {
    for (const auto& [name, property] : schema["properties"].items()) {
      object[name] = Example(property);
    }
  }
  return object;
}

TEST(DescribeToolTest, GivesASchemaThatRequestsAreReadBy) {
  const json schema = Described()["input_schema"];
  EXPECT_EQ(schema["required"], json({"cells"}));
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["properties"]["timeout"]["deprecated"], true);
  EXPECT_EQ(schema["properties"]["cells"]["items"]["required"], json({"code"}));
  const json example = Example(schema);
  ASSERT_EQ(example.size(), 8u);
  const absl::StatusOr<Call> call = ParseCall(example.dump());
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->cells[0].timeout, absl::Hours(1));
}

TEST(DescribeToolTest, AModelIsNotOfferedWhatItsProgramSets) {
  const json offered = Described()["input_schema"]["properties"];
  for (const char* name : {"owner", "background_after", "parent"}) {
    EXPECT_FALSE(offered.contains(name)) << name;
  }
  EXPECT_TRUE(offered.contains("session"));
  const json with_session = json::parse(DescribeTool(ToolMode::kBoth, "", /*names_session=*/true));
  EXPECT_FALSE(with_session["input_schema"]["properties"].contains("session"));
}

TEST(DescribeToolTest, DescribesEveryField) {
  const json schema = Described()["input_schema"];
  for (const json& fields :
       {schema["properties"], schema["properties"]["cells"]["items"]["properties"]}) {
    for (const auto& [name, property] : fields.items()) {
      EXPECT_FALSE(property["description"].get<std::string>().empty()) << name;
    }
  }
}

TEST(DescribeToolTest, GoesByTheToolMode) {
  EXPECT_EQ(Described(ToolMode::kBoth)["tool_mode"], "both");
  EXPECT_EQ(Described(ToolMode::kBoth)["offered"], true);
  EXPECT_EQ(Described(ToolMode::kIpyOnly)["offered"], true);
  EXPECT_EQ(Described(ToolMode::kBashOnly)["offered"], false);
  EXPECT_FALSE(Described(ToolMode::kBashOnly).contains("reason"));
  EXPECT_NE(Described(ToolMode::kBoth)["description"],
            Described(ToolMode::kIpyOnly)["description"]);
}

}  // namespace
}  // namespace cellar::host
