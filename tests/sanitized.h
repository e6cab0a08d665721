// Whether this is a build under the sanitizers: numbers of time and memory mean little there.
#pragma once

namespace cellar {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace cellar
