#!/bin/sh
# SPDX-License-Identifier: MIT
# test_launches.sh FOLDER: every kernel was launched by some test that ran on the emulator;
# FOLDER has their files *.launches.
set -u
# shellcheck source=tests/house/harness.sh
. "$(dirname "$0")/../house/harness.sh"
folder=${1:?"usage: $0 FOLDER"}

# never FILE...: kernels with a count of 0 in all files.
never() { awk '{ count[$1] += $2 } END { for (name in count) if (!count[name]) print name }' "$@" | sort; }
# kernels FILE...: the number of kernels in the files.
kernels() { cat "$@" | awk '{ print $1 }' | sort -u | grep -c .; }

# launched KERNELS FILE: launches of the kernels attend_KERNELS*.
launched() { awk -v like="^attend_$1" '$1 ~ like { count += $2 } END { print count + 0 }' "$2"; }

printf 'attend_planted 0\nattend_other 3\n' >"$tmp/planted.launches"
caught "a kernel that nothing launches" attend_planted never "$tmp/planted.launches"
if ls "$folder"/*.launches >/dev/null 2>&1; then
    succeeds "the tests have all kernels" test "$(kernels "$folder"/*.launches)" -ge 100
    silent "every kernel is launched" never "$folder"/*.launches
    other=$folder/test_cuda_stats_sm80_emulated.launches
    succeeds "a GPU of compute capability 8.0 runs the sm80 kernels" test "$(launched sm80_ "$other")" -gt 0
    succeeds "and none of Hopper's" test "$(launched sm90_ "$other")" -eq 0
else
    skip "kernels that tests launch" "no test has run on the emulator"
fi
finish
