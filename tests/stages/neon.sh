# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# The kernel sets for AArch64, cross compiled, under qemu; to be sourced by run.sh.

# make_neon TARGETS: the cross build of these, or the reason why there is none.
make_neon() {
    if ! scripts/setup.sh neon >build/neon.setup.log 2>&1; then
        why=$(tail -n 1 build/neon.setup.log)
    elif why=$(scripts/arm64_root.sh build/arm64); then
        build neon "$1"
        return
    fi
    skip "everything for AArch64" "$why"
    return 1
}

# one_of NAME...: a regular expression of these tests, second runs of their programs among them.
one_of() { echo "$*" | sed -E 's/ +/|/g; s/.*/^(&)(_split|_rest)?$/'; }

# An older CPU: the set for bf16 is refused there, and the other one computes.
neon_without_bf16() {
    qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu cortex-a72 build/neon/tests/test_kernel_sets \
        >build/neon.old.log 2>&1
    grep -E '^FAIL|SKIPPED' build/neon.old.log
    add_count build/neon.old.log
    printf '  %-32s %s\n' "test_kernel_sets, older CPU" "$(tail -n 1 build/neon.old.log)"
}

# neon_tests NAME...
neon_tests() {
    make_neon "attend_tool $*" || return
    run_ctest neon -R "$(one_of "$@")"
    neon_without_bf16
}

stage_neon() {
    ATTEND_TEST_SCALE=0.1 neon_tests test_kernel_sets test_laws test_dense test_exp2
}
