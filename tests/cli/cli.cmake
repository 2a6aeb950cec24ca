# One ctest test a case; a new case needs a new run of CMake.
file(GLOB rh_cli_cases CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/cli/cases/*.sh")
foreach(path ${rh_cli_cases})
    get_filename_component(name "${path}" NAME_WE)
    add_test(NAME cli.${name}
        COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/cli/run.sh" "${CMAKE_BINARY_DIR}/bin" ${name})
    set_tests_properties(cli.${name} PROPERTIES LABELS cli TIMEOUT 120)
endforeach()
