# The libFuzzer targets of host/output; included when CELLAR_FUZZ is ON, which needs clang.
foreach(name sanitiser html_markdown)
  add_executable(output_${name}_fuzz ${CMAKE_CURRENT_LIST_DIR}/${name}_fuzz.cc)
  target_link_libraries(output_${name}_fuzz PRIVATE cellar_output cellar_flags)
  target_link_options(output_${name}_fuzz PRIVATE -fsanitize=fuzzer)
endforeach()
