# unit tests of replay/
