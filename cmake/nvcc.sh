#!/bin/sh
# SPDX-License-Identifier: MIT
# nvcc.sh IMAGE SOURCES NVCC ARGUMENT...: compiles kernels to IMAGE.fatbin, unless that has
# been made of the same SOURCES (with : between them), compiler and arguments: builds of
# this tree share their kernels.  What the compiler says goes to IMAGE.log, and to the
# terminal where it fails.  Lines C75xx say that the assembler gave up a pipeline of
# matrix products: that is an error.
set -u
image=$1 sources=$2
shift 2
# shellcheck disable=SC2046 # several files
key=$({ "$1" --version; printf '%s\n' "$@"; cat $(echo "$sources" | tr : ' '); } | cksum)
if [ -f "$image.fatbin" ] && [ -f "$image.key" ] && [ "$(cat "$image.key")" = "$key" ]; then
    exit 0
fi
new=$image.$$
trap 'rm -f "$new.fatbin" "$new.log"' EXIT
if ! "$@" -o "$new.fatbin" >"$new.log" 2>&1 || grep -q 'C75[0-9][0-9]' "$new.log"; then
    cat "$new.log" >&2
    exit 1
fi
# Whole files, should another build be at it.
mv "$new.log" "$image.log" && mv "$new.fatbin" "$image.fatbin" && echo "$key" >"$image.key"
