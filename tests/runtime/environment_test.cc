#include "host/runtime/environment.h"

#include <stdlib.h>

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "host/runtime/interpreter.h"
#include "host/runtime/settings.h"

namespace cellar::host {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const Interpreter kSystemPython = {.executable = "/usr/bin/python3", .prefix = "/usr"};

Interpreter VenvAt(const std::string& prefix) {
  return {.executable = prefix + "/bin/python", .prefix = prefix, .kind = InterpreterKind::kVenv};
}

// Without the two that name the artifacts directory, which are always there.
std::vector<std::string> Build(const Environment& host_env, const Settings& settings = {},
                               const Interpreter& interpreter = kSystemPython) {
  absl::StatusOr<std::vector<std::string>> env =
      BuildWorkerEnvironment(host_env, settings, interpreter, "/artifacts");
  EXPECT_TRUE(env.ok()) << env.status();
  if (!env.ok()) return {};
  EXPECT_EQ(std::erase(*env, "ARTIFACTS=/artifacts"), 1u);
  EXPECT_EQ(std::erase(*env, "PI_ARTIFACTS_DIR=/artifacts"), 1u);
  return *env;
}

bool PassesWith(const std::string& name, const Settings& settings) {
  return testing::Value(Build({{name, "1"}}, settings), Contains(name + "=1"));
}

TEST(WorkerEnvironmentTest, IsSorted) {
  EXPECT_THAT(Build({{"PATH", "/bin"}, {"HOME", "/h"}, {"TZ", "UTC"}, {"LANG", "C"}}),
              ElementsAre("HOME=/h", "LANG=C", "PATH=/bin", "TZ=UTC"));
}

TEST(WorkerEnvironmentTest, HasWhatIsAllowed) {
  for (const char* name : {"HOME",
                           "USER",
                           "LOGNAME",
                           "SHELL",
                           "LANG",
                           "TERM",
                           "TMPDIR",
                           "TZ",
                           "LC_ALL",
                           "XDG_CACHE_HOME",
                           "PI_SESSION_FILE",
                           "CELLAR_ANYTHING",
                           "CONDA_DEFAULT_ENV",
                           "LD_LIBRARY_PATH",
                           "https_proxy",
                           "HTTPS_PROXY",
                           "NO_PROXY",
                           "SSL_CERT_FILE",
                           "CUDA_VISIBLE_DEVICES",
                           "OMP_NUM_THREADS",
                           "OPENBLAS_NUM_THREADS",
                           "MKL_NUM_THREADS",
                           "PYTHONPATH",
                           "PYTHONHOME",
                           "PYTHONHASHSEED",
                           "PYTHONDONTWRITEBYTECODE",
                           "PIP_INDEX_URL"}) {
    EXPECT_TRUE(PassesWith(name, {})) << name;
  }
}

TEST(WorkerEnvironmentTest, LacksWhatIsNotAllowed) {
  for (const char* name : {"EDITOR", "PWD", "LD_PRELOAD", "BASH_FUNC_x%%", "PATHS", "XHOME"}) {
    EXPECT_FALSE(PassesWith(name, {})) << name;
  }
}

TEST(WorkerEnvironmentTest, LacksAddressesWithAPasswordUnlessNamedInFull) {
  for (const char* address : {"https://user:password@corp/simple", "https://key@corp/simple",
                              "https://pypi.org/simple https://u:p@corp/simple"}) {
    for (const char* name : {"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX", "HF_ENDPOINT"}) {
      const Environment env = {{name, address}};
      const std::string entry = std::string(name) + "=" + address;
      EXPECT_THAT(Build(env), Not(Contains(entry)));
      EXPECT_THAT(Build(env, {.env_allow = {"*"}}), Not(Contains(entry)));
      EXPECT_THAT(Build(env, {.env_allow = {name}}), Contains(entry));
    }
    EXPECT_THAT(Build({{"https_proxy", address}}), Contains(StartsWith("https_proxy=")));
  }
  for (const char* harmless : {"https://corp/simple", "https://corp/a@b", "me@corp", "://"}) {
    EXPECT_THAT(Build({{"PIP_INDEX_URL", harmless}}), Contains(StartsWith("PIP_INDEX_URL=")));
  }
}

TEST(WorkerEnvironmentTest, LacksPythonVariablesThatMakeNoSenseInAWorker) {
  for (const char* name : {"PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONDEBUG", "PYTHONVERBOSE",
                           "PYTHONPROFILEIMPORTTIME", "PYTHONEXECUTABLE"}) {
    EXPECT_FALSE(PassesWith(name, {})) << name;
    EXPECT_TRUE(PassesWith(name, {.env_allow = {name}})) << name;
  }
}

TEST(WorkerEnvironmentTest, LacksSecretsUnlessNamedInFull) {
  for (const char* name : {"OPENAI_API_KEY",
                           "ANTHROPIC_API_KEY",
                           "GOOGLE_API_KEY",
                           "GEMINI_API_KEY",
                           "OPENROUTER_API_KEY",
                           "PERPLEXITY_API_KEY",
                           "PERPLEXITY_COOKIES",
                           "EXA_API_KEY",
                           "AZURE_OPENAI_API_KEY",
                           "MISTRAL_API_KEY",
                           "AWS_ACCESS_KEY_ID",
                           "AWS_SECRET_ACCESS_KEY",
                           "AWS_SESSION_TOKEN",
                           "GITHUB_TOKEN",
                           "HF_TOKEN",
                           "GOOGLE_APPLICATION_CREDENTIALS",
                           "PGPASSWORD",
                           "CONDA_TOKEN",
                           "UV_PUBLISH_PASSWORD",
                           "PI_PYTHON_GATEWAY_TOKEN",
                           "CELLAR_SECRET",
                           "XDG_secret_thing",
                           "DATABASE_URL",
                           "SENTRY_DSN",
                           "OPENAI_API_KEY_2",
                           "GH_TOKEN_WORK",
                           "SSH_PRIVATE_KEY_PEM",
                           "SMTP_PASS",
                           "MYSQL_PWD"}) {
    EXPECT_FALSE(PassesWith(name, {.env_allow = {"*"}})) << name;
    EXPECT_TRUE(PassesWith(name, {.env_allow = {name}})) << name;
  }
}

TEST(WorkerEnvironmentTest, HasTheBridgesToken) {
  EXPECT_TRUE(PassesWith("PI_TOOL_BRIDGE_TOKEN", {}));
}

TEST(WorkerEnvironmentTest, FollowsTheListsOfTheSettings) {
  const Settings settings{.env_allow = {"AWS_*", "EDITOR"},
                          .env_deny = {"AWS_CA_*", "TERM", "LC_*"}};
  EXPECT_TRUE(PassesWith("AWS_REGION", settings));
  EXPECT_TRUE(PassesWith("EDITOR", settings));
  EXPECT_FALSE(PassesWith("AWS_CA_BUNDLE", settings));
  EXPECT_FALSE(PassesWith("TERM", settings));
  EXPECT_TRUE(PassesWith("TERM_PROGRAM", settings));
  EXPECT_FALSE(PassesWith("LC_ALL", settings));
}

TEST(WorkerEnvironmentTest, DeniesWhatIsBothAllowedAndDenied) {
  EXPECT_FALSE(PassesWith("X", {.env_allow = {"X"}, .env_deny = {"X"}}));
}

TEST(WorkerEnvironmentTest, PutsTheBinOfAVenvFirstOnPathOnce) {
  EXPECT_THAT(Build({{"PATH", "/bin:/p/.venv/bin:/opt"}}, {}, VenvAt("/p/.venv")),
              ElementsAre("PATH=/p/.venv/bin:/bin:/opt", "VIRTUAL_ENV=/p/.venv"));
}

TEST(WorkerEnvironmentTest, LeavesPathAloneForASystemPython) {
  EXPECT_THAT(Build({{"PATH", "/home/u/bin:/usr/bin"}}), ElementsAre("PATH=/home/u/bin:/usr/bin"));
}

TEST(WorkerEnvironmentTest, HasAPathWithoutOneInTheHost) {
  EXPECT_THAT(Build({}, {}, VenvAt("/v")), Contains("PATH=/v/bin:/usr/local/bin:/usr/bin:/bin"));
}

TEST(WorkerEnvironmentTest, DoesNotClaimAVenvThatWasPassedOver) {
  EXPECT_THAT(Build({{"VIRTUAL_ENV", "/stale"}}), Each(Not(StartsWith("VIRTUAL_ENV="))));
  EXPECT_THAT(Build({{"VIRTUAL_ENV", "/stale"}}, {}, VenvAt("/v")), Contains("VIRTUAL_ENV=/v"));
}

TEST(WorkerEnvironmentTest, NamesTheAdoptedCondaEnvironment) {
  const Interpreter conda{.prefix = "/opt/conda/envs/a", .kind = InterpreterKind::kConda};
  EXPECT_THAT(Build({{"PATH", "/bin"}, {"CONDA_PREFIX", "/opt/conda"}}, {}, conda),
              ElementsAre("CONDA_PREFIX=/opt/conda/envs/a", "PATH=/opt/conda/envs/a/bin:/bin"));
}

TEST(WorkerEnvironmentTest, NamesTheArtifactsDirectoryOfTheSession) {
  const Environment host_env = {{"PI_ARTIFACTS_DIR", "/a"}, {"ARTIFACTS", "/old"}};
  for (const Settings& settings : {Settings(), Settings{.env_allow = {"ARTIFACTS"}},
                                   Settings{.env_deny = {"ARTIFACTS", "PI_*"}}}) {
    EXPECT_THAT(*BuildWorkerEnvironment(host_env, settings, kSystemPython, "/b"),
                ElementsAre("ARTIFACTS=/b", StartsWith("PATH="), "PI_ARTIFACTS_DIR=/b"));
  }
}

TEST(WorkerEnvironmentTest, RefusesAnArtifactsDirectoryThatNoEnvironmentCanHold) {
  absl::Status status =
      BuildWorkerEnvironment({}, {}, kSystemPython, std::string("/a\0b", 4)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("\"PI_ARTIFACTS_DIR\": a value cannot contain NUL"));
}

TEST(ValidateOverridesTest, RefusesOverridesThatNoEnvironmentCanHold) {
  const struct {
    EnvironmentOverrides overrides;
    const char* problem;
  } cases[] = {
      {{{"", "x"}}, "the name of a variable is empty"},
      {{{"A=B", "x"}}, "\"A=B\": a name cannot contain '=' or NUL"},
      {{{std::string("A\0B", 3), std::nullopt}}, "\"A\\000B\": a name cannot contain '=' or NUL"},
      {{{"A", std::string("x\0y", 3)}}, "\"A\": a value cannot contain NUL"},
  };
  for (const auto& [overrides, problem] : cases) {
    absl::Status status = ValidateOverrides(overrides);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(problem));
  }
}

TEST(CurrentEnvironmentTest, KeepsEqualSignsInValues) {
  setenv("CELLAR_TEST_VARIABLE", "a=b=c", 1);
  EXPECT_EQ(EnvironmentValue(CurrentEnvironment(), "CELLAR_TEST_VARIABLE"), "a=b=c");
  unsetenv("CELLAR_TEST_VARIABLE");
  EXPECT_EQ(EnvironmentValue(CurrentEnvironment(), "CELLAR_TEST_VARIABLE"), "");
}

}  // namespace
}  // namespace cellar::host
