// The packages cellar_runtime and cellar_prelude as marshalled code, linked into the worker
// program.
#pragma once

#include <span>

namespace cellar::embed {

struct FrozenModule {
  const char* name;
  const unsigned char* code;
  int size;
  bool is_package;
};

std::span<const FrozenModule> FrozenModules();

}  // namespace cellar::embed
