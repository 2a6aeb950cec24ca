# Run by CPack between installing into its folder and packing: what Debian wants of a package beside
# the files of "cmake --install": copyright, changelogs, compressed pages.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
    return()
endif()

# The time of the package: SOURCE_DATE_EPOCH, or now.
string(TIMESTAMP date "%s" UTC)
if(DEFINED ENV{SOURCE_DATE_EPOCH})
    set(date $ENV{SOURCE_DATE_EPOCH})
endif()
execute_process(COMMAND date -u -R -d @${date}
    OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} upper)
    set(root "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}")
    set(doc "${root}/usr/share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
    file(MAKE_DIRECTORY "${doc}")
    # Debian has both at other places.
    file(REMOVE "${doc}/LICENSE" "${doc}/CHANGELOG.md")
    file(COPY_FILE "${CPACK_RH_SOURCE_DIR}/CHANGELOG.md" "${doc}/changelog")
    file(COPY_FILE "${CPACK_RH_SOURCE_DIR}/packaging/copyright" "${doc}/copyright")
    file(WRITE "${doc}/changelog.Debian"
        "pgrehearse (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n"
        "\n  * Packages of ${CPACK_PACKAGE_VERSION}; what changed is in changelog.gz.\n"
        "\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
    file(CHMOD "${doc}/changelog" "${doc}/changelog.Debian" "${doc}/copyright"
        PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
    file(GLOB_RECURSE pages "${root}/usr/share/man/*")
    # -n: no time and no name, so that the same input gives the same bytes.
    execute_process(COMMAND gzip -9n "${doc}/changelog" "${doc}/changelog.Debian" ${pages}
        COMMAND_ERROR_IS_FATAL ANY)
endforeach()
