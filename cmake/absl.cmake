# Abseil as it is on the system, but from its archives where there are any: the program starts anew for every
# `cellar eval -s`, and two dozen libraries less to load and relocate are milliseconds.
find_package(absl REQUIRED)

get_property(imported DIRECTORY PROPERTY IMPORTED_TARGETS)
foreach(target IN LISTS imported)
  if(target MATCHES "^absl::")
    get_target_property(library ${target} IMPORTED_LOCATION_NONE)
    if(library)
      string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive "${library}")
      if(EXISTS "${archive}")
        set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_NONE "${archive}")
      endif()
    endif()
  endif()
endforeach()
