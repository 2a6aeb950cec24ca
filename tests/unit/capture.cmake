# unit tests of capture/, and of the log formats that only it reads
rh_unit_test(test_csvlog SOURCES test_csvlog.c LINK rh_formats)
rh_unit_test(test_log_time SOURCES test_log_time.c LINK rh_formats)
rh_unit_test(test_logmsg SOURCES test_logmsg.c LINK rh_formats)
rh_unit_test(test_assembler SOURCES test_assembler.c capture_probe.c log_maker.c LINK rh_capture)
rh_unit_test(test_log_sessions SOURCES test_log_sessions.c capture_probe.c log_maker.c
    LINK rh_capture)
rh_unit_test(test_log_corpus SOURCES test_log_corpus.c capture_probe.c LINK rh_capture)
rh_unit_test(test_log_breaks SOURCES test_log_breaks.c capture_probe.c LINK rh_capture)
rh_unit_test(test_log_damage SOURCES test_log_damage.c capture_probe.c log_maker.c LINK rh_capture)
rh_unit_test(test_log_repeat SOURCES test_log_repeat.c log_maker.c LINK rh_capture)
rh_unit_test(test_log_files SOURCES test_log_files.c capture_probe.c log_maker.c LINK rh_capture)
rh_unit_test(test_capture_parts SOURCES test_capture_parts.c LINK rh_capture)
rh_unit_test(test_redactor SOURCES test_redactor.c LINK rh_capture)
rh_unit_test(test_log_filters SOURCES test_log_filters.c capture_probe.c log_maker.c
    LINK rh_capture)
rh_unit_test(test_wire_property SOURCES test_wire_property.c LINK rh_wire_testing)
rh_unit_test(test_packet SOURCES test_packet.c LINK rh_wire_testing)
rh_unit_test(test_wire SOURCES test_wire.c wire_script.c LINK rh_capture)
