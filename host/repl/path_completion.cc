#include "host/repl/path_completion.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include "host/output/printable.h"

namespace cellar::host {

std::vector<Completion> CompletePath(std::string_view typed, const Environment& env) {
  const size_t name_at = typed.rfind('/') + 1;
  const std::string folder = WithHome(std::string(typed.substr(0, name_at)), env);
  const std::string_view begun = typed.substr(name_at);
  std::vector<Completion> matches;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder.empty() ? "." : folder, error), end;
       !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    const bool is_hidden = begun.empty() && name.starts_with('.');
    if (is_hidden || !name.starts_with(begun) || Printable(name) != name) continue;
    std::error_code unknown;
    if (entry->is_directory(unknown)) name += '/';
    matches.push_back({.text = std::move(name)});
  }
  std::ranges::sort(matches, {}, &Completion::text);
  return matches;
}

}  // namespace cellar::host
