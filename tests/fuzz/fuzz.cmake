# libFuzzer targets, one file of them for each part. Their seeds are in seeds/, by the name of the target.
foreach(part wire output notebook eval serve)
  include(${CMAKE_CURRENT_LIST_DIR}/${part}.cmake)
endforeach()
