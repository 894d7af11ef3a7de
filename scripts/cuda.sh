#!/bin/sh
# SPDX-License-Identifier: MIT
# cuda.sh [PART...]: tests and benchmarks on a machine with a GPU, in parts of less than ten minutes:
#
#   build      library, command and tests, into build/cuda (needs nvcc)
#   tests      laws, conformance rows, dense comparisons, statistics, device memory, order FAST
#   split      conformance rows and partials with splits of 128 keys; order FAST with such splits in decoding
#   sm80       order FAST with the sm80 kernels
#   check      attend check --device cuda
#   torch      Python extension and attend on CUDA tensors: torch, arrays, models (needs torch)
#   prefill, gqa, window, d256, d192, logits, mask, stats, columns, decode
#              against cuDNN (needs torch): rows of docs/CUDA-RESULTS.json
#   tables     tables of docs/BENCHMARKS.md from these rows
#   times      attend bench --device cuda
#   fuzz       random problems of test_cuda_rows, FUZZ_SECONDS (540) by FUZZ_PROCESSES (4); seeds
#              are printed, and FUZZ_SEED is the first (default: the time)
#   memcheck   test_cuda_rows under compute-sanitizer, every kernel of order FAST with all layouts;
#              test_cuda, test_cuda_stats and test_cuda_memory, shortened
#   racecheck_KERNELS
#              the same for races, of kernels whose names begin so: one part for each below
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
measured="prefill gqa window d256 d192 logits mask stats columns decode"
# Beginnings of the names in src/cuda/host/kernel_names.h.
races_general="forward_f64 forward_f32 forward_f16 forward_bf16 weights combine stats summaries columns pooled zoom probe merge_parts gather_records sums_add"
races_fast="sm80 sm90_prefill sm90_masked sm90_mask sm90_lists sm90_score_mod sm90_stats sm90_nonfinite sm90_decode sm90_combine
sm90_pack sm90_columns sm90_lse"
races=$(for name in $races_general $races_fast; do echo "racecheck_$name"; done)
all="build tests split sm80 check torch fuzz $measured tables times memcheck $races"

part_build() {
    # shellcheck disable=SC2086 # several targets
    cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DATTEND_TESTS=ON ${ATTEND_CMAKE:-} &&
        cmake --build "$build" --parallel --target attend_shared attend_tool $programs
}

# run_programs SUFFIX PROGRAM...: six at a time, with the set "cuda" only; make test covers the CPU sets.
run_programs() {
    suffix=$1
    shift
    printf '%s\n' "$@" | ATTEND_TEST_SET=cuda xargs -P 6 -I NAME sh -c '
        "$0/tests/NAME" >"$1/NAME$2.log" 2>&1
        echo $? >"$1/NAME$2.status"' "$build" "$results" "$suffix"
    failed=0
    for name; do
        log=$results/$name$suffix.log
        [ "$(cat "$results/$name$suffix.status")" = 0 ] || failed=1
        grep -A 8 '^FAIL' "$log"
        echo "$name$suffix: $(tail -n 1 "$log")"
    done
    return $failed
}

part_tests() {
    "$build/attend" info
    # shellcheck disable=SC2086 # several programs
    run_programs '' $programs
}
part_split() {
    ATTEND_SPLIT=128 run_programs _split test_conformance test_stats test_stats_places test_stats_requests test_inspect &&
        ATTEND_CUDA_SPLIT=128 run_programs _decode_split test_cuda test_cuda_rows
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

# Every kernel of order FAST on the GPU and in test_cuda_rows, so not shortened there.
part_memcheck() {
    for name in test_cuda_rows test_cuda test_cuda_stats test_cuda_memory; do
        [ $name = test_cuda_rows ] || export ATTEND_TEST_SCALE=0.1
        compute-sanitizer --tool memcheck --error-exitcode 1 "$build/tests/$name" ${ATTEND_TEST_NAME:-} || return
    done
}

# racecheck KERNELS: the others run as they are.
racecheck() {
    programs=test_cuda_rows
    case " $races_general " in *" $1 "*) programs="test_cuda_stats test_cuda_memory" ;; esac
    case $1 in sm80*) export ATTEND_CUDA_KERNELS=sm80 ;; sm90_columns | sm90_lse) programs=test_cuda_stats ;; esac
    for name in $programs; do
        ATTEND_TEST_SCALE=0.1 compute-sanitizer --tool racecheck --kernel-name "kns=attend_$1" --error-exitcode 1 \
            "$build/tests/$name" ${ATTEND_TEST_NAME:-} || return
    done
}

part_fuzz() {
    seed=${FUZZ_SEED:-$(date +%s)}
    seed=$((seed % 10000))
    last=$((seed + ${FUZZ_PROCESSES:-4} - 1))
    for x in $(seq "$seed" "$last"); do
        ATTEND_TEST_SEED=$x ATTEND_TEST_SECONDS=${FUZZ_SECONDS:-540} "$build/tests/test_cuda_rows" random \
            >"$results/fuzz.$x.log" 2>&1 &
    done
    wait
    failed=0
    for x in $(seq "$seed" "$last"); do
        grep 'problem' "$results/fuzz.$x.log"
        tail -n 1 "$results/fuzz.$x.log" | grep -q '^1 passed, 0 failed, 0 skipped' || failed=1
    done
    return $failed
}

# Runs one part in this process.
one() {
    case $1 in
    prefill) measure '16 d' ;;
    gqa | window | d256 | d192 | logits | mask | stats | columns | decode) measure "$1" ;;
    racecheck_*) racecheck "${1#racecheck_}" ;;
    *) "part_$1" ;;
    esac
}

wanted=${*:-$all}
for part in $wanted; do
    case " $(echo $all) " in *" $part "*) ;; *)
        sed -n '3,27s/^# \{0,1\}//p' "$0" >&2
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
