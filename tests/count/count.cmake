# What is counted and must not grow: instructions, system calls, and calls for memory.
set(rh_optimised 0)
if(CMAKE_BUILD_TYPE MATCHES "^Rel" AND NOT RH_SANITIZE AND NOT RH_FUZZ)
    set(rh_optimised 1)
endif()
foreach(name trace capture wire replay)
    add_test(NAME count.${name} COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/count/${name}.sh")
    set_tests_properties(count.${name} PROPERTIES
        LABELS count TIMEOUT 300 SKIP_RETURN_CODE 77
        ENVIRONMENT "RH_BIN=${CMAKE_BINARY_DIR}/bin;RH_OPTIMISED=${rh_optimised}")
endforeach()
