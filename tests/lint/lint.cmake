# Checks of the source tree; tests/lint/run.sh runs the same without a build.
foreach(check IN ITEMS checks layers headers names sizes format)
    add_test(NAME lint.${check} COMMAND "${CMAKE_CURRENT_LIST_DIR}/check_${check}.sh")
    set_tests_properties(lint.${check} PROPERTIES
        LABELS lint SKIP_RETURN_CODE 77 ENVIRONMENT "CC=${CMAKE_C_COMPILER}")
endforeach()
