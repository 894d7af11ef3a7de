# SPDX-License-Identifier: MIT
# The command, and the libraries that it shares with the tests.

# checks: file formats and numerical checks. toolkit: with the laboratory. Shared by the
# command and the tests, not installed.
if(ATTEND_TOOL OR ATTEND_TESTS OR ATTEND_FUZZ)
    find_path(JANSSON_INCLUDE_DIR jansson.h)
    # The archive first, so that the command runs on machines without jansson.
    find_library(JANSSON_LIBRARY NAMES libjansson.a jansson)
    if(NOT JANSSON_INCLUDE_DIR OR NOT JANSSON_LIBRARY)
        message(FATAL_ERROR "jansson is missing (Debian: libjansson-dev); "
            "-DATTEND_TOOL=OFF builds the library alone")
    endif()
    # The check of 2^x over all floats uses the parallel loop of the laboratory.
    file(GLOB checks_sources CONFIGURE_DEPENDS src/io/*.c tools/check/*.c)
    add_library(checks STATIC EXCLUDE_FROM_ALL ${checks_sources} lab/measure/parallel.c)
    target_include_directories(checks PUBLIC src . tools ${JANSSON_INCLUDE_DIR})
    target_link_libraries(checks PUBLIC attend_flags attend_static ${JANSSON_LIBRARY} m)
    add_library(toolkit INTERFACE)
    target_link_libraries(toolkit INTERFACE checks laboratory)
endif()

if(ATTEND_TOOL)
    find_path(PNG_INCLUDE_DIR png.h)
    find_library(PNG_LIBRARY NAMES libpng.a png)
    find_library(ZLIB_LIBRARY NAMES libz.a z)
    if(NOT PNG_INCLUDE_DIR OR NOT PNG_LIBRARY OR NOT ZLIB_LIBRARY)
        message(FATAL_ERROR "libpng is missing (Debian: libpng-dev); "
            "-DATTEND_TOOL=OFF builds the library alone")
    endif()
    file(GLOB tool_sources CONFIGURE_DEPENDS tools/*.c tools/*/*.c)
    list(REMOVE_ITEM tool_sources ${checks_sources}
        ${PROJECT_SOURCE_DIR}/tools/document/lab_document.c
        ${PROJECT_SOURCE_DIR}/tools/grade/autograder_main.c)
    add_executable(attend_tool ${tool_sources})
    set_target_properties(attend_tool PROPERTIES OUTPUT_NAME attend)
    target_include_directories(attend_tool SYSTEM PRIVATE ${PNG_INCLUDE_DIR})
    # The library of an MPI is opened at run time.
    set_property(SOURCE tools/shared/ranks.c PROPERTY COMPILE_DEFINITIONS
        ATTEND_LIBRARY_DIR="${CMAKE_INSTALL_LIBDIR}")
    target_link_libraries(attend_tool PRIVATE toolkit ${PNG_LIBRARY} ${ZLIB_LIBRARY} m
        ${CMAKE_DL_LIBS})
    # The table of cases, #include "bench/cases.inc", lies with the other benchmarks.
    set_property(SOURCE tools/bench/bench_case.c PROPERTY
        INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR})
    # Fallback path of the page, for systems on which a program cannot find its own path.
    set_property(SOURCE tools/cmd_page.c PROPERTY COMPILE_DEFINITIONS
        ATTEND_PAGE_FILE="${CMAKE_INSTALL_FULL_DATADIR}/attend/attend.html")
    # attend(1): the commands print their options.
    if(NOT CMAKE_CROSSCOMPILING)
        add_custom_command(OUTPUT attend.1
            COMMAND sh -c "'$<TARGET_FILE:attend_tool>' help --manual <'${PROJECT_SOURCE_DIR}/docs/man/attend.1.in' >attend.1"
            DEPENDS attend_tool docs/man/attend.1.in COMMENT "attend.1" VERBATIM)
        # docs/LAB.md, with the words of the laboratory.
        add_executable(lab_document tools/document/lab_document.c)
        target_link_libraries(lab_document PRIVATE toolkit m ${CMAKE_DL_LIBS})
        add_custom_command(OUTPUT docs/LAB.md
            COMMAND sh -c "'$<TARGET_FILE:lab_document>' THEORY.md <LAB.md >'${PROJECT_BINARY_DIR}/docs/LAB.md'"
            WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/docs
            DEPENDS lab_document docs/LAB.md docs/THEORY.md COMMENT "LAB.md" VERBATIM)
        add_custom_target(attend_manual ALL DEPENDS attend.1 docs/LAB.md)
        set(has_lab_document ON)
    endif()
    if(machine STREQUAL aarch64)
        set_property(SOURCE tools/bench/peak_bfmmla.c PROPERTY
            COMPILE_OPTIONS -march=armv8.2-a+bf16)
    endif()
endif()

# attend-grade, the static command of the autograder: see the preset autograder.
if(ATTEND_AUTOGRADER)
    set(autograder_sources tools/grade/autograder_main.c tools/grade/grade_files.c
        tools/grade/grade_results.c tools/shared/tool.c
        tools/shared/flags.c tools/shared/help.c tools/shared/json_line.c)
    add_executable(attend_grade ${autograder_sources})
    set_target_properties(attend_grade PROPERTIES OUTPUT_NAME attend-grade)
    target_include_directories(attend_grade PRIVATE tools)
    target_link_libraries(attend_grade PRIVATE attend_flags laboratory)
    target_link_options(attend_grade PRIVATE -static -s)
endif()
