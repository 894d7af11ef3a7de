#!/bin/sh
# SPDX-License-Identifier: MIT
# run_emulated.sh PROGRAM: at a tenth of the scale and at most 0.3, because the emulator is slow.
set -u
ATTEND_TEST_SCALE=$(awk -v scale="${ATTEND_TEST_SCALE:-1}" 'BEGIN { print scale < 3 ? scale / 10 : 0.3 }')
export ATTEND_TEST_SCALE
exec "$1"
