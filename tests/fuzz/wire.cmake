add_executable(decoder_fuzz ${CMAKE_CURRENT_LIST_DIR}/decoder_fuzz.cc ${CMAKE_CURRENT_LIST_DIR}/decoder_target.cc)
target_link_libraries(decoder_fuzz PRIVATE cellar_wire cellar_flags)
target_link_options(decoder_fuzz PRIVATE -fsanitize=fuzzer)
