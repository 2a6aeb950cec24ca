# unit tests of front/
