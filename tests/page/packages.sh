#!/bin/sh
# SPDX-License-Identifier: MIT
# packages.sh: the packages of web/package-lock.json under build/page_tests; exit
# status 3 with the reason on standard output where they cannot be had.
set -u
cd "$(dirname "$0")/../.." || exit 1
where=build/page_tests
mkdir -p "$where"
if cmp -s web/package-lock.json "$where/package-lock.json" && [ -d "$where/node_modules/playwright-core" ]; then
    exit 0
fi
cp web/package.json web/package-lock.json "$where/"
# The browser is the system's.
if ! (cd "$where" && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund) >"$where/npm.log" 2>&1; then
    rm -f "$where/package-lock.json"
    echo "npm could not fetch the packages: see $where/npm.log"
    exit 3
fi
