# unit tests of formats/
