#include "embed/native_threads.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <poll.h>

#include <cstring>
#include <string>
#include <vector>

namespace cellar::embed {
namespace {

constexpr int kPauseSoft = 1;  // omp_pause_soft
// How often to count again: a thread that was told to end is still there for a moment.
constexpr int kCountAttempts = 3;

struct LibrarySearch {
  const char* part;  // of the file's name
  std::vector<std::string> found;
};

int Visit(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<LibrarySearch*>(data);
  const char* slash = std::strrchr(info->dlpi_name, '/');
  const char* name = slash != nullptr ? slash + 1 : info->dlpi_name;
  if (std::strstr(name, search->part) != nullptr) search->found.emplace_back(info->dlpi_name);
  return 0;
}

// A function of each loaded library of that name, by the first of its names that exists.
std::vector<void*> Functions(const char* library, const std::vector<const char*>& names) {
  LibrarySearch search = {.part = library, .found = {}};
  dl_iterate_phdr(Visit, &search);
  std::vector<void*> functions;
  for (const std::string& path : search.found) {
    void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    for (const char* name : names) {
      if (void* function = dlsym(handle, name)) {
        functions.push_back(function);
        break;
      }
    }
    dlclose(handle);
  }
  return functions;
}

// OpenBLAS ends its threads before a fork and starts them anew on both sides.
int CountBlasThreads() {
  int count = 0;
  for (void* function : Functions(
           "openblas", {"openblas_get_num_threads", "openblas_get_num_threads64_",
                        "scipy_openblas_get_num_threads", "scipy_openblas_get_num_threads64_"})) {
    count += reinterpret_cast<int (*)()>(function)() - 1;
  }
  return count;
}

}  // namespace

int CountThreads() {
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return 1;
  int count = 0;
  while (dirent* entry = readdir(tasks)) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

void PauseOpenMp() {
  for (void* function : Functions("libgomp", {"omp_pause_resource_all"})) {
    reinterpret_cast<int (*)(int)>(function)(kPauseSoft);
  }
}

int CountUnknownThreads(int python_threads) {
  int unknown = 0;
  for (int attempt = 0; attempt < kCountAttempts; ++attempt) {
    unknown = CountThreads() - python_threads;
    if (unknown > 0) unknown -= CountBlasThreads();
    if (unknown <= 0) return 0;
    poll(nullptr, 0, 1);
  }
  return unknown;
}

}  // namespace cellar::embed
