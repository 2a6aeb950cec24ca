# The style and the scripts of the HTML report become arrays in a source file.  The order is that in
# which they are put together.
set(rh_html_files format dom model overview impact scatter timeline dimensions plans detail queries errors main)
list(TRANSFORM rh_html_files REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/html/\\1.js"
    OUTPUT_VARIABLE rh_html_scripts)
set(rh_html_style "${CMAKE_CURRENT_SOURCE_DIR}/html/page.css")
set(rh_html_source "${CMAKE_CURRENT_BINARY_DIR}/html_assets.c")
add_custom_command(OUTPUT "${rh_html_source}"
    COMMAND "${CMAKE_COMMAND}" -D "OUTPUT=${rh_html_source}" -D HEADER=diff/html_assets.h
        -D "STYLE=${rh_html_style}" -D "SCRIPT=${rh_html_scripts}"
        -P "${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake"
    DEPENDS ${rh_html_scripts} "${rh_html_style}" "${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake"
    VERBATIM)
