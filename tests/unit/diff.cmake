# unit tests of diff/
