# shellcheck shell=sh disable=SC2034
# SPDX-License-Identifier: MIT
# The shell's share of tests/support/test.h, to be sourced.  Sets $root (the repository)
# and $tmp (a directory that goes away); ends with finish.

root=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0
skipped=0

pass() {
    echo "ok   $1"
    passed=$((passed + 1))
}
fail() {
    echo "FAIL $1"
    failed=$((failed + 1))
}

# skip NAME REASON
skip() {
    echo "  SKIPPED: $2"
    echo "skip $1"
    skipped=$((skipped + 1))
}

# succeeds NAME COMMAND...: the command's output is shown only if it fails.
succeeds() {
    name=$1
    shift
    if "$@" >"$tmp/output" 2>&1; then
        pass "$name"
    else
        cat "$tmp/output"
        fail "$name"
    fi
}

# silent NAME COMMAND...: passes if the checker prints nothing.
silent() {
    name=$1
    shift
    "$@" >"$tmp/output" 2>&1
    if [ -s "$tmp/output" ]; then
        cat "$tmp/output"
        fail "$name"
    else
        pass "$name"
    fi
}

# caught NAME PATTERN COMMAND...: passes if the checker reports the planted defect.
caught() {
    name="catches: $1"
    pattern=$2
    shift 2
    "$@" >"$tmp/output" 2>&1
    if grep -q "$pattern" "$tmp/output"; then
        pass "$name"
    else
        cat "$tmp/output"
        fail "$name"
    fi
}

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}
