#!/bin/sh
# SPDX-License-Identifier: MIT
# rivals_python.sh: prints the path of a Python interpreter with the other libraries.
#
# It is in a virtual environment below build/, with the versions of requirements.txt, and
# is created again if that file changes.  BENCH_PYTHON names another interpreter, which is
# used unchanged; results contain the versions.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=$here/../../build/rivals
python=${BENCH_PYTHON:-}

if [ -z "$python" ]; then
    python=$venv/bin/python
    if ! cmp -s "$here/requirements.txt" "$venv/installed.txt"; then
        echo "rivals: installing bench/compare/requirements.txt into build/rivals" >&2
        rm -rf "$venv"
        mkdir -p "$venv"
        log=$venv/install.log
        if ! { python3 -m venv "$venv" &&
            "$python" -m pip install -r "$here/requirements.txt"; } >"$log" 2>&1; then
            tail -n 20 "$log" >&2
            echo "rivals: no environment; its log is build/rivals/install.log" >&2
            exit 1
        fi
        cp "$here/requirements.txt" "$venv/installed.txt"
    fi
fi
if ! "$python" -c 'import numpy, onnx, onnxruntime, torch'; then
    echo "rivals: $python lacks a rival; bench/compare/requirements.txt names them" >&2
    exit 1
fi
command -v "$python"
