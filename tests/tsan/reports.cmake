# Reports may be those of processes whose end no test sees, a daemon's for one. So they are gathered in a directory, which
# is emptied before the first test and has to be empty after the last one.
add_test(NAME tsan_no_reports_yet COMMAND ${CMAKE_CURRENT_LIST_DIR}/reports ${CELLAR_TSAN_REPORTS} empty)
set_tests_properties(tsan_no_reports_yet PROPERTIES FIXTURES_SETUP tsan_reports)
add_test(NAME tsan_reports_test COMMAND ${CMAKE_CURRENT_LIST_DIR}/reports ${CELLAR_TSAN_REPORTS} show)
set_tests_properties(tsan_reports_test PROPERTIES FIXTURES_CLEANUP tsan_reports)
