# The functions by which every folder declares its targets and tests.

add_library(cellar_flags INTERFACE)
target_include_directories(cellar_flags INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
target_compile_options(cellar_flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers
                       $<$<BOOL:${CELLAR_WERROR}>:-Werror>)
# Every library that is loaded and not used costs start-up time.
target_link_options(cellar_flags INTERFACE -Wl,--as-needed)
target_compile_definitions(cellar_flags INTERFACE CELLAR_VERSION="${PROJECT_VERSION}")

# cellar_library(cellar_wire SOURCES frame.cc ring.cc DEPS cellar_base absl::status)
function(cellar_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE $<BUILD_INTERFACE:cellar_flags>)
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  set_property(GLOBAL APPEND PROPERTY CELLAR_LIBRARIES ${name})
endfunction()

# How many times as long as usual tests may take. A sanitizer takes time of its own; what it reports of processes whose
# end or stderr no test sees, it writes to a directory.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  set(CELLAR_TEST_SLOWNESS 5)
  set(CELLAR_SANITIZER_REPORTS ${CMAKE_BINARY_DIR}/reports)
else()
  set(CELLAR_TEST_SLOWNESS 1)
endif()

# cellar_test(wire_frame_test SOURCES wire/frame_test.cc DEPS cellar_wire LABEL unit [TIMEOUT 60] [LOCK NAME] [PER_CASE] [WORKER])
# One ctest entry per file; with PER_CASE one per test case, so that each runs in a process of its own. Of tests with
# the same LOCK one runs at a time. WORKER is for tests that start the worker program.
function(cellar_test name)
  cmake_parse_arguments(ARG "PER_CASE;WORKER" "LABEL;LOCK;TIMEOUT" "SOURCES;DEPS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  math(EXPR ARG_TIMEOUT "${CELLAR_TEST_SLOWNESS} * ${ARG_TIMEOUT}")
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} cellar_flags GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  set(properties LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
  if(CELLAR_SANITIZER_REPORTS)
    list(APPEND properties FIXTURES_REQUIRED sanitizer_reports)
  endif()
  if(ARG_LOCK)
    list(APPEND properties RESOURCE_LOCK ${ARG_LOCK})
  endif()
  if(ARG_WORKER)
    add_dependencies(${name} cellar_worker)
    list(APPEND properties ENVIRONMENT CELLAR_WORKER=$<TARGET_FILE:cellar_worker>)
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=[^ ]*address")
      # Python's own allocator would hide most mistakes.
      list(APPEND properties ENVIRONMENT_MODIFICATION PYTHONMALLOC=set:malloc)
    endif()
  endif()
  if(ARG_PER_CASE)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES ${properties})
  else()
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ${properties})
  endif()
endfunction()

# cellar_command_test(cli_eval_test COMMAND ${Python3_EXECUTABLE} test_eval.py LABEL e2e TIMEOUT 180 [ENVIRONMENT K=V...]
#                     [LONG] [SKIP_CODE 77])
# With LONG it is run by `ctest -C long` only.
function(cellar_command_test name)
  cmake_parse_arguments(ARG "LONG" "LABEL;TIMEOUT;SKIP_CODE" "COMMAND;ENVIRONMENT" ${ARGN})
  math(EXPR ARG_TIMEOUT "${CELLAR_TEST_SLOWNESS} * ${ARG_TIMEOUT}")
  set(when)
  if(ARG_LONG)
    set(when CONFIGURATIONS long)
  endif()
  add_test(NAME ${name} ${when} COMMAND ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT}
                       ENVIRONMENT "CELLAR_TEST_SLOWNESS=${CELLAR_TEST_SLOWNESS};${ARG_ENVIRONMENT}")
  if(CELLAR_SANITIZER_REPORTS)
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED sanitizer_reports)
  endif()
  if(ARG_SKIP_CODE)
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE ${ARG_SKIP_CODE})
  endif()
endfunction()
