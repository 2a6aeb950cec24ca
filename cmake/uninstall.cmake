# Removes the files of the last "cmake --install" of this build folder, and the folders it had made
# where nothing else is in them.  DESTDIR must be as it was then.
#
#     cmake -D BUILD=DIR -P uninstall.cmake
cmake_minimum_required(VERSION 3.25)

set(manifest "${BUILD}/install_manifest.txt")
set(folders "${BUILD}/install_folders.txt")
if(NOT EXISTS "${manifest}")
    message(FATAL_ERROR "Nothing to remove: ${manifest} is not there. It is written by "
        "\"cmake --install\" without --component, and removed by this target.")
endif()

set(removed 0)
file(STRINGS "${manifest}" files)
foreach(file IN LISTS files)
    set(path "$ENV{DESTDIR}${file}")
    if(NOT EXISTS "${path}" AND NOT IS_SYMLINK "${path}")
        message(STATUS "Not there: ${path}")
        continue()
    endif()
    file(REMOVE "${path}")
    if(EXISTS "${path}" OR IS_SYMLINK "${path}")
        message(FATAL_ERROR "Cannot remove ${path}: run this as the user who installed it.")
    endif()
    math(EXPR removed "${removed} + 1")
endforeach()
if(files AND removed EQUAL 0)
    message(FATAL_ERROR "None of the ${manifest}'s files is below \"$ENV{DESTDIR}/\": "
        "give DESTDIR as it was when they were installed.")
endif()

# A folder is below its parent in the order of names, so the last comes first.  rmdir refuses one with
# anything in it.
set(made "")
if(EXISTS "${folders}")
    file(STRINGS "${folders}" made)
    list(REMOVE_DUPLICATES made)
    list(SORT made ORDER DESCENDING)
endif()
foreach(folder IN LISTS made)
    if(IS_DIRECTORY "${folder}")
        execute_process(COMMAND rmdir "${folder}" ERROR_QUIET)
    endif()
endforeach()
file(REMOVE "${manifest}" "${folders}")
message(STATUS "Removed ${removed} files")
