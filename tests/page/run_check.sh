#!/bin/sh
# SPDX-License-Identifier: MIT
# run_check.sh FILE: page_check.js of a module in node.  What compilers have in common is checked
# by `attend check`: this is about one compiler, and takes 0.3 of the cases.
set -u
effort=$(awk -v scale="${ATTEND_TEST_SCALE:-1}" 'BEGIN { print 0.3 * scale }')
exec node --no-experimental-fetch "$1" "$effort" "${ATTEND_TEST_SEED:-1}"
