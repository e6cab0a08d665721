// Whether this is a build under a sanitizer, which takes time and memory of its own.
#pragma once

namespace cellar {

// Its shadow memory counts against every limit of memory of a worker. ThreadSanitizer watches the
// host only.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kWorkerSanitized = true;
#else
inline constexpr bool kWorkerSanitized = false;
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kHostSanitized = true;
#else
inline constexpr bool kHostSanitized = false;
#endif

// Limits of time are so many times as long; the true ones hold in a release build.
inline constexpr int kSlowness = kHostSanitized ? 10 : 1;

}  // namespace cellar
