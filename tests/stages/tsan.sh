# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# The threaded paths, splits among them, under ThreadSanitizer; to be sourced by run.sh.

stage_tsan() {
    build tsan 'test_threads test_split test_pool' &&
        ATTEND_TEST_SCALE=0.1 run_ctest tsan -R '^test_(threads|threads_split|split|pool)$'
}
