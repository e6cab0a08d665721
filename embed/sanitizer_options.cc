// What the sanitizers may do in a worker; part of sanitized builds only. The runtimes look the
// functions up by name.

#define CELLAR_SANITIZER_OPTIONS extern "C" __attribute__((visibility("default"))) const char*

// The worker's own fault handling stays in charge, on its own signal stack; Python never frees what
// it holds at exit, and takes an allocation that fails for a MemoryError. Reports go to files: the
// end of a worker may be taken for what its cell has done.
CELLAR_SANITIZER_OPTIONS __asan_default_options() {
  return "handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:use_sigaltstack=0:"
         "detect_leaks=0:allocator_may_return_null=1:log_path=" CELLAR_SANITIZER_REPORTS "/report";
}

CELLAR_SANITIZER_OPTIONS __ubsan_default_options() {
  return "print_stacktrace=1:log_path=" CELLAR_SANITIZER_REPORTS "/report";
}
