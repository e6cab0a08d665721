#include "host/session/snapshot_account.h"

#include <cstdio>
#include <optional>

#include "host/session/snapshots.h"

namespace cellar::host {
namespace {

// Nothing when it cannot be known.
std::optional<uint64_t> AvailableMemory() {
  std::FILE* file = std::fopen("/proc/meminfo", "re");
  if (file == nullptr) return std::nullopt;
  std::optional<uint64_t> available;
  char line[256];
  while (!available && std::fgets(line, sizeof(line), file) != nullptr) {
    unsigned long long kibibytes;
    if (std::sscanf(line, "MemAvailable: %llu kB", &kibibytes) == 1) available = kibibytes * 1024;
  }
  std::fclose(file);
  return available;
}

}  // namespace

void SnapshotAccount::Check() {
  const std::optional<uint64_t> available = AvailableMemory();
  if (!available) return;
  uint64_t total = 0;
  for (const Snapshots* each : members_) total += each->memory();
  Snapshots* most = nullptr;
  for (Snapshots* each : members_) {
    // Sessions may have settings of their own.
    if (total <= each->LimitOf(*available) || !each->CanGiveUp()) continue;
    if (most == nullptr || each->memory() > most->memory()) most = each;
  }
  if (most != nullptr) most->GiveUpOldest(total, most->LimitOf(*available));
}

}  // namespace cellar::host
