// Gives the memory of a text back.
#pragma once

#include <string>

namespace cellar {

// Where `text = std::string()` would keep it: libstdc++ copies what is that short into the memory
// that is there.
inline void FreeText(std::string& text) { std::string().swap(text); }

}  // namespace cellar
