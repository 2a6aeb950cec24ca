# What is counted and must not grow: instructions.
set(rh_optimised 0)
if(CMAKE_BUILD_TYPE MATCHES "^Rel" AND NOT RH_SANITIZE AND NOT RH_FUZZ)
    set(rh_optimised 1)
endif()
add_test(NAME count.trace COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/count/trace.sh")
set_tests_properties(count.trace PROPERTIES
    LABELS count TIMEOUT 300 SKIP_RETURN_CODE 77
    ENVIRONMENT "RH_BIN=${CMAKE_BINARY_DIR}/bin;RH_OPTIMISED=${rh_optimised}")
