# unit tests of front/
rh_unit_test(test_front SOURCES test_front.c LINK rh_front)
rh_unit_test(test_record_json SOURCES test_record_json.c LINK rh_front)
