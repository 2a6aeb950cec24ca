# unit tests of common/
rh_unit_test(test_memory SOURCES test_memory.c LINK rh_common)
rh_unit_test(test_loop SOURCES test_loop.c LINK rh_common)
