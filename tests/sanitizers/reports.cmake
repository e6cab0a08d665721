# Reports may be those of processes whose end no test sees, a daemon's for one, or takes for that of a cell. So they are
# gathered in a directory, which is emptied before the first test and has to be empty after the last one.
set(reports ${CMAKE_CURRENT_LIST_DIR}/reports ${CELLAR_SANITIZER_REPORTS})
add_test(NAME sanitizer_no_reports_yet COMMAND ${reports} empty)
set_tests_properties(sanitizer_no_reports_yet PROPERTIES FIXTURES_SETUP sanitizer_reports)
add_test(NAME sanitizer_reports_test COMMAND ${reports} show)
set_tests_properties(sanitizer_reports_test PROPERTIES FIXTURES_CLEANUP sanitizer_reports)
