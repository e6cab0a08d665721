#include "host/session/session_variables.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cellar::host {
namespace {

using Entries = SessionVariables::Entries;

constexpr std::string_view kArtifacts = "PI_ARTIFACTS_DIR";
constexpr std::string_view kArtifactsAlias = "ARTIFACTS";

template <typename SomeEntries>
auto Find(SomeEntries& entries, std::string_view name) {
  return std::find_if(entries.begin(), entries.end(),
                      [&](const wire::EnvironmentEntry& entry) { return entry.name == name; });
}

size_t BytesOf(const wire::EnvironmentEntry& entry) {
  return entry.name.size() + (entry.value ? entry.value->size() : 0);
}

absl::Status TooMany(size_t count) {
  return absl::InvalidArgumentError(absl::StrCat("the session would have ", count, " variables; ",
                                                 SessionVariables::kMaxCount, " is the most"));
}

void AddAlias(Entries& entries) {
  const auto directory = Find(entries, kArtifacts);
  if (directory == entries.end() || Find(entries, kArtifactsAlias) != entries.end()) return;
  std::optional<std::string> value = directory->value;
  entries.push_back({std::string(kArtifactsAlias), std::move(value)});
}

}  // namespace

SessionVariables::SessionVariables(Entries entries) : entries_(std::move(entries)) {
  AddAlias(entries_);
}

void SessionVariables::Set(Entries& entries, uint32_t cell) {
  AddAlias(entries);
  for (const wire::EnvironmentEntry& entry : entries) {
    auto known = Find(entries_, entry.name);
    const bool was_known = known != entries_.end();
    changes_.push_back({cell, was_known ? *known : entry, was_known});
    if (was_known) {
      known->value = entry.value;
    } else {
      entries_.push_back(entry);
    }
  }
}

void SessionVariables::KeepSince(uint32_t cell) {
  std::erase_if(changes_, [cell](const Change& change) { return change.cell < cell; });
}

Entries SessionVariables::SetSince(uint32_t cell) {
  Entries later;
  for (Change& change : changes_) {
    if (change.cell < cell) continue;
    change.cell = cell;
    const std::string& name = change.entry.name;
    if (Find(later, name) == later.end()) later.push_back(*Find(entries_, name));
  }
  return later;
}

void SessionVariables::UndoSince(uint32_t cell) {
  for (; !changes_.empty() && changes_.back().cell >= cell; changes_.pop_back()) {
    const Change& change = changes_.back();
    auto entry = Find(entries_, change.entry.name);
    if (change.was_known) {
      *entry = change.entry;
    } else {
      entries_.erase(entry);
    }
  }
}

std::optional<std::string> SessionVariables::artifacts_directory() const {
  const auto found = Find(entries_, kArtifacts);
  const bool is_set = found != entries_.end() && found->value && !found->value->empty();
  return is_set ? found->value : std::nullopt;
}

absl::Status SessionVariables::CheckRoomFor(const Entries& entries) const {
  size_t count = entries.size();
  if (count > kMaxCount) return TooMany(count);
  size_t bytes = 0;
  for (const wire::EnvironmentEntry& entry : entries) bytes += BytesOf(entry);
  for (const wire::EnvironmentEntry& known : entries_) {
    if (Find(entries, known.name) != entries.end()) continue;
    bytes += BytesOf(known);
    ++count;
  }
  if (count > kMaxCount) return TooMany(count);
  if (bytes <= kMaxBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the variables of the session would have ",
                                                 bytes >> 20, " MiB; ", kMaxBytes >> 20,
                                                 " MiB is the most"));
}

}  // namespace cellar::host
