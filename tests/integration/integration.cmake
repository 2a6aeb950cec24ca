# Tests with real servers, each with a temporary folder of its own.
function(rh_integration_command name)
    add_test(NAME integration.${name} COMMAND ${ARGN})
    set_tests_properties(integration.${name} PROPERTIES
        LABELS integration TIMEOUT 420 SKIP_RETURN_CODE 77
        ENVIRONMENT "RH_BIN=${CMAKE_BINARY_DIR}/bin")
endfunction()

# NAME.sh, of this folder.
function(rh_integration_test name)
    rh_integration_command(${name} bash "${CMAKE_CURRENT_SOURCE_DIR}/integration/${name}.sh")
endfunction()

# Whole rehearsals through the commands, each with a server and a temporary folder of its own.  The
# limit is far above what they take; it ends what would hang.
if(RH_SANITIZE)
    set(rh_tpcb TPCB_TRANSACTIONS=15 TPCB_PAIRS=some)
else()
    set(rh_tpcb TPCB_TRANSACTIONS=30)
endif()
foreach(name tpcb damage lock demo)
    add_test(NAME integration.${name} COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/integration/${name}.sh")
    set_tests_properties(integration.${name} PROPERTIES
        LABELS integration TIMEOUT 600 SKIP_RETURN_CODE 77
        ENVIRONMENT "RH_BIN=${CMAKE_BINARY_DIR}/bin;${rh_tpcb}")
endforeach()

# Whether the verdict holds; alone, since other tests are noise to it.
if(RH_BUILD_CAPTURE AND RH_BUILD_REPLAY AND RH_BUILD_DIFF)
    rh_integration_command(aa bash "${CMAKE_CURRENT_SOURCE_DIR}/bench/aa.sh" --short "${CMAKE_BINARY_DIR}/bin")
    set_tests_properties(integration.aa PROPERTIES RUN_SERIAL TRUE TIMEOUT 600)
endif()

# Connections by themselves, without the commands.
if(RH_BUILD_REPLAY)
    add_executable(wire_client integration/wire_client.c)
    rh_no_lto(wire_client)
    target_link_libraries(wire_client PRIVATE rh_replay)
    rh_integration_test(wire)
endif()

# The engine by itself, on traces made from lines of text.
if(RH_BUILD_REPLAY)
    add_executable(replay_trace integration/replay_trace.c)
    rh_no_lto(replay_trace)
    target_link_libraries(replay_trace PRIVATE rh_formats)
    foreach(name cancel facts lock lost many order preflight protocol reconnect scale session stop window)
        rh_integration_test(replay_${name})
    endforeach()
    if(RH_BUILD_DIFF)
        rh_integration_test(explain)
    endif()
    # Many sessions once more, as where io_uring is not permitted.
    add_executable(without_uring integration/without_uring.c)
    rh_no_lto(without_uring)
    target_link_libraries(without_uring PRIVATE rh_flags)
    rh_integration_command(without_uring without_uring
        bash "${CMAKE_CURRENT_SOURCE_DIR}/integration/replay_many.sh")
    # Most of the time goes into the server's processes: hundreds once, fewer where it is run again.
    set_property(TEST integration.without_uring APPEND PROPERTY ENVIRONMENT RH_MANY_SESSIONS=200)
    if(RH_SANITIZE MATCHES "thread")
        set_property(TEST integration.replay_many APPEND PROPERTY ENVIRONMENT RH_MANY_SESSIONS=200)
    endif()
endif()

# The null server, by itself and under a replay.
if(RH_BUILD_REPLAY)
    foreach(name calibrate server sessions)
        rh_integration_test(null_${name})
    endforeach()
endif()

# The capture from the wire: below its packets, and from files of tcpdump.
if(RH_BUILD_CAPTURE)
    add_executable(wire_relay integration/wire_relay.c)
    rh_no_lto(wire_relay)
    target_link_libraries(wire_relay PRIVATE rh_capture)
    foreach(name capture tcpdump)
        rh_integration_test(wire_${name})
    endforeach()
endif()

# What clients say, and what a replay says in their place.
if(RH_BUILD_CAPTURE AND RH_BUILD_REPLAY)
    foreach(program wire_messages wire_talker)
        add_executable(${program} integration/${program}.c)
        rh_no_lto(${program})
        target_link_libraries(${program} PRIVATE rh_capture)
    endforeach()
    add_executable(wire_mangled integration/wire_mangled.c)
    rh_no_lto(wire_mangled)
    target_link_libraries(wire_mangled PRIVATE rh_wire_variants)
    foreach(name drivers wire steps)
        rh_integration_test(replay_${name})
    endforeach()
endif()

# Live captures, by the command.
if(RH_BUILD_CAPTURE AND RH_BUILD_REPLAY)
    foreach(name live live_rotate)
        rh_integration_test(wire_${name})
    endforeach()
endif()
