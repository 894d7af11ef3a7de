#!/bin/sh
# SPDX-License-Identifier: MIT
# packages.sh: the packages of web/package-lock.json under build/page_tests, made again when that
# file is another; exit status 3 with the reason on standard output where they cannot be had.
set -u
cd "$(dirname "$0")/../.." || exit 1
where=build/page_tests
mkdir -p "$where"
# A second process waits until the first has installed the packages.
exec 9>"$where/lock"
flock 9
key=$(sha256sum <web/package-lock.json)
[ "$(cat "$where/made" 2>/dev/null)" = "$key" ] && exit
rm -f "$where/made"
cp web/package.json web/package-lock.json "$where/"
# The tests use the system's browser.
if ! (cd "$where" && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund) >"$where/npm.log" 2>&1; then
    echo "npm could not fetch the packages: see $where/npm.log"
    exit 3
fi
echo "$key" >"$where/made"
