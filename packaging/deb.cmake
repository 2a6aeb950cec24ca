# Debian packages, one a component: capture without libpq, replay without libpcap.
#
#     bash packaging/build_deb.sh [DIR]      as they are meant to be: flags of Debian, checked by lintian
#     cpack -G DEB                           in any build folder
#
# What a package depends on is found by dpkg-shlibdeps in its programs.
if(RH_SANITIZE OR RH_FUZZ)
    return()
endif()
get_property(rh_tools GLOBAL PROPERTY RH_TOOLS)
set(CPACK_COMPONENTS_ALL "")
foreach(tool IN LISTS rh_tools)
    get_target_property(component ${tool} RH_COMPONENT)
    list(APPEND CPACK_COMPONENTS_ALL ${component})
endforeach()
list(REMOVE_DUPLICATES CPACK_COMPONENTS_ALL)

set(RH_MAINTAINER "pgrehearse developers <pgrehearse@pgrehearse.invalid>" CACHE STRING
    "Name and address that packages are signed with")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME pgrehearse)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "${RH_MAINTAINER}")
set(CPACK_RESOURCE_FILE_LICENSE "${CMAKE_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/stage_deb.cmake")
set(CPACK_RH_SOURCE_DIR "${CMAKE_SOURCE_DIR}")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_FRONT_PACKAGE_NAME pgrehearse)
set(CPACK_DEBIAN_CAPTURE_PACKAGE_NAME pgrehearse-capture)
set(CPACK_DEBIAN_REPLAY_PACKAGE_NAME pgrehearse-replay)
set(CPACK_DEBIAN_DIFF_PACKAGE_NAME pgrehearse-diff)

# Each tool can be used alone on a host of its own; the front is of use with them only.
set(CPACK_DEBIAN_FRONT_PACKAGE_RECOMMENDS "pgrehearse-capture, pgrehearse-replay, pgrehearse-diff")
set(CPACK_DEBIAN_CAPTURE_PACKAGE_SUGGESTS pgrehearse)
set(CPACK_DEBIAN_REPLAY_PACKAGE_RECOMMENDS pgrehearse)
set(CPACK_DEBIAN_DIFF_PACKAGE_RECOMMENDS pgrehearse)

set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "rehearse a change of a PostgreSQL server")
set(rh_about "pgrehearse captures what a PostgreSQL server did, replays it on the server
that shall take its place, and tells which queries got slower or began to
fail.\n\n")
set(CPACK_DEBIAN_FRONT_DESCRIPTION "${rh_about}\
This package has the command pgrehearse, which runs the other programs and
tells what their files hold, and the documentation.")
set(CPACK_DEBIAN_CAPTURE_DESCRIPTION "${rh_about}\
This package makes a trace of production's workload, of its log or of what
goes over the wire. It needs no PostgreSQL library.")
set(CPACK_DEBIAN_REPLAY_DESCRIPTION "${rh_about}\
This package replays a trace on a server and records what came of each
statement.")
set(CPACK_DEBIAN_DIFF_DESCRIPTION "${rh_about}\
This package compares two replays, query by query, and can fail a CI job.")
include(CPack)
