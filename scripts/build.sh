#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh PRESET TARGETS ARGUMENT...: configure the preset with the arguments and build
# the targets, all of them if TARGETS is empty, by JOBS (2) at a time.
#
# On a terminal a line shows the progress, elsewhere the preset.  The output of CMake and
# the compiler is in build/PRESET.log, and is shown on failure.
set -u
preset=${1:?"usage: $0 PRESET TARGETS ARGUMENT..."}
targets=${2?"usage: $0 PRESET TARGETS ARGUMENT..."}
shift 2

log=build/$preset.log
status=build/$preset.status
mkdir -p build

build() {
    # shellcheck disable=SC2086 # names of targets
    NINJA_STATUS='[%p] ' "${0%/*}/configure.sh" "$preset" "$@" &&
        cmake --build --preset "$preset" --parallel "${JOBS:-2}" ${targets:+--target $targets}
}

# show: progress in percent, from lines such as "[ 45%] Building ...".
show() {
    awk -v preset="$preset" '
    BEGIN { printf "building %s", preset; fflush() }
    match($0, /^\[ *[0-9]+%\]/) {
        share = substr($0, 2, RLENGTH - 3) + 0
        if (share != shown) printf "\r\033[Kbuilding %s: %d %%", preset, share
        shown = share
        fflush()
    }
    END { printf "\r\033[K" }'
}

if [ -t 1 ]; then
    { build "$@" 2>&1; echo $? >"$status"; } | tee "$log" | show
else
    echo "building $preset"
    build "$@" >"$log" 2>&1
    echo $? >"$status"
fi
[ "$(cat "$status")" = 0 ] && exit
cat "$log"
echo "FAILED: the $preset build"
exit 1
