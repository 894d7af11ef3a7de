#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [-v] TIER | GROUP... | STAGE... | -n NAME: builds what the tests need, and runs them.
#
#   test     what a user can notice: engine, statistics, command, laboratory, Python, the
#            modules of the page in node
#   all      that and ranks of both MPIs, kernels for GPUs on the emulator, Chromium, weights;
#            then the stages asan, tsan, fuzz and neon (tests/stages/)
#   long     everything with every grid walked whole; then those stages and asan-cuda,
#            neon-rest and mutants: hours
#   engine lab python page mpi cuda      all tests of one group
#   asan tsan fuzz neon asan-cuda neon-rest mutants      one stage
#   -n NAME  tests whose names match a regular expression, with their output
#
#   -v       a line with the time for each program
#
# JOBS (2): processes at a time.  ATTEND_TEST_SEED: chooses the cases that tests draw; it changes
# with the commit, and is printed.  ATTEND_TEST_SCALE (1): multiplies their number.
#
# A table of stages, with their budgets (budgets.txt), and the sum of the counts that the
# programs print are the end of the output.  A program that crashes or prints no count is one
# failed test; an example or a fuzzer is one test.  Exit status 1: a test failed; 2: a wrong
# argument or variable.
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/stages/common.sh
. tests/stages/common.sh
for stage in release asan tsan fuzz neon long; do
    # shellcheck source=/dev/null
    . "tests/stages/$stage.sh"
done

# refuse MESSAGE
refuse() {
    echo "run.sh: $1" >&2
    exit 2
}

verbose=0
[ "${1:-}" = -v ] && verbose=1 && shift
[ $# -gt 0 ] || { sed -n '3,24s/^# \{0,1\}//p' "$0" >&2; exit 2; }
tier=$1
case " $* " in
" test " | " all " | " long ") ;;
' -n '*)
    if [ $# -ne 2 ] || [ -z "$2" ]; then refuse "-n needs one regular expression"; fi
    echo | grep -E -- "$2" >/dev/null 2>&1
    [ $? -lt 2 ] || refuse "not a regular expression: $2"
    ;;
*)
    groups=0
    for word in "$@"; do
        case $word in
        engine | lab | python | page | mpi | cuda) groups=$((groups + 1)) ;;
        asan | tsan | fuzz | neon | asan-cuda | neon-rest | mutants) ;;
        *) refuse "no tier, group or stage, or not beside another word: $word (a test by its name: -n $word)" ;;
        esac
    done
    [ $groups -eq 0 ] || [ $groups -eq $# ] || refuse "groups and stages do not go together: $*"
    ;;
esac

if [ -z "${ATTEND_TEST_SEED:-}" ]; then
    commit=$(git rev-parse --short=5 HEAD 2>/dev/null | cut -c 1-5)
    ATTEND_TEST_SEED=$((0x${commit:-0} + 1))
fi
case $ATTEND_TEST_SEED in
0* | *[!0-9]* | ????????????????*) refuse "ATTEND_TEST_SEED: not a whole number from 1 to 15 digits: $ATTEND_TEST_SEED" ;;
esac
echo "${ATTEND_TEST_SCALE:-1}" | awk '{ exit !($0 ~ /^[0-9]*[.]?[0-9]+$/ && $0 > 0) }' ||
    refuse "ATTEND_TEST_SCALE: not a positive number: $ATTEND_TEST_SCALE"
case ${JOBS:-2} in 0* | *[!0-9]*) refuse "JOBS: not a positive number: $JOBS" ;; esac
export ATTEND_TEST_SEED
echo "ATTEND_TEST_SEED=$ATTEND_TEST_SEED"

# run_stages STAGE...
run_stages() {
    for stage in "$@"; do timed "$stage" "stage_$(echo "$stage" | tr - _)"; done
}

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
    run_stages asan tsan fuzz neon
    [ "$tier" = all ] || run_stages asan-cuda neon-rest mutants
    ;;
asan | tsan | fuzz | neon | asan-cuda | neon-rest | mutants)
    timed setup scripts/setup.sh all || exit 1
    run_stages "$@"
    ;;
engine | lab | python | page | mpi | cuda)
    setup="test"
    case " $* " in *' mpi '* | *' cuda '*) setup="all" ;; esac
    timed setup scripts/setup.sh $setup || exit 1
    release_tests 'test|all' "^($(echo "$*" | tr ' ' '|'))\$"
    ;;
-n)
    verbose=2
    release_named "$2"
    ;;
esac
[ $verbose -eq 2 ] || print_table "$tier"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
