// What AddressSanitizer may do in a worker; part of sanitized builds only.

// The worker's own fault handling stays in charge, on its own signal stack; Python never frees what
// it holds at exit, and takes an allocation that fails for a MemoryError. The runtime looks the
// function up by name.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:use_sigaltstack=0:"
         "detect_leaks=0:allocator_may_return_null=1";
}
