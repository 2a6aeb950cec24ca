# unit tests of diff/
rh_unit_test(test_index_map SOURCES test_index_map.c LINK rh_diff)
rh_unit_test(test_pair_table SOURCES test_pair_table.c LINK rh_diff)
rh_unit_test(test_diff_human SOURCES test_diff_human.c LINK rh_diff)
rh_unit_test(test_observation SOURCES test_observation.c LINK rh_diff)
rh_unit_test(test_comparison SOURCES test_comparison.c diff_fixture.c LINK rh_diff)
rh_unit_test(test_comparison_random SOURCES test_comparison_random.c diff_fixture.c LINK rh_diff)
rh_unit_test(test_gates SOURCES test_gates.c diff_fixture.c LINK rh_diff)
rh_unit_test(test_diff_command SOURCES test_diff_command.c diff_fixture.c LINK rh_diff)
