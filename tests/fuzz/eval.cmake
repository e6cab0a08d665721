# The libFuzzer target of host/eval; included when CELLAR_FUZZ is ON, which needs clang.
add_executable(eval_call_fuzz ${CMAKE_CURRENT_LIST_DIR}/call_fuzz.cc)
target_link_libraries(eval_call_fuzz PRIVATE cellar_eval cellar_flags)
target_link_options(eval_call_fuzz PRIVATE -fsanitize=fuzzer)
