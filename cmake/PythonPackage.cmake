# SPDX-License-Identifier: MIT
# The Python package.

# One build for Python 3.11 and all later ones: the limited API.
if(ATTEND_PYTHON)
    find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
    file(GLOB python_sources CONFIGURE_DEPENDS python/core/*.c)
    file(GLOB python_lab_sources CONFIGURE_DEPENDS python/lab/*.c)
    # Python's tables hold functions as void *.
    set_property(SOURCE ${python_sources} ${python_lab_sources} PROPERTY
        COMPILE_OPTIONS -Wno-pedantic)
    # attend/ in this build: the modules, and the files of python/attend beside them.
    set(package ${PROJECT_BINARY_DIR}/python/attend)
    # python_module(NAME FOLDER FILE SOURCE...): FOLDER/FILE of the package.
    function(python_module name folder file)
        add_library(${name} MODULE EXCLUDE_FROM_ALL ${ARGN})
        cmake_path(GET file STEM stem)
        string(REPLACE ${stem} "" suffix ${file})
        set_target_properties(${name} PROPERTIES OUTPUT_NAME ${stem} PREFIX "" SUFFIX ${suffix}
            C_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${package}/${folder})
        target_include_directories(${name} SYSTEM PRIVATE ${Python_INCLUDE_DIRS})
        target_link_libraries(${name} PRIVATE attend_flags)
        install(TARGETS ${name} DESTINATION attend/${folder} COMPONENT python EXCLUDE_FROM_ALL)
    endfunction()
    python_module(python_core . _core.abi3.so ${python_sources})
    target_link_libraries(python_core PRIVATE attend_static)
    # Closed forms, loaded by ctypes: not a module of Python, so in a folder of its own.
    python_module(python_theory _libs _theory.so $<TARGET_OBJECTS:attend_theory_objects>)
    target_link_libraries(python_theory PRIVATE m)
    # Their definitions, from the header.
    add_custom_command(OUTPUT ${package}/theory.py
        COMMAND ${Python_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/scripts/theory_bindings.py ${package}/theory.py
        DEPENDS scripts/theory_bindings.py include/attend/theory.h VERBATIM)
    add_custom_target(python_theory_module DEPENDS ${package}/theory.py)
    install(FILES ${package}/theory.py DESTINATION attend COMPONENT python EXCLUDE_FROM_ALL)
    set(python_modules python_core python_theory python_theory_module)
    if(TARGET laboratory)
        # Products of matrices by loops: a wheel carries no CBLAS.
        python_module(python_lab . _lab.abi3.so ${python_lab_sources}
            $<TARGET_OBJECTS:laboratory_objects> $<TARGET_OBJECTS:attend_layer_loops>)
        target_include_directories(python_lab PRIVATE src .)
        target_link_libraries(python_lab PRIVATE attend_static attend_theory_static)
        list(APPEND python_modules python_lab)
    endif()
    add_custom_target(python_package
        COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/link_package.sh ${PROJECT_SOURCE_DIR}/python/attend ${package}
        DEPENDS ${python_modules} VERBATIM)
    if(SKBUILD)
        add_custom_target(wheel_modules ALL DEPENDS ${python_modules})
    endif()
endif()
