# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# Only in test-long, to be sourced by run.sh; the tests of the other tiers run before it with
# every grid walked whole.

# The kernels for GPUs on the emulator, instrumented.
long_emulated() {
    configure asan -DATTEND_CUDA=ON || return
    grep ' cuda all ' build/asan/test_list.txt >build/selected.txt
    build asan "$(targets <build/selected.txt)" -DATTEND_CUDA=ON && sanitized -L '^cuda$'
    configure asan -DATTEND_CUDA=OFF
}

long_neon() {
    neon_tests test_conformance test_half test_merge test_order test_partials test_mask_blocks test_split \
        test_inspect test_stats test_stats_accuracy test_stats_merge test_stats_places
    if qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu max build/neon/attend check; then add 1 0 0; else add 0 1 0; fi
}

stage_long() {
    ATTEND_TEST_SCALE=1 long_emulated # a tenth of it, as in make test-all
    ATTEND_TEST_SCALE=1 long_neon
    echo "-- the speed of models on attend, watched and not"
    for program in python_calls.py "watch_cost.py --tokens 2048 8192"; do
        # shellcheck disable=SC2086 # the options
        PYTHONPATH=build/release/python build/python/bin/python -B bench/$program
    done
    echo "-- mutants"
    if ATTEND_TEST_SCALE=1 JOBS=$jobs python3 scripts/mutate.py; then add 1 0 0; else add 0 1 0; fi
}
