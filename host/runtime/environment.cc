#include "host/runtime/environment.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "host/base/status.h"
#include "host/runtime/interpreter.h"
#include "host/runtime/settings.h"

namespace cellar::host {
namespace {

constexpr absl::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

// Names, and patterns with '*' at either end.
constexpr absl::string_view kAllowed[] = {
    // The user, the terminal, the places of files.
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM",
    "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "NO_COLOR", "TMPDIR", "TEMP", "TMP", "XDG_*",
    "SSH_AUTH_SOCK", "SSH_AGENT_PID",
    // cellar and the agents that start it.
    "PI_*", "CELLAR_*",
    // Python, its packages and its environments.
    "PYTHON*", "VIRTUAL_ENV", "CONDA_*", "PYENV_*", "ASDF_*", "MISE_*", "PIP_*", "UV_*",
    "MPLCONFIGDIR", "HF_*", "TORCH_HOME", "LD_LIBRARY_PATH",
    // The network.
    "HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy",
    "ftp_proxy", "all_proxy", "no_proxy", "SSL_CERT_*", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    // Devices and threads of numerical libraries.
    "CUDA_*", "NVIDIA_*", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "OMP_*", "GOMP_*", "KMP_*",
    "OPENBLAS_*", "MKL_*", "BLIS_*", "NUMEXPR_*", "NUMBA_*"};

// Exceptions to PYTHON*: about a prompt that a worker does not have, about tracing that would bury
// the first cell's output, and one that contradicts the interpreter that was chosen.
constexpr absl::string_view kUselessInWorker[] = {
    "PYTHONSTARTUP", "PYTHONINSPECT",           "PYTHONDEBUG",
    "PYTHONVERBOSE", "PYTHONPROFILEIMPORTTIME", "PYTHONEXECUTABLE"};

// Compared with the name in upper case.
constexpr absl::string_view kSecret[] = {
    "*_KEY", "*APIKEY*", "*API_KEY*", "*ACCESS_KEY*", "*PRIVATE_KEY*", "TOKEN", "*_TOKEN",
    "*_TOKENS", "*_TOKEN_*", "*SECRET*", "*PASSWORD*", "*PASSWD*", "*PASSPHRASE*", "*_PASS",
    "*_PWD", "*CREDENTIAL*", "*_COOKIE", "*_COOKIES", "*_PAT", "*_AUTH", "*_DSN",
    "*CONNECTION_STRING*", "*_WEBHOOK_URL",
    // Addresses that commonly carry a password and that no pattern above finds.
    "DATABASE_URL", "REDIS_URL", "MONGODB_URI", "MONGO_URL", "AMQP_URL"};

bool Matches(absl::string_view name, absl::string_view pattern) {
  const bool any_prefix = absl::ConsumePrefix(&pattern, "*");
  const bool any_suffix = absl::ConsumeSuffix(&pattern, "*");
  if (any_prefix && any_suffix) return absl::StrContains(name, pattern);
  if (any_prefix) return absl::EndsWith(name, pattern);
  if (any_suffix) return absl::StartsWith(name, pattern);
  return name == pattern;
}

template <typename Patterns>
bool MatchesAny(absl::string_view name, const Patterns& patterns) {
  return std::any_of(std::begin(patterns), std::end(patterns),
                     [name](const auto& pattern) { return Matches(name, pattern); });
}

bool IsNamedIn(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether an address in it names a user or a password: https://user:password@host/.
bool HasAddressWithUser(std::string_view value) {
  constexpr std::string_view kScheme = "://";
  for (size_t at = value.find(kScheme); at != value.npos; at = value.find(kScheme)) {
    value.remove_prefix(at + kScheme.size());
    const size_t end = value.find_first_of("@/?# \t\n");
    if (end != value.npos && value[end] == '@') return true;
  }
  return false;
}

bool Passes(const std::string& name, const std::string& value, const Settings& settings) {
  if (MatchesAny(name, settings.env_deny)) return false;
  if (name == "PI_TOOL_BRIDGE_TOKEN" || IsNamedIn(name, settings.env_allow)) return true;
  if (LooksLikeSecret(name, value)) return false;
  if (MatchesAny(name, kUselessInWorker)) return false;
  return MatchesAny(name, kAllowed) || MatchesAny(name, settings.env_allow);
}

std::string PathWithFirst(const std::string& directory, const std::string& path) {
  std::vector<absl::string_view> entries = {directory};
  for (absl::string_view entry : absl::StrSplit(path, ':')) {
    if (entry != directory) entries.push_back(entry);
  }
  return absl::StrJoin(entries, ":");
}

bool IsSystemPrefix(const std::string& prefix) {
  return prefix == "/usr" || prefix == "/usr/local" || prefix == "/";
}

void AddInterpreter(const Interpreter& interpreter, Environment& env) {
  env.erase("VIRTUAL_ENV");
  if (interpreter.kind == InterpreterKind::kVenv) env["VIRTUAL_ENV"] = interpreter.prefix;
  if (interpreter.kind == InterpreterKind::kConda) env["CONDA_PREFIX"] = interpreter.prefix;
  if (EnvironmentValue(env, "PATH").empty()) env["PATH"] = std::string(kDefaultPath);
  if (!interpreter.prefix.empty() && !IsSystemPrefix(interpreter.prefix)) {
    env["PATH"] = PathWithFirst(interpreter.prefix + "/bin", env["PATH"]);
  }
}

}  // namespace

Environment CurrentEnvironment() {
  Environment env;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::pair<std::string, std::string> variable =
        absl::StrSplit(*entry, absl::MaxSplits('=', 1));
    // The first of two entries is the one that getenv finds.
    if (!variable.first.empty() && absl::StrContains(*entry, "=")) env.insert(variable);
  }
  return env;
}

std::string EnvironmentValue(const Environment& env, const std::string& name) {
  const auto found = env.find(name);
  return found == env.end() ? "" : found->second;
}

std::string WithHome(const std::string& path, const Environment& env) {
  const std::string home = EnvironmentValue(env, "HOME");
  const bool is_below = path == "~" || absl::StartsWith(path, "~/");
  return is_below && !home.empty() ? home + path.substr(1) : path;
}

bool LooksLikeSecret(const std::string& name, const std::string& value) {
  const std::string upper = absl::AsciiStrToUpper(name);
  if (MatchesAny(upper, kSecret)) return true;
  return !absl::EndsWith(upper, "_PROXY") && HasAddressWithUser(value);
}

Environment PassedEnvironment(const Environment& host_env, const Settings& settings) {
  Environment passed;
  for (const auto& [name, value] : host_env) {
    if (Passes(name, value, settings)) passed[name] = value;
  }
  return passed;
}

absl::Status ValidateOverrides(const EnvironmentOverrides& overrides) {
  constexpr std::string_view kNotInName("=\0", 2);
  for (const auto& [name, value] : overrides) {
    if (name.empty()) {
      return absl::InvalidArgumentError("environment override: the name of a variable is empty");
    }
    if (name.find_first_of(kNotInName) != std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat("environment override \"", absl::CEscape(name),
                                                     "\": a name cannot contain '=' or NUL"));
    }
    if (value.has_value() && value->find('\0') != std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat("environment override \"", absl::CEscape(name),
                                                     "\": a value cannot contain NUL"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> BuildWorkerEnvironment(
    const Environment& host_env, const Settings& settings, const Interpreter& interpreter,
    const std::string& artifacts_directory) {
  CELLAR_RETURN_IF_ERROR(ValidateOverrides({{"PI_ARTIFACTS_DIR", artifacts_directory}}));
  Environment env = PassedEnvironment(host_env, settings);
  AddInterpreter(interpreter, env);
  env["PI_ARTIFACTS_DIR"] = artifacts_directory;
  env["ARTIFACTS"] = artifacts_directory;

  std::vector<std::string> entries;
  entries.reserve(env.size());
  for (const auto& [name, value] : env) entries.push_back(absl::StrCat(name, "=", value));
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace cellar::host
