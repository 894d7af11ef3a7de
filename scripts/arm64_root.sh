#!/bin/sh
# SPDX-License-Identifier: MIT
# arm64_root.sh DIR: the libraries that the command links, for AArch64, into DIR/usr.
#
# They come from Debian's archive by an apt with lists and packages below DIR: the system
# is not changed and no privileges are needed.  Exit status 3 if they are not available;
# the last line is the reason.
set -u
dir=${1:?"usage: $0 DIR"}
packages='libjansson-dev libpng-dev zlib1g-dev librandom123-dev'

[ -f "$dir/complete" ] && exit 0
give_up() {
    echo "$1"
    exit 3
}
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
    give_up "no apt here to fetch libraries for AArch64"
rm -rf "$dir"
mkdir -p "$dir/apt/lists/partial" "$dir/apt/archives/partial" || exit 1
dir=$(cd "$dir" && pwd)
: >"$dir/apt/status"

arm64_apt() {
    apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
        -o Dir::State::Lists="$dir/apt/lists" -o Dir::State::status="$dir/apt/status" \
        -o Dir::Cache="$dir/apt" -o APT::Sandbox::User= -o Debug::NoLocking=1 "$@"
}

arm64_apt update >"$dir/log" 2>&1 || give_up "apt-get update for arm64 failed: see $dir/log"
# shellcheck disable=SC2086 # a list of names, to be split
(cd "$dir/apt" && arm64_apt download $packages) >>"$dir/log" 2>&1 ||
    give_up "apt-get could not fetch $packages for arm64: see $dir/log"
for package in "$dir"/apt/*.deb; do
    dpkg-deb -x "$package" "$dir" || exit 1
done
rm -rf "$dir/apt"
: >"$dir/complete"
