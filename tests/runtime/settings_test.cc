#include "host/runtime/settings.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/scratch.h"

namespace cellar::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SettingsTest : public Scratch {
 protected:
  std::string WriteUser(const std::string& text) {
    return Write("home/.config/cellar/config.json", text);
  }
  std::string WriteProject(const std::string& text) {
    return Write("project/.cellar/config.json", text);
  }
  absl::StatusOr<Settings> Load(Environment env = {}) {
    env["HOME"] = Path("home");
    return LoadSettings(env, Path("project"));
  }
  std::string LoadError(Environment env = {}) {
    absl::StatusOr<Settings> settings = Load(std::move(env));
    EXPECT_EQ(settings.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(settings.status().message());
  }
};

TEST_F(SettingsTest, AreTheDefaultsWithoutFiles) {
  absl::StatusOr<Settings> settings = Load();
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->interpreter, "");
  EXPECT_THAT(settings->preload, IsEmpty());
  EXPECT_THAT(settings->env_allow, IsEmpty());
  EXPECT_THAT(settings->env_deny, IsEmpty());
  EXPECT_EQ(settings->tool_mode, ToolMode::kBoth);
  EXPECT_EQ(settings->interrupt_grace, absl::Seconds(3));
  EXPECT_EQ(settings->max_sessions, 256);
  EXPECT_EQ(settings->idle_timeout, absl::Seconds(1800));
  EXPECT_EQ(settings->memory_cap_bytes, 0);
  EXPECT_EQ(settings->retry, Retry::kNever);
  EXPECT_EQ(settings->output_budget_bytes, 51200);
}

TEST_F(SettingsTest, ReadEveryKey) {
  WriteUser(R"({
    "interpreter": "~/py/bin/python", "preload": ["numpy", "os.path"], "env_allow": ["AWS_*", "X"],
    "env_deny": ["LC_*"], "tool_mode": "ipy-only", "interrupt_grace_s": 1.5, "max_sessions": 8,
    "idle_timeout_s": 0, "memory_cap_mb": 2048, "retry": "once", "output_budget_kb": 10,
    "snapshots": "always", "snapshots_kept": 9, "snapshots_memory_percent": 50})");
  absl::StatusOr<Settings> settings = Load();
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->interpreter, "~/py/bin/python");
  EXPECT_THAT(settings->preload, ElementsAre("numpy", "os.path"));
  EXPECT_THAT(settings->env_allow, ElementsAre("AWS_*", "X"));
  EXPECT_THAT(settings->env_deny, ElementsAre("LC_*"));
  EXPECT_EQ(settings->tool_mode, ToolMode::kIpyOnly);
  EXPECT_EQ(settings->interrupt_grace, absl::Milliseconds(1500));
  EXPECT_EQ(settings->max_sessions, 8);
  EXPECT_EQ(settings->idle_timeout, absl::ZeroDuration());
  EXPECT_EQ(settings->memory_cap_bytes, int64_t{2} << 30);
  EXPECT_EQ(settings->retry, Retry::kOnce);
  EXPECT_EQ(settings->snapshots, SnapshotPolicy::kAlways);
  EXPECT_EQ(settings->snapshots_kept, 9);
  EXPECT_EQ(settings->snapshots_memory_percent, 50);
  EXPECT_EQ(settings->output_budget_bytes, 10240);
}

TEST_F(SettingsTest, OfAProjectReplaceThoseOfTheUser) {
  WriteUser(R"({"max_sessions": 4, "preload": ["numpy"], "retry": "once"})");
  WriteProject(R"({"max_sessions": 5, "preload": ["pandas"]})");
  absl::StatusOr<Settings> settings = Load();
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->max_sessions, 5);
  EXPECT_THAT(settings->preload, ElementsAre("pandas"));
  EXPECT_EQ(settings->retry, Retry::kOnce);
}

TEST_F(SettingsTest, OfAProjectCannotLiftWhatTheUserDenied) {
  WriteUser(R"({"env_deny": ["A"], "env_allow": ["B"]})");
  WriteProject(R"({"env_deny": [], "env_allow": ["A"]})");
  absl::StatusOr<Settings> settings = Load();
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_THAT(settings->env_deny, ElementsAre("A"));
  EXPECT_THAT(settings->env_allow, ElementsAre("B", "A"));
}

TEST_F(SettingsTest, OfAProjectCannotLetASecretThrough) {
  const std::string file = WriteProject(R"({"env_allow": ["PLAIN", "OPENAI_API_KEY"]})");
  EXPECT_EQ(LoadError(), file +
                             ": env_allow[1]: OPENAI_API_KEY looks like a secret; only your own "
                             "settings may let it through");
  WriteProject(R"({"env_allow": ["OPENAI_*"]})");  // a pattern lets no secret through anyway
  EXPECT_TRUE(Load().ok());
  EXPECT_TRUE(Load({{"CELLAR_ENV_ALLOW", "OPENAI_API_KEY"}}).ok());
}

TEST_F(SettingsTest, OfTheUserFollowXdg) {
  Write("xdg/cellar/config.json", R"({"max_sessions": 7})");
  EXPECT_EQ(Load({{"XDG_CONFIG_HOME", Path("xdg")}})->max_sessions, 7);
  EXPECT_EQ(Load({{"XDG_CONFIG_HOME", "relative"}})->max_sessions, 256);
}

TEST_F(SettingsTest, StrongerLayersWinAndSayWhereTheyAre) {
  const std::string user = WriteUser(R"({"max_sessions": 1, "idle_timeout_s": 1, "retry": "once",
                                         "memory_cap_mb": 1, "env_deny": ["A"]})");
  const std::string project =
      WriteProject(R"({"max_sessions": 2, "idle_timeout_s": 2, "retry": "never",
                       "env_deny": ["B"]})");
  absl::StatusOr<Settings> settings =
      LoadSettings({{"HOME", Path("home")},
                    {"CELLAR_MAX_SESSIONS", "3"},
                    {"CELLAR_IDLE_TIMEOUT_S", "2.5"},
                    {"CELLAR_PRELOAD", "json,csv"},
                    {"CELLAR_RETRY", ""}},
                   Path("project"), {"max_sessions=4", "tool_mode=ipy-only"});
  ASSERT_TRUE(settings.ok()) << settings.status();
  std::map<std::string, std::string> shown;
  for (const ShownSetting& setting : ShowSettings(*settings)) {
    shown[setting.key] = setting.value + " " + setting.origin;
  }
  EXPECT_EQ(shown["max_sessions"], "4 --set");
  EXPECT_EQ(shown["tool_mode"], "\"ipy-only\" --set");
  EXPECT_EQ(shown["idle_timeout_s"], "2.5 environment variable CELLAR_IDLE_TIMEOUT_S");
  EXPECT_EQ(shown["preload"], R"(["json","csv"] environment variable CELLAR_PRELOAD)");
  EXPECT_EQ(shown["retry"], "\"never\" " + project);
  EXPECT_EQ(shown["memory_cap_mb"], "1 " + user);
  EXPECT_EQ(shown["env_deny"], R"(["A","B"] )" + user + ", " + project);
  EXPECT_EQ(shown["output_budget_kb"], "50 default");
  EXPECT_EQ(shown["display_inline_kb"], "1024 default");
}

TEST_F(SettingsTest, NameTheVariableOrOptionThatDoesNotFit) {
  EXPECT_EQ(LoadError({{"CELLAR_MAX_SESSIONS", "many"}}),
            "environment variable CELLAR_MAX_SESSIONS: expected a whole number, found string");
  const auto error_of = [&](const std::string& option) {
    return std::string(LoadSettings({}, Path("project"), {option}).status().message());
  };
  EXPECT_EQ(error_of("max_sessions=0"), "--set: max_sessions: 0 is not between 1 and 100000");
  EXPECT_EQ(error_of("max_sessions"), "--set: max_sessions is not KEY=VALUE");
  EXPECT_THAT(error_of("nonsense=1"), HasSubstr("--set: nonsense: unknown setting"));
}

TEST_F(SettingsTest, NeedNoHome) {
  WriteProject(R"({"max_sessions": 5})");
  absl::StatusOr<Settings> settings = LoadSettings({}, Path("project"));
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->max_sessions, 5);
}

TEST_F(SettingsTest, RefuseAnUnknownKey) {
  const std::string file = WriteProject(R"({"max_session": 5})");
  EXPECT_EQ(
      LoadError(),
      file +
          ": max_session: unknown setting; known are interpreter, preload, "
          "env_allow, env_deny, tool_mode, interrupt_grace_s, max_sessions, "
          "max_waiting_calls, idle_timeout_s, memory_cap_mb, retry, "
          "output_budget_kb, display_inline_kb, artifacts_max_age_h, artifacts_max_mb, snapshots, "
          "snapshots_kept, snapshots_memory_percent");
}

TEST_F(SettingsTest, NameFileAndPlaceOfAValueThatDoesNotFit) {
  const struct {
    const char* text;
    const char* problem;
  } cases[] = {
      {R"([])", ": expected an object, found array"},
      {R"({"interpreter": null})", ": interpreter: expected a string, found null"},
      {R"({"preload": "numpy"})", ": preload: expected a list of strings, found string"},
      {R"({"preload": ["a", 1]})", ": preload[1]: expected a string, found number"},
      {R"({"preload": [""]})", ": preload[0]: is empty"},
      {R"({"env_allow": ["*_KEY"]})",
       ": env_allow[0]: \"*_KEY\" is neither a variable's name nor a prefix followed by *"},
      {R"({"env_deny": ["A=B"]})",
       ": env_deny[0]: \"A=B\" is neither a variable's name nor a prefix followed by *"},
      {R"({"tool_mode": "all"})", ": tool_mode: \"all\" is not one of both, ipy-only, bash-only"},
      {R"({"interrupt_grace_s": "3"})", ": interrupt_grace_s: expected a number, found string"},
      {R"({"interrupt_grace_s": -1})", ": interrupt_grace_s: -1 is not between 0 and 3600"},
      {R"({"max_sessions": 2.5})", ": max_sessions: expected a whole number, found number"},
      {R"({"max_sessions": 0})", ": max_sessions: 0 is not between 1 and 100000"},
      {R"({"retry": true})", ": retry: expected a string, found boolean"},
      {R"({"retry": "twice"})", ": retry: \"twice\" is not one of never, once"},
  };
  for (const auto& [text, problem] : cases) {
    const std::string file = WriteUser(text);
    EXPECT_EQ(LoadError(), file + problem);
  }
}

TEST_F(SettingsTest, RefuseNumbersBeyond64Bits) {
  WriteUser(R"({"memory_cap_mb": 99999999999999999999999})");
  EXPECT_THAT(LoadError(), HasSubstr("memory_cap_mb: expected a whole number"));
  WriteUser(R"({"memory_cap_mb": 18446744073709551615})");
  EXPECT_THAT(LoadError(), HasSubstr("memory_cap_mb: 18446744073709551615 is not between 0 and"));
}

TEST_F(SettingsTest, SayWhereTheJsonIsBroken) {
  const std::string file = WriteUser("{\n  \"retry\": \"once\",\n}");
  EXPECT_THAT(LoadError(), HasSubstr(file + ": parse error at line 3, column 1: "));
}

TEST_F(SettingsTest, RefuseAnEmptyFile) {
  WriteUser("");
  EXPECT_THAT(LoadError(), HasSubstr("unexpected end of input"));
}

TEST_F(SettingsTest, RefuseDeepNesting) {
  const std::string file = WriteUser(std::string(100'000, '['));
  EXPECT_EQ(LoadError(), file + ": nested deeper than 16 levels");
}

TEST_F(SettingsTest, RefuseWhatIsNotAFile) {
  std::filesystem::create_directories(Path("home/.config/cellar/config.json"));
  EXPECT_EQ(LoadError(), "reading settings from " + Path("home/.config/cellar/config.json") +
                             ": not a regular file");
}

TEST_F(SettingsTest, LetPiPyOverrideTheToolMode) {
  const struct {
    const char* value;
    ToolMode mode;
  } cases[] = {{"0", ToolMode::kBashOnly}, {"bash", ToolMode::kBashOnly}, {"1", ToolMode::kIpyOnly},
               {"py", ToolMode::kIpyOnly}, {"mix", ToolMode::kBoth},      {"both", ToolMode::kBoth},
               {"", ToolMode::kBashOnly}};
  WriteUser(R"({"tool_mode": "bash-only"})");
  for (const auto& [value, mode] : cases) {
    absl::StatusOr<Settings> settings = Load({{"PI_PY", value}});
    ASSERT_TRUE(settings.ok()) << settings.status();
    EXPECT_EQ(settings->tool_mode, mode) << "PI_PY=" << value;
  }
}

TEST_F(SettingsTest, RefuseAnotherPiPy) {
  EXPECT_EQ(LoadError({{"PI_PY", "yes"}}),
            "environment variable PI_PY: \"yes\" is not one of 0, bash, 1, py, mix, both");
}

TEST(ToolModeNameTest, IsTheSpellingInSettings) {
  EXPECT_EQ(ToolModeName(ToolMode::kBoth), "both");
  EXPECT_EQ(ToolModeName(ToolMode::kIpyOnly), "ipy-only");
  EXPECT_EQ(ToolModeName(ToolMode::kBashOnly), "bash-only");
}

}  // namespace
}  // namespace cellar::host
