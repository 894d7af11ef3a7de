# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# libFuzzer's targets, all at once, for FUZZ_SECONDS (30); to be sourced by run.sh.

fuzz_seconds=${FUZZ_SECONDS:-30}

# fuzz_one PROGRAM FOLDER: writes FOLDER/status and FOLDER/log.
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
    build fuzz 'fuzzers make_seeds' || return
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
