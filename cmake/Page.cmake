# SPDX-License-Identifier: MIT
# The page.

# The laboratory and the engine for a browser and for node.  Memory grows as it is needed.
if(ATTEND_PAGE)
    if(NOT EMSCRIPTEN)
        message(FATAL_ERROR "ATTEND_PAGE needs emscripten: see the preset wasm")
    endif()
    set(page_options -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB)
    foreach(set scalar simd128)
        add_library(attend_${set} STATIC ${sources_of_${set}})
        target_compile_definitions(attend_${set} PRIVATE ATTEND_BUILD ATTEND_HAVE_SCALAR)
        target_include_directories(attend_${set} PRIVATE include src .)
        target_link_libraries(attend_${set} PRIVATE attend_flags)
    endforeach()
    target_compile_definitions(attend_simd128 PRIVATE ATTEND_HAVE_SIMD128)

    # page_program(NAME SET SOURCE...): NAME.js and NAME.wasm in build/wasm-SET.
    function(page_program name set)
        add_executable(${name}_${set} EXCLUDE_FROM_ALL ${ARGN})
        set_target_properties(${name}_${set} PROPERTIES OUTPUT_NAME ${name}
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}-${set})
        target_include_directories(${name}_${set} PRIVATE src . tools)
        target_link_libraries(${name}_${set} PRIVATE attend_flags laboratory attend_${set})
        target_link_options(${name}_${set} PRIVATE ${page_options})
    endfunction()
    file(GLOB page_sources CONFIGURE_DEPENDS web/wasm/*.c)
    file(GLOB check_sources CONFIGURE_DEPENDS tools/check/*.c)
    add_custom_target(page_modules)
    foreach(set scalar simd128)
        page_program(page_module ${set} ${page_sources})
        target_link_options(page_module_${set} PRIVATE --no-entry
            -sMODULARIZE=1 -sEXPORT_NAME=attendModule -sENVIRONMENT=web,worker,node
            -sFILESYSTEM=0 -sEXPORTED_FUNCTIONS=_malloc,_free
            -sEXPORTED_RUNTIME_METHODS=UTF8ToString,stringToUTF8,lengthBytesUTF8)
        # `attend check` and the bench of prefill for node.
        page_program(page_check ${set} web/node/page_check.c ${check_sources})
        target_link_options(page_check_${set} PRIVATE -sENVIRONMENT=node -sEXIT_RUNTIME=1 -sNODERAWFS=0)
        add_dependencies(page_modules page_module_${set})
    endforeach()
endif()
