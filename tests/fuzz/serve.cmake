# The libFuzzer target of host/serve; included when CELLAR_FUZZ is ON, which needs clang.
add_executable(serve_request_fuzz ${CMAKE_CURRENT_LIST_DIR}/request_fuzz.cc)
target_link_libraries(serve_request_fuzz PRIVATE cellar_serve cellar_flags)
target_link_options(serve_request_fuzz PRIVATE -fsanitize=fuzzer)
