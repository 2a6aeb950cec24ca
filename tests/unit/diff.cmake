# unit tests of diff/
rh_unit_test(test_pair_table SOURCES test_pair_table.c LINK rh_diff)
rh_unit_test(test_diff_human SOURCES test_diff_human.c LINK rh_diff)
