# unit tests of common/
rh_unit_test(test_memory SOURCES test_memory.c LINK rh_common)
