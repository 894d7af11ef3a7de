#!/bin/sh
# SPDX-License-Identifier: MIT
# run_one.sh PYTHON LOGS PROGRAM: run a test program; its output is LOGS/NAME.log.
#
# The last line of the log is the program's count, unless the program crashed after it,
# exited as if something failed, or counted nothing.  Programs run beside each other, so
# each has one thread unless it asks for more.
set -u
name=${3##*/}
log=$2/${name%.py}.log
config=$(cat "${1%/bin/python}/pip_config" 2>/dev/null) && export PIP_CONFIG_FILE="$config"
OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 PATH=${1%/*}:$PATH "$1" -B "$3" >"$log" 2>&1
status=$?
case $(tail -n 1 "$log") in
"0 passed, 0 failed, "*) echo "no test was run" >>"$log" ;;
*" 0 failed, "*) [ $status -eq 0 ] || echo "exit status $status" >>"$log" ;;
esac
