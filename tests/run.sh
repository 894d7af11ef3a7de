#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [-v] TIER | GROUP... | NAME: builds what the tests need, and runs them.
#
#   test     what a user can notice: engine, statistics, command, laboratory, Python, the
#            modules of the page in node
#   all      that and ranks of both MPIs, kernels for GPUs on the emulator, Chromium, weights;
#            then the stages asan, tsan, fuzz and neon (tests/stages/)
#   long     everything with every grid walked whole, mutants: hours
#   engine lab python page mpi cuda      all tests of one group
#   asan tsan fuzz neon                  one stage
#   anything else                        tests whose names match it, with their output
#
#   -v       a line with the time for each program
#
# JOBS (2): processes at a time.  ATTEND_TEST_SEED: chooses the cases that tests draw; it changes
# with the commit, and is printed.  ATTEND_TEST_SCALE (1): multiplies their number.
#
# A table of stages, with their budgets (budgets.txt), and the sum of the counts that the
# programs print are the end of the output.  A program that crashes or prints no count is one
# failed test; an example or a fuzzer is one test.  Exit status 1: a test failed.
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/stages/common.sh
. tests/stages/common.sh
for stage in release asan tsan fuzz neon long; do
    # shellcheck source=/dev/null
    . "tests/stages/$stage.sh"
done

verbose=0
[ "${1:-}" = -v ] && verbose=1 && shift
[ $# -gt 0 ] || { sed -n '3,22s/^# \{0,1\}//p' "$0" >&2; exit 2; }
tier=$1

if [ -z "${ATTEND_TEST_SEED:-}" ]; then
    commit=$(git rev-parse --short=5 HEAD 2>/dev/null | cut -c 1-5)
    ATTEND_TEST_SEED=$((0x${commit:-0} + 1))
fi
export ATTEND_TEST_SEED
echo "ATTEND_TEST_SEED=$ATTEND_TEST_SEED"

begin_table
case $tier in
test)
    timed setup scripts/setup.sh test || exit 1
    release_tests test
    ;;
all | long)
    timed setup scripts/setup.sh all || exit 1
    [ "$tier" = all ] || export ATTEND_TEST_SCALE=10
    timed nvcc get_nvcc
    release_tests 'test|all'
    for stage in asan tsan fuzz neon; do timed $stage "stage_$stage"; done
    [ "$tier" = all ] || timed long stage_long
    ;;
asan | tsan | fuzz | neon)
    timed setup scripts/setup.sh all || exit 1
    for stage in "$@"; do timed "$stage" "stage_$stage"; done
    ;;
engine | lab | python | page | mpi | cuda)
    setup="test"
    case " $* " in *' mpi '* | *' cuda '*) setup="all" ;; esac
    timed setup scripts/setup.sh $setup || exit 1
    release_tests 'test|all' "^($(echo "$*" | tr ' ' '|'))\$"
    ;;
*)
    verbose=2
    release_named "$tier"
    ;;
esac
[ $verbose -eq 2 ] || print_table "$tier"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
