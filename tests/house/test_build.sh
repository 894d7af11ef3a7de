#!/bin/sh
# SPDX-License-Identifier: MIT
# scripts/build.sh on a CMake that only pretends: its one line, and its log.
set -u
# shellcheck source=tests/house/harness.sh
. "$(dirname "$0")/harness.sh"

cat >"$tmp/cmake" <<'END'
#!/bin/sh
[ "$1" = --preset ] && { echo "configured with $*"; exit 0; }
echo "[ 12%] Building C object a.o"
echo "a.c:1: error: no luck" >&2
echo "[100%] Built target $*"
exit ${FAKE_STATUS:-0}
END
chmod +x "$tmp/cmake"
cd "$tmp" || exit 1
export PATH="$tmp:$PATH" JOBS=3
command="sh $root/scripts/build.sh release 'one two' -DX=1"

is() { [ "$(cat "$1")" = "$2" ]; }
has() { grep -qF -- "$2" "$1"; }

sh -c "$command" >said 2>&1
succeeds "one line where there is no terminal" is said "building release"
for words in -DX=1 "--parallel 3 --target one two" "no luck"; do
    succeeds "the log has $words" has build/release.log "$words"
done
FAKE_STATUS=2 sh -c "$command" >said 2>&1
succeeds "a failure is status 1" [ $? -eq 1 ]
succeeds "a failure shows what the compiler said" has said "a.c:1: error: no luck"
tail -n 1 said >last
succeeds "the last line says what failed" is last "FAILED: the release build"

script -qec "$command" /dev/null >said 2>&1
succeeds "on a terminal: the share" has said "building release: 12 %"
succeeds "on a terminal: one line, wiped away" is said "$(tr -d '\n' <said)"
FAKE_STATUS=2 script -qec "$command" /dev/null >said 2>&1
succeeds "on a terminal: a failure" has said "FAILED: the release build"
finish
