#!/bin/sh
# SPDX-License-Identifier: MIT
# test_kernels.sh BUILD: what the assembler of the CUDA kernels reported.  No pipeline of
# matrix products was given up (C75xx), and no kernel spills registers.
set -u
# shellcheck source=tests/house/harness.sh
. "$(dirname "$0")/harness.sh"
build=${1:?"usage: $0 BUILD"}

# given_up DIR, spills DIR: the lines that say so.
given_up() { grep -n 'C75[0-9][0-9]' "$1"/*.log; }
spills() {
    for log in "$1"/*.log; do
        awk -v log_name="${log##*/}" '
            /Compiling entry function/ { split($0, part, "\047"); kernel = part[2] }
            /bytes spill stores/ && !/, 0 bytes spill stores, 0 bytes spill loads/ {
                print log_name ": " kernel ": " $0
            }' "$log"
    done
}
# reports DIR SET: the kernels of sm80 or sm90 that have a compiler report.
reports() { cat "$1/$2"_*.log | grep -c "Compiling entry function .attend_$2_"; }

mkdir "$tmp/planted"
cat >"$tmp/planted/sm90_planted.log" <<'END'
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized
ptxas info    : Compiling entry function 'attend_sm90_planted' for 'sm_90a'
    16 bytes stack frame, 20 bytes spill stores, 28 bytes spill loads
END
caught "a pipeline given up" C7510 given_up "$tmp/planted"
caught "a spill" attend_sm90_planted spills "$tmp/planted"
# Prints the folder of the kernels, or the reason why there is none.
{ read -r kernels; read -r why; } <"$build/kernels.txt"
if [ -n "$kernels" ]; then
    silent "no pipeline is given up" given_up "$kernels"
    silent "no kernel spills" spills "$kernels"
    succeeds "every kernel of Hopper is reported" test "$(reports "$kernels" sm90)" -ge 40
    succeeds "every kernel of Ampere is reported" test "$(reports "$kernels" sm80)" -ge 18
else
    skip "the reports of kernels" "no CUDA kernels in this build: $why"
fi
finish
