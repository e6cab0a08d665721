// What ThreadSanitizer is told in every program of the build. Not by TSAN_OPTIONS: tests start
// programs with environments of their own.
extern "C" const char* __tsan_default_options() {
  return "log_path=" CELLAR_SANITIZER_REPORTS "/report:second_deadlock_stack=1:history_size=4";
}

// By which the linker is made to take this file: the function above is in the sanitizer's own
// library too.
extern "C" const bool cellar_tsan_options = true;
