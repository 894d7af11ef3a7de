# SPDX-License-Identifier: MIT
# Sets mpi_abis to those of openmpi and mpich whose compiler is installed, and for each
# ABI mpi_ABI_include (directories), mpi_ABI_link (libraries and flags) and mpi_ABI_run
# (the launcher).  Debian has mpicc.openmpi and mpicc.mpich; elsewhere `mpicc -show`
# identifies the MPI.

foreach(abi openmpi mpich)
    find_program(ATTEND_MPICC_${abi} NAMES mpicc.${abi} mpicc)
    if(NOT ATTEND_MPICC_${abi})
        continue()
    endif()
    # Open MPI has -showme, both have -show.
    execute_process(COMMAND ${ATTEND_MPICC_${abi}} -show OUTPUT_VARIABLE line
        RESULT_VARIABLE lacking ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND ${ATTEND_MPICC_${abi}} -showme:version
        RESULT_VARIABLE is_mpich OUTPUT_QUIET ERROR_QUIET)
    if(lacking OR (abi STREQUAL openmpi AND is_mpich) OR (abi STREQUAL mpich AND NOT is_mpich))
        continue()
    endif()
    separate_arguments(words UNIX_COMMAND "${line}")
    set(mpi_${abi}_include)
    set(mpi_${abi}_link)
    foreach(word IN LISTS words)
        if(word MATCHES "^-I(.+)")
            list(APPEND mpi_${abi}_include ${CMAKE_MATCH_1})
        elseif(word MATCHES "^-(L|l|Wl,-rpath)")
            list(APPEND mpi_${abi}_link ${word})
        endif()
    endforeach()
    find_program(ATTEND_MPIRUN_${abi} NAMES mpirun.${abi} mpirun)
    set(mpi_${abi}_run ${ATTEND_MPIRUN_${abi}})
    list(APPEND mpi_abis ${abi})
endforeach()
