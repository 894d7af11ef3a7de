# SPDX-License-Identifier: MIT
# libattend_mpi_openmpi and libattend_mpi_mpich.

# One library for each ABI: a program built with one MPI cannot use the library of another.
# Without the compiler of an MPI its library is not built.
set(mpi_abis)
add_custom_target(mpi_libraries)
if(ATTEND_MPI AND NOT CMAKE_CROSSCOMPILING)
    include(cmake/FindMpis.cmake)
endif()
list(TRANSFORM mpi_abis PREPEND "mpi_" OUTPUT_VARIABLE mpi_found)
list(JOIN mpi_found "\n" mpi_found)
file(WRITE ${PROJECT_BINARY_DIR}/mpi_found.txt "${mpi_found}\n")
foreach(abi IN LISTS mpi_abis)
    file(GLOB mpi_sources CONFIGURE_DEPENDS src/mpi/*.c src/mpi/comm/*.c)
    attend_library(attend_mpi_${abi} ${mpi_sources})
    target_include_directories(attend_mpi_${abi}_objects SYSTEM PRIVATE
        ${mpi_${abi}_include})
    # MPICH's MPI_STATUS_IGNORE is an invalid pointer, which GCC takes for an array.
    target_compile_options(attend_mpi_${abi}_objects PRIVATE -Wno-stringop-overflow)
    target_link_libraries(attend_mpi_${abi}_shared PUBLIC attend_shared
        PRIVATE attend_base ${mpi_${abi}_link})
    target_link_libraries(attend_mpi_${abi}_static PUBLIC attend_static
        ${mpi_${abi}_link})
    set_target_properties(attend_mpi_${abi}_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
    add_dependencies(mpi_libraries attend_mpi_${abi}_shared attend_mpi_${abi}_static)
endforeach()
