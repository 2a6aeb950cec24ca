# Reports of pgrehearse diff on runs that are made for it.
add_executable(report_files report/report_files.c report/run_pair.c)
rh_no_lto(report_files)
target_link_libraries(report_files PRIVATE rh_formats m)
add_test(NAME report.page COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/report/page.sh")
set_tests_properties(report.page PROPERTIES LABELS report TIMEOUT 600 SKIP_RETURN_CODE 77
    ENVIRONMENT "RH_BIN=${CMAKE_BINARY_DIR}/bin")
add_test(NAME report.formats COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/report/formats.sh")
set_tests_properties(report.formats PROPERTIES LABELS report TIMEOUT 600
    ENVIRONMENT "RH_BIN=${CMAKE_BINARY_DIR}/bin")
