# cmake -D OUTPUT=x.c -D HEADER=x.h -D "STYLE=a.css" -D "SCRIPT=b.js;c.js" -P embed_files.cmake
#
# Files as arrays of C: rh_html_style and rh_html_script, each with its length.
set(source "/* Made by cmake/embed_files.cmake. */\n#include \"${HEADER}\"\n")
foreach(part style script)
    string(TOUPPER "${part}" list)
    set(bytes "")
    foreach(file ${${list}})
        file(READ "${file}" hex HEX)
        string(APPEND bytes "${hex}")
    endforeach()
    string(LENGTH "${bytes}" digits)
    math(EXPR length "${digits} / 2")
    # Lines of 24 bytes; a char may be signed, and the files are ASCII.
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REPEAT "....." 24 line)
    string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
    string(APPEND source "const char rh_html_${part}[] = {\n${bytes}\n};\n"
        "const size_t rh_html_${part}_len = ${length};\n")
endforeach()
file(WRITE "${OUTPUT}" "${source}")
