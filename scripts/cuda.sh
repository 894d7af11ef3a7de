#!/bin/sh
# SPDX-License-Identifier: MIT
# cuda.sh PART...: everything on a machine with a GPU, in parts of less than ten minutes:
#
#   build     library, command and tests, into build/cuda (needs nvcc)
#   tests     laws, conformance rows, dense comparisons, statistics and test_cuda on the GPU
#   torch     Python extension and attend on CUDA tensors: torch, arrays, models (needs torch)
#   bench     beside cuDNN (needs torch); writes docs/CUDA-RESULTS.json
#   memcheck  test_cuda under compute-sanitizer; racecheck likewise, which is slow: name a test in
#             ATTEND_TEST_NAME
#
# A part can be repeated and needs only `build` before it.  Logs are in build/cuda/results.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/cuda
results=$build/results
mkdir -p "$results"

programs="test_cuda test_cuda_memory test_conformance test_dense test_laws test_stats test_stats_places
test_stats_requests test_stats_shards test_stats_merge test_stats_accuracy test_inspect test_memory test_partials test_mask_blocks"

part_build() {
    # shellcheck disable=SC2086 # several targets
    cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DATTEND_TESTS=ON ${ATTEND_CMAKE:-} &&
        cmake --build "$build" --parallel --target attend attend_tool $programs
}

# The set "cuda" alone; the CPU's sets have been tested elsewhere.
part_tests() {
    "$build/attend" info
    status=0
    for name in $programs; do
        ATTEND_TEST_SET=cuda "$build/tests/$name" >"$results/$name.log" 2>&1 || status=1
        echo "$name: $(tail -n 1 "$results/$name.log")"
    done
    return $status
}

part_torch() {
    # shellcheck disable=SC2086 # several options
    cmake -S "$root" -B "$build/python" -DCMAKE_BUILD_TYPE=Release -DATTEND_TOOL=OFF -DATTEND_PYTHON=ON ${ATTEND_CMAKE:-} &&
        cmake --build "$build/python" --parallel --target python_core &&
        cp "$build/python/_core.abi3.so" "$root/python/attend/" &&
        PYTHONPATH=$root/python python3 "$root/tests/python/cuda_torch.py" &&
        PYTHONPATH=$root/python python3 "$root/tests/python/cuda_arrays.py"
}

part_bench() {
    python3 "$root/bench/compare_cuda.py" "$build/libattend.so" --flex --json "$root/docs/CUDA-RESULTS.json"
}

part_memcheck() {
    ATTEND_TEST_QUICK=1 compute-sanitizer --tool memcheck --error-exitcode 1 "$build/tests/test_cuda" ${ATTEND_TEST_NAME:-}
}

part_racecheck() {
    ATTEND_TEST_QUICK=1 compute-sanitizer --tool racecheck --error-exitcode 1 "$build/tests/test_cuda" ${ATTEND_TEST_NAME:-}
}

[ $# -gt 0 ] || set -- build tests torch bench memcheck racecheck
for part; do
    case $part in
    build | tests | torch | bench | memcheck | racecheck) ;;
    *)
        sed -n '3,13s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
    esac
    "part_$part" || {
        echo "cuda.sh: $part failed" >&2
        exit 1
    }
done
