# One interface target carries the language level, warnings and sanitizers of every target.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(rh_flags INTERFACE)
target_include_directories(rh_flags INTERFACE "${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}/generated")
target_compile_definitions(rh_flags INTERFACE _GNU_SOURCE)
target_compile_options(rh_flags INTERFACE
    -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wundef
    -Wwrite-strings -Wvla -Wimplicit-fallthrough -Wformat=2 -Wconversion -Wno-sign-conversion
    -fno-omit-frame-pointer)
if(RH_WERROR)
    target_compile_options(rh_flags INTERFACE -Werror)
endif()
if(RH_SANITIZE)
    list(JOIN RH_SANITIZE "," rh_sanitize_list)
    target_compile_options(rh_flags INTERFACE
        -fsanitize=${rh_sanitize_list} -fno-sanitize-recover=all)
    target_link_options(rh_flags INTERFACE -fsanitize=${rh_sanitize_list})
endif()
if(RH_FUZZ)
    target_compile_options(rh_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# What is installed tells nothing of the folder it was built in, so that two builds are the same.
# With link-time optimisation the linker writes debug information too.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    # The last one that fits counts.
    set(rh_prefix_map
        "-ffile-prefix-map=${CMAKE_SOURCE_DIR}=." "-ffile-prefix-map=${CMAKE_BINARY_DIR}=build")
    target_compile_options(rh_flags INTERFACE ${rh_prefix_map})
    target_link_options(rh_flags INTERFACE ${rh_prefix_map})
endif()

if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT RH_SANITIZE AND NOT RH_FUZZ)
    include(CheckIPOSupported)
    check_ipo_supported(RESULT rh_have_lto OUTPUT rh_lto_reason LANGUAGES C)
    if(rh_have_lto)
        set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
        # Objects hold machine code too: test programs link with that, in a tenth of the time
        # (rh_no_lto() in RhTargets.cmake).
        if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
            set(rh_fat_lto ON)
            target_compile_options(rh_flags INTERFACE -ffat-lto-objects)
        endif()
    endif()
endif()
