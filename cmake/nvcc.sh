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
rm -f "$image.key"
if ! "$@" -o "$image.fatbin" >"$image.log" 2>&1 || grep -q 'C75[0-9][0-9]' "$image.log"; then
    cat "$image.log" >&2
    rm -f "$image.fatbin"
    exit 1
fi
echo "$key" >"$image.key"
