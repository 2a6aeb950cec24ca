# What is installed: pages, completion, files and their removal, version, packages.
foreach(name man completion tree version packages)
    add_test(NAME install.${name} COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/install/${name}.sh")
    set_tests_properties(install.${name} PROPERTIES
        LABELS install TIMEOUT 300 SKIP_RETURN_CODE 77
        ENVIRONMENT "RH_BIN=${CMAKE_BINARY_DIR}/bin;RH_BUILD=${CMAKE_BINARY_DIR};RH_SOURCE=${CMAKE_SOURCE_DIR}")
endforeach()
# Both write the build folder's list of what was installed, or its packages.
set_tests_properties(install.tree install.packages install.completion PROPERTIES
    RESOURCE_LOCK install_manifest)
