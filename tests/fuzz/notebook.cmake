add_executable(notebook_fuzz ${CMAKE_CURRENT_LIST_DIR}/notebook_fuzz.cc)
target_link_libraries(notebook_fuzz PRIVATE cellar_notebook cellar_flags)
target_link_options(notebook_fuzz PRIVATE -fsanitize=fuzzer,address,undefined)
set_target_properties(notebook_fuzz PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
