# SPDX-License-Identifier: MIT
# libattend_theory, libattend_layer and the laboratory.

# Closed forms, on libm only.
file(GLOB theory_sources CONFIGURE_DEPENDS src/theory/*.c)
attend_library(attend_theory ${theory_sources})
attend_links(attend_theory_shared PRIVATE m)
target_link_libraries(attend_theory_static PUBLIC m)

find_path(RANDOM123_INCLUDE_DIR Random123/philox.h
    PATHS /usr/local/include /usr/include NO_CMAKE_FIND_ROOT_PATH)
# Other C libraries: only these headers, not the others of their folder.
if((CMAKE_CROSSCOMPILING OR ATTEND_AUTOGRADER) AND RANDOM123_INCLUDE_DIR)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/random123)
    file(CREATE_LINK ${RANDOM123_INCLUDE_DIR}/Random123
        ${PROJECT_BINARY_DIR}/random123/Random123 SYMBOLIC)
    set(RANDOM123_INCLUDE_DIR ${PROJECT_BINARY_DIR}/random123)
endif()
if(ATTEND_CBLAS)
    find_path(CBLAS_INCLUDE_DIR cblas.h)
    find_library(CBLAS_LIBRARY NAMES openblas cblas)
endif()
set(has_laboratory ${RANDOM123_INCLUDE_DIR})
if(ATTEND_CBLAS AND NOT (CBLAS_INCLUDE_DIR AND CBLAS_LIBRARY))
    set(has_laboratory OFF)
endif()
if(ATTEND_TOOL OR ATTEND_TESTS OR ATTEND_FUZZ)
    set(wants_laboratory ON)
    if(NOT has_laboratory)
        message(FATAL_ERROR "Random123 or CBLAS is missing (Debian: librandom123-dev "
            "libopenblas-serial-dev); -DATTEND_TOOL=OFF builds the library alone, "
            "-DATTEND_CBLAS=OFF needs no CBLAS")
    endif()
elseif(ATTEND_PAGE OR ATTEND_AUTOGRADER)
    set(wants_laboratory ON)
elseif(ATTEND_PYTHON)
    set(wants_laboratory ${has_laboratory})
    if(NOT has_laboratory)
        message(WARNING "Random123 is missing (Debian: librandom123-dev): "
            "the Python package is built without attend.lab")
    endif()
endif()

if(wants_laboratory)
    # Self-attention with projections, on the engine and a product of matrices.
    file(GLOB layer_sources CONFIGURE_DEPENDS src/layer/*.c)
    if(ATTEND_PYTHON)
        set(loops_sources ${layer_sources})
        list(FILTER loops_sources EXCLUDE REGEX "/matrix_cblas[.]c$")
        add_library(attend_layer_loops OBJECT EXCLUDE_FROM_ALL ${loops_sources})
        set_target_properties(attend_layer_loops PROPERTIES
            POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
        target_include_directories(attend_layer_loops PRIVATE include src)
        target_link_libraries(attend_layer_loops PRIVATE attend_flags)
    endif()
    if(ATTEND_CBLAS)
        list(FILTER layer_sources EXCLUDE REGEX "/matrix_loops[.]c$")
        cmake_path(GET CBLAS_LIBRARY STEM cblas_name)
        string(REGEX REPLACE "^lib" "" cblas_name "${cblas_name}")
        set(layer_pc_libs "-l${cblas_name} -lm")
    else()
        list(FILTER layer_sources EXCLUDE REGEX "/matrix_cblas[.]c$")
        set(layer_pc_libs -lm)
    endif()
    attend_library(attend_layer ${layer_sources})
    attend_links(attend_layer_shared PUBLIC attend_shared PRIVATE attend_base m)
    target_link_libraries(attend_layer_static PUBLIC attend_static)
    if(ATTEND_CBLAS)
        target_include_directories(attend_layer_objects SYSTEM PRIVATE
            ${CBLAS_INCLUDE_DIR})
        attend_links(attend_layer_shared PRIVATE ${CBLAS_LIBRARY})
        target_link_libraries(attend_layer_static PUBLIC
            "$<BUILD_INTERFACE:${CBLAS_LIBRARY}>" "$<INSTALL_INTERFACE:attend::cblas>")
    endif()

    # Experiments, sheets, design and report: for the command, the Python package and the
    # tests, not installed.
    file(GLOB lab_sources CONFIGURE_DEPENDS lab/*/*.c)
    include(cmake/Embed.cmake)
    embed(${PROJECT_BINARY_DIR}/lab_styles.c lab_figure_style lab/figures/figure.css
        lab_shared_style lab/report/shared.css lab_report_style lab/report/report.css
        lab_marks_style lab/marks/marks.css)
    list(APPEND lab_sources ${PROJECT_BINARY_DIR}/lab_styles.c)
    add_library(laboratory_objects OBJECT EXCLUDE_FROM_ALL ${lab_sources})
    # Random123 refuses unknown machines, but Threefry is plain C: as for RISC-V, without
    # machine instructions.
    if(EMSCRIPTEN)
        set_property(SOURCE lab/measure/random.c PROPERTY COMPILE_DEFINITIONS __riscv)
    endif()
    set_target_properties(laboratory_objects PROPERTIES
        POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
    target_include_directories(laboratory_objects PRIVATE include src .)
    target_include_directories(laboratory_objects SYSTEM PRIVATE ${RANDOM123_INCLUDE_DIR})
    target_link_libraries(laboratory_objects PRIVATE attend_flags)
    add_library(laboratory STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:laboratory_objects>)
    target_include_directories(laboratory PUBLIC src .)
    target_link_libraries(laboratory PUBLIC attend_theory_static attend_layer_static)
endif()
