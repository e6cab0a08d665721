# libFuzzer targets, one file of them for each part. Seeds are in the unit tests of the parts.
foreach(part wire output notebook eval serve)
  include(${CMAKE_CURRENT_LIST_DIR}/${part}.cmake)
endforeach()
