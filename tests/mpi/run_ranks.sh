#!/bin/sh
# SPDX-License-Identifier: MIT
# run_ranks.sh ABI MPIRUN RANKS PROGRAM ARGUMENT...: runs a program on RANKS ranks of
# this machine, also with fewer cores than ranks, and also as root.
set -u
abi=$1 mpirun=$2 ranks=$3
shift 3
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
# Whole stacks, so that leaks.supp finds the MPI in those of its own memory.
[ -z "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:fast_unwind_on_malloc=0"
case $abi in
openmpi)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
    exec "$mpirun" --oversubscribe --bind-to none -n "$ranks" "$@"
    ;;
*)
    # MPICH spins in blocking calls unless it is told to yield.
    export MPIR_CVAR_POLLS_BEFORE_YIELD=1
    exec "$mpirun" -n "$ranks" "$@"
    ;;
esac
