# unit tests of formats/
rh_unit_test(test_pg_write SOURCES test_pg_write.c LINK rh_formats)
rh_unit_test(test_pg_scan SOURCES test_pg_scan.c LINK rh_formats)
rh_unit_test(test_pg_message SOURCES test_pg_message.c LINK rh_formats)
rh_unit_test(test_trace_roundtrip SOURCES test_trace_roundtrip.c LINK rh_formats m)
rh_unit_test(test_mp SOURCES test_mp.c LINK rh_formats m)
rh_unit_test(test_columns SOURCES test_columns.c LINK rh_formats m)
rh_unit_test(test_trace_recovery SOURCES test_trace_recovery.c LINK rh_formats m)
