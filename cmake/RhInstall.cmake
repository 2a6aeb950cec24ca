# Where files are installed, and how they are removed again.  Every install() names a component: one of
# the folders front, capture, replay and diff, each of which is a package.
set(RH_INSTALL_COMPLETIONDIR "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
    CACHE STRING "Folder of the bash completions")
mark_as_advanced(RH_INSTALL_COMPLETIONDIR)

# The first rule to run: what it notes is what "uninstall" may remove beside the files.
set(rh_destinations "${CMAKE_INSTALL_BINDIR}" "${CMAKE_INSTALL_MANDIR}/man1"
    "${CMAKE_INSTALL_MANDIR}/man5" "${RH_INSTALL_COMPLETIONDIR}"
    "${CMAKE_INSTALL_DOCDIR}/docs" "${CMAKE_INSTALL_DOCDIR}/formats"
    "${CMAKE_INSTALL_DOCDIR}/samples")
configure_file("${CMAKE_CURRENT_LIST_DIR}/note_folders.cmake.in"
    "${CMAKE_BINARY_DIR}/note_folders.cmake" @ONLY)
install(SCRIPT "${CMAKE_BINARY_DIR}/note_folders.cmake" ALL_COMPONENTS)
add_custom_target(uninstall
    COMMAND "${CMAKE_COMMAND}" -D "BUILD=${CMAKE_BINARY_DIR}"
        -P "${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake"
    COMMENT "Removing what was installed" VERBATIM USES_TERMINAL)

# As they lie in the source tree, since they point to each other.
file(GLOB rh_pages CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/docs/*.md"
    "${CMAKE_SOURCE_DIR}/docs/*.schema.json")
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT front)
install(FILES ${rh_pages} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT front)
install(FILES samples/gates.ini DESTINATION ${CMAKE_INSTALL_DOCDIR}/samples COMPONENT front)
install(FILES formats/FORMAT.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/formats COMPONENT front)
