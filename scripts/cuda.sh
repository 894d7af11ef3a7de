#!/bin/sh
# SPDX-License-Identifier: MIT
# cuda.sh [PART...]: tests and benchmarks on a machine with a GPU, in parts of less than ten minutes:
#
#   build      library, command and tests, into build/cuda (needs nvcc)
#   tests      laws, conformance rows, dense comparisons, statistics, device memory, order FAST
#   split      conformance rows and partials with splits of 128 keys
#   sm80       order FAST with the sm80 kernels
#   check      attend check --device cuda
#   torch      Python extension and attend on CUDA tensors: torch, arrays, models (needs torch)
#   prefill, gqa, window, d256, logits, mask, stats, columns, decode
#              against cuDNN (needs torch): rows of docs/CUDA-RESULTS.json
#   tables     tables of docs/BENCHMARKS.md from these rows
#   times      attend bench --device cuda
#   memcheck, racecheck
#              test_cuda, test_cuda_rows, test_cuda_stats and test_cuda_memory under compute-sanitizer, shortened;
#              ATTEND_TEST_NAME=WORD runs only tests whose names contain WORD
#
# Without arguments: all parts that have not passed yet, so that an interrupted run resumes.
# A part that is named always runs.  build/cuda/results has the logs; remove its files *.done
# to run all parts again.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/cuda
results=$build/results
limit=590
mkdir -p "$results"

programs="test_cuda test_cuda_rows test_cuda_stats test_cuda_memory test_conformance test_dense test_laws test_stats
test_stats_places test_stats_requests test_stats_shards test_stats_merge test_stats_accuracy test_inspect test_memory test_partials
test_mask_blocks"
measured="prefill gqa window d256 logits mask stats columns decode"
all="build tests split sm80 check torch $measured tables times memcheck racecheck"

part_build() {
    # shellcheck disable=SC2086 # several targets
    cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DATTEND_TESTS=ON ${ATTEND_CMAKE:-} &&
        cmake --build "$build" --parallel --target attend attend_tool $programs
}

# run_programs SUFFIX PROGRAM...: with the set "cuda" only; make test covers the CPU sets.
run_programs() {
    suffix=$1
    status=0
    shift
    for name; do
        log=$results/$name$suffix.log
        ATTEND_TEST_SET=cuda "$build/tests/$name" >"$log" 2>&1 || status=1
        grep -A 8 '^FAIL' "$log"
        echo "$name$suffix: $(tail -n 1 "$log")"
    done
    return $status
}

part_tests() {
    "$build/attend" info
    # shellcheck disable=SC2086 # several programs
    run_programs '' $programs
}
part_split() {
    ATTEND_SPLIT=128 run_programs _split test_conformance test_stats test_stats_places test_stats_requests test_inspect
}
part_sm80() { ATTEND_CUDA_KERNELS=sm80 run_programs _sm80 test_cuda test_cuda_rows test_cuda_stats test_cuda_memory; }
part_check() { "$build/attend" check --device cuda; }

part_torch() {
    # shellcheck disable=SC2086 # several options
    cmake -S "$root" -B "$build/python" -DCMAKE_BUILD_TYPE=Release -DATTEND_TOOL=OFF -DATTEND_PYTHON=ON ${ATTEND_CMAKE:-} &&
        cmake --build "$build/python" --parallel --target python_core &&
        cp "$build/python/_core.abi3.so" "$root/python/attend/" &&
        PYTHONPATH=$root/python python3 "$root/tests/python/cuda_torch.py" &&
        PYTHONPATH=$root/python python3 "$root/tests/python/cuda_arrays.py"
}

# measure NAME: measures the cases that NAME selects, and keeps the rows of all others.
measure() {
    python3 "$root/bench/compare_cuda.py" "$build/libattend.so" --flex --only "$1" --json "$root/docs/CUDA-RESULTS.json"
}

part_tables() {
    python3 "$root/bench/cuda_table.py" "$root/docs/CUDA-RESULTS.json" --into "$root/docs/BENCHMARKS.md"
}
part_times() { "$build/attend" bench --device cuda --seconds 0.2; }

sanitize() {
    for name in test_cuda test_cuda_rows test_cuda_stats test_cuda_memory; do
        ATTEND_TEST_QUICK=1 compute-sanitizer --tool "$1" --error-exitcode 1 "$build/tests/$name" ${ATTEND_TEST_NAME:-} || return
    done
}

# Runs one part in this process.
one() {
    case $1 in
    prefill) measure '16 d' ;;
    gqa | window | d256 | logits | mask | stats | columns | decode) measure "$1" ;;
    memcheck | racecheck) sanitize "$1" ;;
    *) "part_$1" ;;
    esac
}

wanted=${*:-$all}
for part in $wanted; do
    case " $all " in *" $part "*) ;; *)
        sed -n '3,22s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
    esac
    [ $# -eq 0 ] && [ -f "$results/$part.done" ] && continue
    # The script calls itself, so that the time limit covers everything that a part starts.
    if [ "${CUDA_SH_PART:-}" = "$part" ]; then
        one "$part"
        exit
    fi
    echo "== $part"
    rm -f "$results/$part.done"
    CUDA_SH_PART=$part timeout $limit sh "$0" "$part" || {
        echo "cuda.sh: $part failed" >&2
        exit 1
    }
    touch "$results/$part.done"
done
