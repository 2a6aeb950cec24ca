# rh_library(NAME SOURCES a.c b.c LINK lib...): a static library of one layer.
function(rh_library name)
    cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC rh_flags ${ARG_LINK})
endfunction()

# rh_tool(NAME SOURCES main.c LINK lib...): an installed program.
function(rh_tool name)
    cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE rh_flags ${ARG_LINK})
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    set_property(GLOBAL APPEND PROPERTY RH_TOOLS ${name})
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

# Version header: the release number and, in a git checkout, the commit.
set(RH_COMMIT "")
find_program(RH_GIT git)
if(RH_GIT AND EXISTS "${CMAKE_SOURCE_DIR}/.git")
    execute_process(COMMAND ${RH_GIT} -C "${CMAKE_SOURCE_DIR}" rev-parse --short=12 HEAD
        OUTPUT_VARIABLE RH_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
configure_file("${CMAKE_SOURCE_DIR}/cmake/version.h.in"
    "${CMAKE_BINARY_DIR}/generated/rh_version.h" @ONLY)
