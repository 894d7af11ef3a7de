#!/bin/sh
# SPDX-License-Identifier: MIT
# nvcc.sh LOG COMMAND...: compiles kernels; what the compiler says goes to LOG, and to the
# terminal where it fails.  Lines C75xx say that the assembler gave up a pipeline of
# matrix products: that is an error.
set -u
log=$1
shift
if ! "$@" >"$log" 2>&1 || grep -q 'C75[0-9][0-9]' "$log"; then
    cat "$log" >&2
    exit 1
fi
