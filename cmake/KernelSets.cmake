# SPDX-License-Identifier: MIT
# Kernel sets of the CPU: appends their files to library_sources, and to library_defines.

# For each line of the list that this machine and compiler support: a macro
# ATTEND_HAVE_<ISA>, and a file for each element type.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/cpu/isa/isa.list)
string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" machine)
string(REPLACE "amd64" "x86_64" machine "${machine}")
string(REPLACE "arm64" "aarch64" machine "${machine}")
if(EMSCRIPTEN)
    set(machine wasm32)
endif()
file(STRINGS src/cpu/isa/isa.list isa_lines REGEX "^[a-z]")

include(cmake/VectorMacros.cmake)
foreach(line IN LISTS isa_lines)
    separate_arguments(flags UNIX_COMMAND "${line}")
    list(POP_FRONT flags isa isa_machine elements)
    # At -Os, LLVM does not unroll the register tiles.
    if(NOT CMAKE_C_COMPILER_ID STREQUAL GNU)
        list(REMOVE_ITEM flags -Os)
    endif()
    if(NOT isa_machine MATCHES "^(any|${machine})$")
        continue()
    endif()
    if(ATTEND_KERNEL_SETS STREQUAL native)
        vector_macros(needed ${flags})
        list(REMOVE_ITEM needed ${vector_macros_of_this_cpu} "")
        if(needed)
            continue()
        endif()
    elseif(ATTEND_KERNEL_SETS AND NOT isa STREQUAL scalar AND NOT isa IN_LIST ATTEND_KERNEL_SETS)
        continue()
    endif()
    string(TOUPPER "${isa}" isa_macro)
    list(JOIN flags " " CMAKE_REQUIRED_FLAGS)
    check_c_source_compiles("int main(void) { return 0; }" ATTEND_COMPILES_${isa_macro})
    unset(CMAKE_REQUIRED_FLAGS)
    if(NOT ATTEND_COMPILES_${isa_macro})
        continue()
    endif()
    string(REPLACE "," ";" elements "${elements}")
    list(TRANSFORM elements REPLACE ".+" "src/cpu/isa/${isa}_\\0.c" OUTPUT_VARIABLE files)
    list(APPEND library_sources ${files})
    list(APPEND library_defines ATTEND_HAVE_${isa_macro})
    # Loops that matter are vectorised and unrolled by hand; automatic vectorisation of
    # the others only enlarges the library.  Without register renaming kernels are 7 %
    # slower.  Link-time optimisation could move wide instructions into other files.
    set_property(SOURCE ${files} PROPERTY COMPILE_OPTIONS
        $<$<CONFIG:Release>:-O3>
        "$<$<AND:$<CONFIG:Release>,$<C_COMPILER_ID:GNU>>:-fweb;-frename-registers;-fno-tree-vectorize;-fno-unswitch-loops;-fno-split-loops;-fno-tree-loop-distribute-patterns>"
        ${flags} -fno-lto)
    # Compilation with Clang takes five times as long with it, and GCC's sanitizers check
    # it too.
    if(ATTEND_FUZZ)
        set_property(SOURCE ${files} APPEND PROPERTY COMPILE_OPTIONS
            -fno-sanitize=pointer-overflow)
    endif()
endforeach()
set_property(SOURCE src/cpu/dispatch/cpu_features.c PROPERTY COMPILE_OPTIONS -fno-lto)
# Not speed critical: saves 5 KB of unrolled code.
set_property(SOURCE src/core/character.c PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-Os>)
