# unit tests of replay/
rh_unit_test(test_conninfo SOURCES test_conninfo.c LINK rh_replay)
rh_unit_test(test_connector SOURCES test_connector.c fake_server.c LINK rh_replay)
