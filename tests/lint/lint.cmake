# tests of this kind
