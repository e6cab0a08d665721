# What `cmake --install` gives: the two programs, one library with its headers, and the CMake package by which other
# projects find it: find_package(cellar), target_link_libraries(x cellar::cellar).
include(CMakePackageConfigHelpers)

set(cellar_include_dir ${CMAKE_INSTALL_INCLUDEDIR}/cellar-${PROJECT_VERSION})
set(cellar_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cellar)
set(cellar_libexec_dir ${CMAKE_INSTALL_LIBEXECDIR}/cellar)

# The folders' libraries as one archive: users link one thing, and their order is nobody's concern.
find_package(PkgConfig REQUIRED)
pkg_check_modules(GUMBO REQUIRED IMPORTED_TARGET gumbo)
add_library(cellar_archive STATIC)
set_target_properties(cellar_archive PROPERTIES OUTPUT_NAME cellar EXPORT_NAME cellar LINKER_LANGUAGE CXX)
get_property(cellar_libraries GLOBAL PROPERTY CELLAR_LIBRARIES)
foreach(library IN LISTS cellar_libraries)
  target_sources(cellar_archive PRIVATE $<TARGET_OBJECTS:${library}>)
endforeach()
target_compile_features(cellar_archive INTERFACE cxx_std_20)
target_include_directories(cellar_archive INTERFACE $<INSTALL_INTERFACE:${cellar_include_dir}>)
target_link_libraries(cellar_archive INTERFACE
  absl::status absl::statusor absl::strings absl::synchronization absl::time nlohmann_json::nlohmann_json
  PkgConfig::GUMBO Threads::Threads)

install(TARGETS cellar RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(NOT CELLAR_WORKER_PROGRAM)
  install(TARGETS cellar_worker RUNTIME DESTINATION ${cellar_libexec_dir})
endif()
if(TARGET cellar_worker_shared)
  install(TARGETS cellar_worker_shared RUNTIME DESTINATION ${cellar_libexec_dir})
endif()
install(TARGETS cellar_archive EXPORT cellar ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/host/library/cellar DESTINATION ${cellar_include_dir})
# Notebooks, and what runs them.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/notebook DESTINATION ${cellar_include_dir} FILES_MATCHING PATTERN "*.h")
# Those that the headers above include, with what these include in turn: data, and no more of the host.
foreach(header bridge/provider bridge/reply bridge/tool_set output/stream output/truncation runtime/environment
        runtime/snapshot_policy session/cell_observer session/kept_snapshots session/outcome session/standing wire/display
        wire/message_type wire/position worker/worker_exit)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/host/${header}.h DESTINATION ${cellar_include_dir}/host/${folder})
endforeach()

install(EXPORT cellar NAMESPACE cellar:: FILE cellarTargets.cmake DESTINATION ${cellar_package_dir})
set(cellar_worker_program ${cellar_libexec_dir}/cellar-worker-${CELLAR_PYTHON_MINOR})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/cellarConfig.cmake.in ${CMAKE_BINARY_DIR}/cellarConfig.cmake
  INSTALL_DESTINATION ${cellar_package_dir}
  PATH_VARS cellar_worker_program)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cellarConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/cellarConfig.cmake ${CMAKE_BINARY_DIR}/cellarConfigVersion.cmake
        DESTINATION ${cellar_package_dir})
