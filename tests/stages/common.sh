# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# For all stages, to be sourced by run.sh: counts, the table of stages, builds, ctest.

jobs=${JOBS:-2}
verbose=${verbose:-0}
passed=0
failed=0
skipped=0
mkdir -p build

# add PASSED FAILED SKIPPED
add() {
    passed=$((passed + $1))
    failed=$((failed + $2))
    skipped=$((skipped + $3))
}

# skip WHAT WHY
skip() {
    echo "  SKIPPED: $1: $2"
    add 0 0 1
}

# ---- the table of stages ----------------------------------------------------------

begin_table() { : >build/stages.txt; }

# timed STAGE COMMAND...: runs it; its seconds are a line of the table.
timed() {
    stage_name=$1
    shift
    stage_start=$(date +%s)
    echo "== $stage_name"
    "$@"
    stage_status=$?
    echo "$stage_name $(($(date +%s) - stage_start))" >>build/stages.txt
    return $stage_status
}

# print_table TIER: seconds beside budgets, which are scaled by a calibration loop: its seconds here
# over those on the machine of budgets.txt.  Installing packages is not judged.  In the long tier a
# stage beyond twice its budget is a failed test.
print_table() {
    cc -std=c11 -O2 -o build/calibrate tests/calibrate.c && speed=$(build/calibrate) || speed=1
    awk -v speed="$speed" -v tier="$1" '
    NR == FNR { if ($1 !~ /^#/ && NF == 2) budget[$1] = $2; next }
    FNR == 1 { printf "%-12s %8s %8s\n", "stage", "seconds", "budget"; reference = budget["calibrate"] }
    {
        most = ($1 in budget) ? budget[$1] * speed / reference : 0
        text = most ? sprintf("%.0f", most) : ""
        if (most && $2 > most) text = text ($2 > 2 * most ? "  over twice its budget" : "  over its budget")
        printf "%-12s %8d %8s\n", $1, $2, text
        total += $2
        over += most && $2 > 2 * most
    }
    END {
        printf "%-12s %8d     (calibration loop: %.2f s; budgets are for %.2f s)\n", "all", total, speed, reference
        exit tier == "long" && over > 0
    }' tests/budgets.txt build/stages.txt || { echo "FAIL: a stage passed twice its budget"; add 0 1 0; }
}

# ---- building and running -----------------------------------------------------------

# configure PRESET ARGUMENT...
configure() {
    scripts/configure.sh "$@" >"build/$1.log" 2>&1 && return
    cat "build/$1.log"
    echo "FAILED: the preset $1"
    add 0 1 0
    return 1
}

# build PRESET TARGETS
build() {
    JOBS=$jobs scripts/build.sh "$@" && return
    add 0 1 0
    return 1
}

# targets: what the tests on standard input, lines of test_list.txt, need.
targets() { awk '{ gsub(":", "\n", $4); print $4 }' | sort -u | tr '\n' ' '; }

# add_count LOG: the count that is its last line, or one failed test.
add_count() {
    count=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$1")
    # shellcheck disable=SC2086 # three numbers
    add ${count:-0 1 0}
}

# run_ctest PRESET ARGUMENT...: run the tests that the arguments choose.
run_ctest() {
    preset=$1
    shift
    log=build/$preset/Testing/Temporary/LastTest.log
    expected=$(ctest --test-dir "build/$preset" -N "$@" | sed -n 's/^Total Tests: //p')
    rm -f "$log"
    # A test that hangs is ended: an hour where every grid is walked whole, and where it is asked for.
    limit=${TEST_LIMIT:-$(awk -v scale="${ATTEND_TEST_SCALE:-1}" 'BEGIN { print (scale > 1) ? 3600 : 900 }')}
    ctest --test-dir "build/$preset" -j "$jobs" --timeout "$limit" "$@" >"build/$preset.ctest.log" 2>&1
    if ! [ -f "$log" ]; then
        cat "build/$preset.ctest.log"
        add 0 1 0
        return
    fi
    settings="ATTEND_TEST_SEED=$ATTEND_TEST_SEED${ATTEND_TEST_SCALE:+ ATTEND_TEST_SCALE=$ATTEND_TEST_SCALE}"
    awk -v expected="${expected:-0}" -v verbose="$verbose" -v preset="$preset" -v settings="$settings" \
        -f tests/stages/count_ctest.awk "build/$preset/test_list.txt" "build/$preset.ctest.log" "$log" \
        >"build/$preset.count"
    sed '$d' "build/$preset.count"
    # shellcheck disable=SC2046 # three numbers
    add $(sed -n '$s/^total //p' "build/$preset.count")
}
