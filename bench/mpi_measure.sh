#!/bin/sh
# SPDX-License-Identifier: MIT
# mpi_measure.sh [FOLDER]: makes all measurements of docs/MPI.md, in less than 8 minutes on 16
# cores, and prints one JSON object, which bench/mpi_tables.py turns into tables.  FOLDER is
# the folder that bench/mpi_pack.sh made, by default that of this script; without one, the
# build in build/release is measured with the installed MPICH.  MPI_CORES (default: all) is
# the number of cores to use, OUT (default: .) the folder of the timeline.
set -u
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-}
[ -n "$folder" ] || [ ! -x "$here/attend" ] || folder=$here
cores=${MPI_CORES:-$(nproc)}
out=${OUT:-.}
if [ -n "$folder" ]; then
    folder=$(cd "$folder" && pwd)
    attend=$folder/attend
    launch="$folder/mpiexec.hydra -launcher fork"
    export LD_LIBRARY_PATH="$folder/lib" UCX_MODULE_DIR="$folder/lib/ucx"
    export ATTEND_MPI="$folder/lib/libattend_mpi_mpich.so"
else
    attend=$here/../build/release/attend
    launch=mpirun.mpich
fi
lines=$out/mpi_measure.lines
: >"$lines"

# measure RANKS THREADS CASE [ARGUMENT...]: under the launcher; RANKS 0: one plain process.
measure() {
    ranks=$1 threads=$2 case=$3
    shift 3
    if [ "$ranks" = 0 ]; then
        timeout 120 "$attend" bench --mpi --json --threads "$threads" --case "$case" "$@"
    else
        # shellcheck disable=SC2086 # a command and its options
        timeout 120 $launch -n "$ranks" -bind-to core:"$threads" \
            "$attend" bench --mpi --json --threads "$threads" --case "$case" "$@"
    fi >>"$lines" 2>>"$out/mpi_measure.log" || echo "failed: $ranks ranks, $case" >&2
}

# The same bits for any number of ranks.
measure 0 "$cores" 'bits-8k-*'
for ranks in 1 2 3 4 8; do
    measure "$ranks" 1 'bits-8k-*'
done
# One process on all cores, and one rank per core; alternating, since cores are shared.
for shape in causal-32k-zigzag causal-32k-contiguous causal-32k-ring; do
    measure 0 "$cores" causal-32k-zigzag
    measure "$cores" 1 "$shape"
done
measure "$cores" 1 causal-32k-ring-contiguous
measure "$cores" 1 causal-32k-gather
measure 1 "$cores" causal-32k-ring
for shape in causal-32k-zigzag causal-32k-ring; do
    measure "$((cores / 4 > 0 ? cores / 4 : 1))" 4 "$shape"
done
measure 0 "$cores" causal-32k-zigzag
measure "$cores" 1 causal-32k-zigzag
# Trace of each chunk on each rank, for the timeline.
measure 4 1 bits-8k-f32 --trace "$out/mpi_trace"
# A long sequence of keys, and decoding.
measure 4 "$((cores / 4 > 0 ? cores / 4 : 1))" long-1m
measure 8 "$((cores / 8 > 0 ? cores / 8 : 1))" 'decode-*'

[ ! -e "$out/mpi_trace.0" ] ||
    python3 "$here/mpi_timeline.py" "$out/mpi_timeline.svg" "$out"/mpi_trace.[0-9]* 2>/dev/null

# All results, and their summary.
awk -v cores="$cores" '
function value(line, name,    text) {
    if (!match(line, "\"" name "\": *[^,}]*")) return ""
    text = substr(line, RSTART, RLENGTH)
    sub(/^[^:]*: */, "", text)
    gsub(/"/, "", text)
    return text
}
{
    all = all (NR > 1 ? ",\n  " : "") $0
    name = value($0, "case"); ranks = value($0, "ranks") + 0; threads = value($0, "threads") + 0
    if (name ~ /^bits/) {
        sum = value($0, "checksum")
        if (!(name in first)) first[name] = sum
        if (sum != first[name]) differ = differ " " name "@" ranks
        checked++
    }
    if (name == "causal-32k-zigzag" && threads == cores) { alone += value($0, "seconds"); alones++ }
    if (name ~ /^causal-32k/ && ranks == cores) { time[name] += value($0, "seconds"); times[name]++ }
    if (name == "long-1m") memory = value($0, "resident_over_slices")
    if (name ~ /^decode/) bytes = bytes (bytes == "" ? "" : ", ") "\"" name "\": " value($0, "sent_bytes")
}
function share(name) { return time[name] ? alone / alones / (time[name] / times[name]) : 0 }
END {
    printf "{\"cores\": %d, \"same_bits\": %s, \"bits_runs\": %d,\n", cores, (differ == "" && checked > 0 ? "true" : "false"), checked
    printf " \"over_one_process\": {\"zigzag\": %.3f, \"contiguous\": %.3f, \"ring\": %.3f, \"ring_contiguous\": %.3f, \"gather\": %.3f}, \"contiguous_cap\": %.3f,\n", \
        share("causal-32k-zigzag"), share("causal-32k-contiguous"), share("causal-32k-ring"), share("causal-32k-ring-contiguous"), share("causal-32k-gather"), cores / (2 * cores - 1)
    printf " \"long_1m_resident_over_slices\": %s,\n \"decode_bytes\": {%s},\n", memory == "" ? "null" : memory, bytes
    printf " \"runs\": [\n  %s]}\n", all
}' "$lines"
