# Whole rehearsals through the commands, each with a server and a temporary folder of its own.  The
# limit is far above what they take; it ends what would hang.
foreach(name tpcb damage lock demo)
    add_test(NAME integration.${name} COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/integration/${name}.sh")
    set_tests_properties(integration.${name} PROPERTIES
        LABELS integration TIMEOUT 420 SKIP_RETURN_CODE 77
        ENVIRONMENT "RH_BIN=${CMAKE_BINARY_DIR}/bin")
endforeach()

# Connections by themselves, without the commands.
if(RH_BUILD_REPLAY)
    add_executable(wire_client integration/wire_client.c)
    target_link_libraries(wire_client PRIVATE rh_replay)
    add_test(NAME integration.wire COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/integration/wire.sh")
    set_tests_properties(integration.wire PROPERTIES
        LABELS integration TIMEOUT 420 SKIP_RETURN_CODE 77
        ENVIRONMENT "RH_BIN=${CMAKE_BINARY_DIR}/bin")
endif()
