#!/bin/sh
# SPDX-License-Identifier: MIT
# run_all.sh [STAGE...]: build and run the tests, all stages but long if none is named.
#
#   release  every test, with warnings as errors
#   asan     the test programs under ASan and UBSan, shortened, those of MPI too
#   tsan     the threaded ones under TSan
#   fuzz     the fuzzers, for FUZZ_SECONDS (30), all at once
#   python   the Python package, in a virtual environment under build/
#   neon     checks and laws of the kernel sets for AArch64, cross compiled, under qemu,
#            shortened
#   page     the page: its modules in node, the page in Chromium
#   long     20,000 large problems, laws and dense comparisons from five other seeds,
#            z of every exact row of the laboratory over 150 seeds, the programs that asan
#            leaves out, kernels for GPUs on the emulator under ASan, AArch64 whole, 64 tokens
#            and a long prompt of a model, and the speed of models on attend, watched and not
#
# The last line is the sum of the counts that the programs printed.  A program
# that crashes, or prints no count, is one failed test; an example or a fuzzer is
# one test.  The exit status is 1 if any failed.
set -u
cd "$(dirname "$0")/.." || exit 1

jobs=${JOBS:-2}
fuzz_seconds=${FUZZ_SECONDS:-30}
passed=0
failed=0
skipped=0

scripts/setup.sh test || exit 1
mkdir -p build

# add PASSED FAILED SKIPPED
add() {
    passed=$((passed + $1))
    failed=$((failed + $2))
    skipped=$((skipped + $3))
}

# build PRESET ARGUMENT...: configure with the arguments and build the preset.
build() {
    preset=$1
    shift
    JOBS=$jobs scripts/build.sh "$preset" '' "$@" && return
    add 0 1 0
    return 1
}

# count_ctest LOG EXPECTED: read ctest's log, print one line per program and the
# full output of each that failed, and last "total PASSED FAILED SKIPPED".
count_ctest() {
    awk -v expected="$2" '
    / Testing: / { name = $NF; output = ""; line = ""; inside = 0 }
    /^<end of output>$/ { inside = 0 }
    inside {
        output = output $0 "\n"
        line = $0
    }
    /^-+$/ && !inside && armed { inside = 1; armed = 0; next }
    /^Output:$/ { armed = 1 }
    /^Test (Passed|Failed)\.$/ {
        p = f = s = 0
        why = ""
        if (name ~ /^example_/) {
            if ($2 == "Passed.") p = 1
            else { f = 1; why = "it failed" }
        } else if (line !~ /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/) {
            f = 1; why = "its last line is no count"
        } else {
            split(line, word, " ")
            p = word[1]; f = word[3]; s = word[5]
            if ($2 == "Failed." && f == 0) { f = 1; why = "exit status, yet no failed test" }
            if (p + f + s == 0) { f = 1; why = "it ran no test" }
        }
        if (f > 0) printf "%s", output
        printf "  %-28s %d passed, %d failed, %d skipped%s\n", name, p, f, s, \
            why == "" ? "" : " (" why ")"
        sums["p"] += p; sums["f"] += f; sums["s"] += s; programs++
    }
    END {
        if (expected == 0 || programs != expected) {
            printf "  %d programs of %d were run\n", programs, expected
            sums["f"]++
        }
        print "total", sums["p"] + 0, sums["f"] + 0, sums["s"] + 0
    }' "$1"
}

# run_ctest PRESET ARGUMENT...: run the tests that the arguments choose.
run_ctest() {
    preset=$1
    shift
    log=build/$preset/Testing/Temporary/LastTest.log
    expected=$(ctest --test-dir "build/$preset" -N "$@" | sed -n 's/^Total Tests: //p')
    rm -f "$log"
    ctest --test-dir "build/$preset" -j "$jobs" "$@" >"build/$preset.ctest.log" 2>&1
    if ! [ -f "$log" ]; then
        cat "build/$preset.ctest.log"
        add 0 1 0
        return
    fi
    count_ctest "$log" "${expected:-0}" >"build/$preset.count"
    sed '$d' "build/$preset.count"
    # shellcheck disable=SC2046 # three numbers
    add $(sed -n '$s/^total //p' "build/$preset.count")
}

# Says which MPI the build has not found.
skip_ranks() {
    for abi in openmpi mpich; do
        grep -q "^mpi_$abi" build/release/mpi_found.txt 2>/dev/null && continue
        echo "  tests on ranks of $abi are skipped: its mpicc is not here"
        add 0 0 1
    done
}

stage_release() {
    nvcc=$(scripts/get_nvcc.sh) || echo "  SKIPPED: kernels for GPUs are not compiled: $nvcc"
    build release -DATTEND_TESTS=ON -DATTEND_WERROR=ON || return
    run_ctest release
    skip_ranks
}

# Many measurements and judgements of the same few functions: the long stage has them.
repeats='^test_(seeds|sheets|sheets_worlds|teaching|experiments|noise_experiments)$'

# sanitized ARGUMENT...: run the tests that ctest chooses under ASan and UBSan.
#
# No check for use after return: GCC 12 lays the frames it keeps for that on 32 bytes,
# where kernels spill 64-byte vectors.
sanitized() {
    build asan &&
        ATTEND_TEST_QUICK=1 OMP_NUM_THREADS=2 \
            ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=0 \
            UBSAN_OPTIONS=print_stacktrace=1 run_ctest asan "$@"
}

# What the MPIs themselves do not free is not ours to find.
stage_asan() {
    LSAN_OPTIONS="suppressions=$PWD/tests/mpi/leaks.supp:print_suppressions=0" \
        sanitized -L '^(c|example|mpi)$' -E "$repeats"
}

stage_tsan() {
    build tsan &&
        ATTEND_TEST_QUICK=1 run_ctest tsan -R '^test_(threads|threads_split|split|pool)$'
}

# fuzz_one PROGRAM DIR: leaves DIR/status and DIR/log.
fuzz_one() {
    seeds=build/fuzz/seeds/${1##*/fuzz_}
    mkdir -p "$2/corpus" "$seeds"
    "$1" -max_total_time="$fuzz_seconds" -timeout=300 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$2/" "$2/corpus" "$seeds" >"$2/log" 2>&1
    echo $? >"$2/status"
}

fuzz_report() {
    name=${1##*/}
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/run/$name/log")
    if [ "$(cat "build/fuzz/run/$name/status")" = 0 ] && [ "${runs:-0}" -gt 0 ]; then
        echo "  $name: $runs inputs in $fuzz_seconds s"
        add 1 0 0
    else
        tail -n 60 "build/fuzz/run/$name/log"
        echo "  $name: FAILED; the input is in build/fuzz/run/$name"
        add 0 1 0
    fi
}

stage_fuzz() {
    build fuzz || return
    rm -rf build/fuzz/seeds build/fuzz/run
    mkdir -p build/fuzz/seeds
    build/fuzz/tests/make_seeds build/fuzz/seeds >build/fuzz/seeds.log ||
        { cat build/fuzz/seeds.log; echo "FAILED: make_seeds"; add 0 1 0; return; }
    for program in build/fuzz/tests/fuzz_*; do
        fuzz_one "$program" "build/fuzz/run/${program##*/}" &
    done
    wait
    for program in build/fuzz/tests/fuzz_*; do
        fuzz_report "$program"
    done
}

# add_count LOG: the count that is its last line, or one failed test.
add_count() {
    count=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$1")
    # shellcheck disable=SC2086 # three numbers
    add ${count:-0 1 0}
}

# make_python: leaves the interpreter in $python, or has counted why there is none.
make_python() {
    python=$(tests/python/environment.sh) && return
    case $? in
    3) echo "  the Python tests are skipped: $python"; add 0 0 1 ;;
    *) add 0 1 0 ;;
    esac
    return 1
}

stage_python() {
    make_python || return
    rm -rf build/python.run
    mkdir -p build/python.run
    printf '%s\n' tests/python/test_*.py |
        xargs -P "$jobs" -n 1 tests/python/run_one.sh "$python" build/python.run
    for log in build/python.run/*.log; do
        add_count "$log"
        grep -A 40 '^FAIL' "$log"
        name=${log##*/}
        printf '  %-28s %s\n' "python ${name%.log}" "$(tail -n 1 "$log")"
    done
}

# make_neon TARGETS: the cross build of these, or it has counted why there is none.
make_neon() {
    if ! scripts/setup.sh neon >build/neon.setup.log 2>&1; then
        why=$(tail -n 1 build/neon.setup.log)
    elif why=$(scripts/arm64_root.sh build/arm64); then
        JOBS=$jobs scripts/build.sh neon "$1" && return
        add 0 1 0
        return 1
    fi
    echo "  SKIPPED: everything for AArch64: $why"
    add 0 0 1
    return 1
}

# What depends on the kernel sets.
neon_brief='test_kernel_sets test_laws test_dense test_exp2'
neon_whole="$neon_brief test_conformance test_half test_merge test_order test_partials test_mask_blocks test_split \
    test_inspect test_stats test_stats_accuracy test_stats_merge test_stats_places"

# one_of NAME...: a regular expression of these tests, those under ATTEND_SPLIT among them.
one_of() { echo "$*" | sed -E 's/ +/|/g; s/.*/^(&)(_split)?$/'; }

# An older CPU: the set for bf16 is refused there, and the other one computes.
neon_without_bf16() {
    qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu cortex-a72 build/neon/tests/test_kernel_sets \
        >build/neon.old.log 2>&1
    grep -E '^FAIL|SKIPPED' build/neon.old.log
    add_count build/neon.old.log
    printf '  %-28s %s\n' "test_kernel_sets, older CPU" "$(tail -n 1 build/neon.old.log)"
}

stage_neon() {
    make_neon "$neon_brief" || return
    # shellcheck disable=SC2086 # names of tests
    ATTEND_TEST_QUICK=1 run_ctest neon -R "$(one_of $neon_brief)"
    neon_without_bf16
}

# The same programs whole and more of them, and the command.
whole_neon() {
    make_neon "attend_tool $neon_whole" || return
    # shellcheck disable=SC2086 # names of tests
    run_ctest neon -R "$(one_of $neon_whole)"
    neon_without_bf16
    if qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu max build/neon/attend check; then
        add 1 0 0
    else
        add 0 1 0
    fi
}

# page_one LOG COMMAND...: a program of the page's tests, with its output and its count.
page_one() {
    log=build/page_tests/$1.log
    shift
    "$@" >"$log" 2>&1
    grep -A 8 '^FAIL' "$log"
    grep '^  ' "$log"
    add_count "$log"
    printf '  %-28s %s\n' "page ${log##*/}" "$(tail -n 1 "$log")"
}

# The checks of one module: as many tests as it has lines, and one for its end.
page_checks() {
    log=build/page_tests/check_$1.log
    node --no-experimental-fetch "build/wasm-$1/page_check.js" >"$log" 2>&1
    status=$?
    ok=$(grep -c ' ok$' "$log")
    bad=$(grep -c 'FAILED$' "$log")
    grep -A 2 'FAILED$' "$log"
    [ $status -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    add "$ok" "$bad" "$(grep -c SKIPPED "$log")"
    echo "  page_check $1: $ok ok, $bad failed"
}

stage_page() {
    build release -DATTEND_TESTS=ON -DATTEND_WERROR=ON || return
    mkdir -p build/page_tests
    for set in scalar simd128; do
        JOBS=$jobs scripts/build.sh wasm-$set 'page_module page_check' || { add 0 1 0; return; }
        page_checks $set
    done
    NODE_PATH=/usr/share/nodejs node web/build.mjs build/attend.html || { add 0 1 0; return; }
    page_one test_module node tests/page/test_module.mjs
    why=$(tests/page/packages.sh) || {
        echo "  the page in Chromium is skipped: $why"
        add 0 0 1
        return
    }
    page_one test_browser node tests/page/test_browser.mjs
    page_one test_misuse node tests/page/test_misuse.mjs
}

# long_one NAME VARIABLE=VALUE: a program with its output as it comes, and its count.
long_one() {
    echo "-- $1 $2"
    env "$2" "build/release/tests/$1" 2>&1 | tee build/long.log
    add_count build/long.log
}

stage_long() {
    build release -DATTEND_TESTS=ON -DATTEND_WERROR=ON || return
    long_one test_large ATTEND_TEST_LARGE=20000
    long_one test_seeds ATTEND_TEST_SEEDS=150
    long_one test_place ATTEND_TEST_SEEDS=150
    for seed in 11 12 13 14 15; do
        long_one test_laws ATTEND_TEST_SEED=$seed
        long_one test_dense ATTEND_TEST_SEED=$seed
    done
    sanitized -R "$repeats"
    echo "-- kernels for GPUs on the CPU, under ASan"
    sanitized -L '^emulated$'
    echo "-- AArch64 under qemu"
    whole_neon
    echo "-- the page, every control"
    ATTEND_TEST_LONG=1 stage_page
    make_python || return
    for name in test_models test_watch_models; do
        echo "-- $name.py"
        ATTEND_TEST_LONG=1 tests/python/run_one.sh "$python" build tests/python/$name.py
        cat build/$name.log
        add_count build/$name.log
    done
    "$python" -B bench/python_calls.py
    "$python" -B bench/watch_cost.py --tokens 2048 8192
}

[ $# -gt 0 ] || set -- release asan tsan fuzz python neon page
for stage in "$@"; do
    case $stage in release | asan | tsan | fuzz | python | neon | page | long) ;; *)
        echo "usage: $0 [release|asan|tsan|fuzz|python|neon|page|long]..." >&2
        exit 2
        ;;
    esac
    start=$(date +%s)
    echo "== $stage"
    "stage_$stage"
    echo "== $stage: $(($(date +%s) - start)) s"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
