#!/bin/sh
# SPDX-License-Identifier: MIT
# test_tables.sh BUILD: tables in docs/ agree with the results that they are made from.
set -u
# shellcheck source=tests/house/harness.sh
. "$(dirname "$0")/harness.sh"
results=$root/docs/CUDA-RESULTS.json

cuda_tables() { (cd "$root" && python3 -B bench/cuda_table.py "$results" --check "$1"); }

sed 's/| bfloat16 d128 full 2048 | [0-9]*/&0/' "$root/docs/BENCHMARKS.md" >"$tmp/planted.md"
caught "a figure that was not measured" planted.md cuda_tables "$tmp/planted.md"
silent "the GPU tables agree with CUDA-RESULTS.json" cuda_tables docs/BENCHMARKS.md
finish
