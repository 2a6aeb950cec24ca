# unit tests of replay/
rh_unit_test(test_conninfo SOURCES test_conninfo.c LINK rh_replay)
rh_unit_test(test_connector SOURCES test_connector.c fake_server.c LINK rh_replay)
rh_unit_test(test_time_map SOURCES test_time_map.c LINK rh_replay)
rh_unit_test(test_exchange SOURCES test_exchange.c LINK rh_replay)
rh_unit_test(test_opener SOURCES test_opener.c LINK rh_replay)
rh_unit_test(test_prepared SOURCES test_prepared.c LINK rh_replay)
rh_unit_test(test_request SOURCES test_request.c LINK rh_replay)
rh_unit_test(test_plan_window SOURCES test_plan_window.c LINK rh_replay)
