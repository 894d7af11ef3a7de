# shellcheck shell=sh disable=SC2154 # jobs is set in common.sh
# SPDX-License-Identifier: MIT
# Only in test-long, to be sourced by run.sh; the tests of the other tiers run before it with
# every grid walked whole.

# The kernels for GPUs on the emulator, instrumented: every path once.
stage_asan_cuda() {
    configure asan -DATTEND_CUDA=ON || return
    grep ' cuda all ' build/asan/test_list.txt >build/selected.txt
    build asan "$(targets <build/selected.txt)" -DATTEND_CUDA=ON &&
        TEST_LIMIT=3600 ATTEND_TEST_SCALE=0.1 sanitized -L '^cuda$'
    configure asan -DATTEND_CUDA=OFF
}

stage_neon_rest() {
    ATTEND_TEST_SCALE=0.1 neon_tests test_conformance test_half test_merge test_order test_partials \
        test_mask_blocks test_split test_inspect test_stats test_stats_accuracy test_stats_merge test_stats_places
    if qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu max build/neon/attend check --effort 0.1; then add 1 0 0; else add 0 1 0; fi
}

# A sample, drawn by the seed; `scripts/mutate.py` alone plants all 200.
stage_mutants() {
    git rev-parse -q --verify HEAD >/dev/null 2>&1 || { skip "planted faults" "there is no commit to plant them in"; return; }
    if ATTEND_TEST_SCALE=1 python3 scripts/mutate.py --count 16 --seed "$ATTEND_TEST_SEED" --jobs "$jobs" --stages release \
        --budget 120 --list build/mutants/sample.json --out build/mutants/sample.jsonl >build/mutants.log 2>&1; then
        add 1 0 0
    else
        add 0 1 0
    fi
    sed -n '/^build.*[.]jsonl$/,$p' build/mutants.log
}
