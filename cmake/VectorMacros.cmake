# SPDX-License-Identifier: MIT
# vector_macros(OUTPUT FLAG...): the vector extensions that the C compiler uses with these
# flags. vector_macros_of_this_cpu: those of the building machine's CPU.  Nothing is
# compiled.
function(vector_macros output)
    execute_process(COMMAND ${CMAKE_C_COMPILER} ${ARGN} -dM -E -x c /dev/null OUTPUT_VARIABLE macros ERROR_QUIET)
    string(REGEX MATCHALL "__(AVX|AMX|FMA)[A-Z0-9_]*__" macros "${macros}")
    set(${output} ${macros} PARENT_SCOPE)
endfunction()
vector_macros(vector_macros_of_this_cpu -march=native)
