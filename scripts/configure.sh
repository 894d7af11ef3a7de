#!/bin/sh
# SPDX-License-Identifier: MIT
# configure.sh PRESET ARGUMENT...: configure a preset.  A folder that another generator made
# is made anew.
set -u
cache=build/$1/CMakeCache.txt
if [ -f "$cache" ] && ! grep -q '^CMAKE_GENERATOR:INTERNAL=Ninja$' "$cache"; then
    rm -rf "build/$1"
fi
exec cmake --preset "$@"
