#include "embed/memory_reserve.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>

namespace cellar::embed {
namespace {

// Enough to compile the next cell and to tell its end: a session that is full could not even be
// told to free something.
constexpr size_t kReserve = 16u << 20;
constexpr size_t kLeftToCells = 1u << 20;
constexpr size_t kStep = 256u << 10;

uint64_t g_cap = 0;
bool g_limited = false;  // by the cap, or by a limit on which nothing is known
void* g_mapping = nullptr;
size_t g_mapped = 0;  // bytes

bool IsLimited(__rlimit_resource resource) {
  rlimit limit;
  return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

void LimitData(uint64_t bytes) {
  rlimit limit;
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(bytes, limit.rlim_max);
  setrlimit(RLIMIT_DATA, &limit);
}

void* MapUntouched(size_t size) {
  // Writable, or RLIMIT_DATA would not count it.
  return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
              -1, 0);
}

// Where most is used already, what is left but for some with which a cell can work; in the end, all
// that is left: the cell makes do with what others have freed, or fails.
void Map() {
  for (size_t size = kReserve; g_mapped == 0 && size >= kStep; size -= kStep) {
    void* mapping = MapUntouched(size);
    if (mapping == MAP_FAILED) continue;
    g_mapping = mapping;
    g_mapped = size;
    if (size == kReserve || size <= kReserve / 2) continue;
    g_mapped -= kLeftToCells;
    munmap(static_cast<char*>(mapping) + g_mapped, kLeftToCells);
  }
}

void Unmap() {
  if (g_mapped != 0) munmap(g_mapping, g_mapped);
  g_mapped = 0;
  if (g_cap != 0) LimitData(g_cap + kReserve);
}

}  // namespace

void CapMemory(uint64_t cap) {
  g_cap = cap;
  g_limited = cap != 0 || IsLimited(RLIMIT_AS) || IsLimited(RLIMIT_DATA);
  Unmap();
}

void ExpectMemoryLimit() { g_limited = true; }

PyObject* HoldMemory(PyObject*, PyObject*) {
  if (g_mapped == 0) Map();
  if (g_cap != 0) LimitData(g_cap + g_mapped);
  Py_RETURN_NONE;
}

PyObject* RelaxMemory(PyObject*, PyObject*) {
  if (g_limited) Unmap();
  Py_RETURN_NONE;
}

void RelaxMemoryAfterError() {
  if (g_limited || PyErr_ExceptionMatches(PyExc_MemoryError)) Unmap();
}

}  // namespace cellar::embed
