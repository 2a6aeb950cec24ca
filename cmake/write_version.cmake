# Writes the header with the release number and the commit, and touches it only when they changed.
#
#     cmake [-D NO_COMMIT=ON] -D SOURCE=DIR -D OUTPUT=FILE -P write_version.cmake
#
# The commit is asked of git in a checkout, and stands in cmake/commit.txt in what "git archive" made;
# elsewhere there is none.
cmake_minimum_required(VERSION 3.25)

file(READ "${SOURCE}/VERSION" RH_VERSION)
string(STRIP "${RH_VERSION}" RH_VERSION)
set(RH_COMMIT "")
file(STRINGS "${SOURCE}/cmake/commit.txt" exported REGEX "^[0-9a-f]+$" LIMIT_COUNT 1)
if(NO_COMMIT)
    # Only the release number.
elseif(exported)
    string(SUBSTRING "${exported}" 0 12 RH_COMMIT)
elseif(EXISTS "${SOURCE}/.git")
    find_program(RH_GIT git)
    if(RH_GIT)
        # No tag is wanted: the release number comes from VERSION.
        execute_process(
            COMMAND "${RH_GIT}" -C "${SOURCE}" describe --always --dirty --abbrev=12 "--exclude=*"
            OUTPUT_VARIABLE RH_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
endif()
configure_file("${CMAKE_CURRENT_LIST_DIR}/version.h.in" "${OUTPUT}" @ONLY)
