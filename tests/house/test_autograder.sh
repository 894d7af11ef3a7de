#!/bin/sh
# SPDX-License-Identifier: MIT
# test_autograder.sh BUILD: the zip of `attend grade --autograder`, unpacked and run in a
# root that holds nothing but busybox.
set -u
# shellcheck source=tests/house/harness.sh
. "$(dirname "$0")/harness.sh"
build=$(cd "${1:?"usage: $0 BUILD"}" && pwd)

leave() {
    skip "the autograder in a bare root" "$1"
    finish
}

command -v musl-gcc >/dev/null || leave "no musl-gcc (Debian: musl-tools)"
(cd "$root" && JOBS=2 scripts/build.sh autograder attend_grade) >"$tmp/output" 2>&1 || {
    cat "$tmp/output"
    fail "the static command is built"
    finish
}
pass "the static command is built"
# As `make autograder` leaves it, beside a command of this build.
mkdir "$tmp/bin"
cp "$build/attend" "$tmp/bin/"
cp "$root/build/autograder/attend-grade" "$tmp/"
attend=$tmp/bin/attend

is_static() { ! ldd "$tmp/attend-grade" 2>/dev/null | grep -q '=>'; }
succeeds "it is static" is_static

printf '{ "points": { "1b-ii": { "q": 3 } } }' >"$tmp/rubric.json"
succeeds "the zip is written" "$attend" grade --autograder "$tmp/grader.zip" --course w26 \
    --rubric "$tmp/rubric.json" --hints

# The harness unpacks the zip into source, copies run_autograder beside it, and runs it.
place=$tmp/bare/autograder
mkdir -p "$place/source" "$place/submission" "$tmp/bare/bin"
unpack() {
    python3 - "$tmp/grader.zip" "$place/source" <<'PYTHON'
import os, sys, zipfile

with zipfile.ZipFile(sys.argv[1]) as packed:
    assert packed.testzip() is None
    for file in packed.infolist():
        path = packed.extract(file, sys.argv[2])
        os.chmod(path, file.external_attr >> 16 & 0o777)
    assert {"setup.sh", "run_autograder"} < set(packed.namelist()), packed.namelist()
PYTHON
    cp "$place/source/run_autograder" "$place/"
}
succeeds "the zip is whole" unpack

busybox=$(command -v busybox) || leave "no busybox (Debian: busybox-static)"
cp "$busybox" "$tmp/bare/bin/busybox"
for name in sh chmod mkdir; do ln -s busybox "$tmp/bare/bin/$name"; done
PATH=$PATH:/usr/sbin:/sbin
inside() {
    if [ "$(id -u)" -eq 0 ]; then
        env -i PATH=/bin "$(command -v chroot)" "$tmp/bare" "$@"
    else
        env -i PATH=/bin "$(command -v unshare)" -r "$(command -v chroot)" "$tmp/bare" "$@"
    fi
}
inside sh -c : 2>/dev/null || leave "no root of its own: $(inside sh -c : 2>&1 | tail -n 1)"
succeeds "setup.sh in a bare root" inside sh /autograder/source/setup.sh

# results SCORE TESTS WORDS: what run_autograder left.
results() {
    rm -rf "$place/results"
    inside /autograder/run_autograder || return
    python3 - "$place/results/results.json" "$@" <<'PYTHON'
import json, sys

path, score, tests, words = sys.argv[1:]
with open(path) as file:
    results = json.load(file)
assert abs(results["score"] - float(score)) < 1e-9, results["score"]
assert len(results["tests"]) == int(tests), len(results["tests"])
assert words in json.dumps(results), results
PYTHON
}

# The points of the command itself, on the same form.
form=$root/examples/answers/sheet-002.json
cp "$form" "$place/submission/form.json"
cp "$form" "$tmp/form.json"
score=$("$attend" grade "$tmp/form.json" --course w26 --rubric "$tmp/rubric.json" --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["points"])')
succeeds "a submission has the command's points" results "$score" 29 "hint: "
rm "$place/submission/form.json"
succeeds "no form" results 0 0 "hand in your form"
printf '{' >"$place/submission/a.json"
succeeds "a form that cannot be read" results 0 0 "line 1"
printf '{}' >"$place/submission/b.json"
succeeds "two forms" results 0 0 "not several"
finish
