# Builds with -fsanitize=thread: calls of Abseil's locks go through tests/sanitizers/absl_locks.cc, which tells the
# sanitizer of them. The names are those of Debian's Abseil, an inline namespace included.
set(sources ${PROJECT_SOURCE_DIR}/tests/sanitizers)
add_library(cellar_tsan STATIC ${sources}/absl_locks.cc ${sources}/tsan_options.cc)
target_link_libraries(cellar_tsan PUBLIC absl::synchronization absl::time)
target_compile_definitions(cellar_tsan PRIVATE CELLAR_SANITIZER_REPORTS="${CELLAR_SANITIZER_REPORTS}")
target_link_options(cellar_tsan INTERFACE LINKER:--undefined=cellar_tsan_options)
foreach(symbol
    _ZN4absl7debian35MutexD1Ev
    _ZN4absl7debian35Mutex4LockEv
    _ZN4absl7debian35Mutex6UnlockEv
    _ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE
    _ZN4absl7debian35Mutex19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE
    _ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE
    _ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE
    _ZN4absl7debian312Notification6NotifyEv
    _ZNK4absl7debian312Notification19WaitForNotificationEv
    _ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE)
  # Wanted also where only Abseil's own libraries use it: the linker renames what they lack too.
  target_link_options(cellar_tsan INTERFACE LINKER:--wrap=${symbol} LINKER:--undefined=__wrap_${symbol})
endforeach()
target_link_libraries(cellar_flags INTERFACE cellar_tsan)
