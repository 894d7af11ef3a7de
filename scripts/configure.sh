#!/bin/sh
# SPDX-License-Identifier: MIT
# configure.sh PRESET ARGUMENT...: configure a preset.  Replaces a build folder of another
# generator.
set -u
cache=build/$1/CMakeCache.txt
if [ -f "$cache" ] && ! grep -q '^CMAKE_GENERATOR:INTERNAL=Ninja$' "$cache"; then
    rm -rf "build/$1"
fi
exec cmake --preset "$@"
