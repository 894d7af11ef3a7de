# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# The C programs under AddressSanitizer and UBSan, to be sourced by run.sh: every path once.

# sanitized: no check for use after return: GCC 12 aligns the frames that it keeps for it to 32
# bytes, where kernels spill 64-byte vectors.  What an MPI does not free is not ours.
sanitized() {
    OMP_NUM_THREADS=2 ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=0 \
        UBSAN_OPTIONS=print_stacktrace=1 \
        LSAN_OPTIONS="suppressions=$PWD/tests/mpi/leaks.supp:print_suppressions=0" run_ctest asan "$@"
}

# Ranks of one MPI: the other one runs the same code.
stage_asan() {
    configure asan || return
    grep -v '_mpich ' build/asan/test_list.txt >build/selected.txt
    build asan "$(targets <build/selected.txt)" || return
    ATTEND_TEST_SCALE=0.1 sanitized -E '_mpich$'
}
