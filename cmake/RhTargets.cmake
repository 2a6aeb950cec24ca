# rh_library(NAME SOURCES a.c b.c LINK lib...): a static library of one layer.
function(rh_library name)
    cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC rh_flags ${ARG_LINK})
endfunction()

# rh_tool(NAME SOURCES main.c LINK lib...): an installed program, with its completion.  Its component,
# and so its package, is named after the top-level folder; its manual page is found by its name.
function(rh_tool name)
    cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE rh_flags ${ARG_LINK})
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${CMAKE_SOURCE_DIR}"
        OUTPUT_VARIABLE component)
    string(REGEX REPLACE "/.*" "" component "${component}")
    set_target_properties(${name} PROPERTIES RH_COMPONENT ${component})
    set_property(GLOBAL APPEND PROPERTY RH_TOOLS ${name})
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component})
    install(FILES "${CMAKE_SOURCE_DIR}/front/completion.bash" RENAME ${name}
        DESTINATION ${RH_INSTALL_COMPLETIONDIR} COMPONENT ${component})
endfunction()

# rh_no_lto(TARGET): a program that nobody measures or installs is linked without link-time
# optimisation.
function(rh_no_lto target)
    if(rh_fat_lto)
        set_property(TARGET ${target} PROPERTY INTERPROCEDURAL_OPTIMIZATION OFF)
        target_link_options(${target} PRIVATE -fno-lto)
    endif()
endfunction()

# rh_unit_test(NAME SOURCES test_x.c LINK lib...): a cmocka program run by ctest.
function(rh_unit_test name)
    cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINK" ${ARGN})
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 180)
    endif()
    add_executable(${name} ${ARG_SOURCES})
    rh_no_lto(${name})
    target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests/unit")
    target_link_libraries(${name} PRIVATE rh_flags ${ARG_LINK} PkgConfig::CMOCKA)
    target_compile_definitions(${name} PRIVATE
        RH_SOURCE_DIR="${CMAKE_SOURCE_DIR}" RH_DATA_DIR="${RH_DATA_DIR}")
    add_test(NAME unit.${name} COMMAND ${name})
    set_tests_properties(unit.${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS unit
        SKIP_REGULAR_EXPRESSION "ALL TESTS SKIPPED")
endfunction()

# Log files and captures of the wild, beside the checkout; tests that need them are skipped without.
set(RH_DATA_DIR "${CMAKE_SOURCE_DIR}/../shared/data" CACHE PATH "Corpus for tests")

# The version's header.  In a build that may be installed it is looked at in every build, so that the
# commit it tells is the one that is built.  A build for developers tells none: a commit must not link every
# test again.
set(rh_version_header "${CMAKE_BINARY_DIR}/generated/rh_version.h")
set(rh_write_version_arguments -D "SOURCE=${CMAKE_SOURCE_DIR}" -D "OUTPUT=${rh_version_header}"
    -P "${CMAKE_SOURCE_DIR}/cmake/write_version.cmake")
set(rh_write_version "${CMAKE_COMMAND}" ${rh_write_version_arguments})
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    execute_process(COMMAND "${CMAKE_COMMAND}" -D NO_COMMIT=ON ${rh_write_version_arguments}
        COMMAND_ERROR_IS_FATAL ANY)
else()
    execute_process(COMMAND ${rh_write_version} COMMAND_ERROR_IS_FATAL ANY)
    add_custom_target(rh_version COMMAND ${rh_write_version}
        BYPRODUCTS "${rh_version_header}" COMMENT "Looking at the commit" VERBATIM)
    add_dependencies(rh_flags rh_version)
endif()
