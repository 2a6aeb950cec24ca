# unit tests of capture/
