// Whether this is a build under a sanitizer, which takes time and memory of its own.
#pragma once

namespace cellar {

// AddressSanitizer's shadow memory counts against every limit of memory.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Limits of time are so many times as long; the true ones hold in a release build.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kSlowness = 10;
#else
inline constexpr int kSlowness = 1;
#endif

}  // namespace cellar
