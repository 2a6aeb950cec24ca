# cmake -D SOURCE=x.1.in -D OUTPUT=x.1 -D VERSION=V [-D PROGRAM=P -D ARGUMENTS=A] -P write_page.cmake
cmake_minimum_required(VERSION 3.25)

file(READ "${SOURCE}" page)
if(page MATCHES "@OPTIONS@\n")
    execute_process(COMMAND "${PROGRAM}" ${ARGUMENTS} --man-options
        OUTPUT_VARIABLE options COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "@OPTIONS@\n" "${options}" page "${page}")
endif()
string(REPLACE "@VERSION@" "${VERSION}" page "${page}")
file(WRITE "${OUTPUT}" "${page}")
