#!/bin/sh
# SPDX-License-Identifier: MIT
# setup.sh [-n] run|page|autograder|bench|wheel|test|all|neon|lint: checks the packages that the build needs.
#
# As root on a system with apt, missing packages are installed, unless -n is given;
# otherwise one line names them and the command that installs them.  Names are those of
# Debian; presence is probed by use, so packages from other sources are found too.
set -u

usage() {
    echo "usage: $0 [-n] run|page|autograder|bench|wheel|test|all|neon|lint" >&2
    exit 2
}

have() { command -v "$1" >/dev/null 2>&1; }
includes() { echo "#include <$2>" | $1 -E -x c - >/dev/null 2>&1; }
# The python3 of the tests, with both modules.
has_numpy_and_mpmath() {
    for python in python3 /usr/bin/python3; do
        "$python" -c 'import sys, importlib.util as u
sys.exit(not (u.find_spec("numpy") and u.find_spec("mpmath")))' 2>/dev/null && return 0
    done
    return 1
}
makes_environments() { python3 -c 'import ensurepip, venv' 2>/dev/null; }
has_pip() { python3 -c 'import pip' 2>/dev/null; }
# The header of this python3, not of another installed Python.
has_python_header() {
    python3 -c 'import os, sys, sysconfig as s
sys.exit(not os.path.exists(os.path.join(s.get_path("include"), "Python.h")))' 2>/dev/null
}
can_install() { have apt-get && [ "$(id -u)" -eq 0 ]; }
# Both MPIs, by Debian's names.
has_mpi() { have "mpicc.$1" && have "mpirun.$1"; }
has_sanitizers() {
    set -- "$(clang -print-file-name=libclang_rt.fuzzer-"$(uname -m)".a 2>/dev/null)" \
        "$(clang -print-file-name=libclang_rt.fuzzer.a 2>/dev/null)"
    [ -f "$1" ] || [ -f "$2" ]
}

# need PACKAGE PROBE...: adds PACKAGE to the list unless the probe succeeds.
need() {
    package=$1
    shift
    "$@" && return
    case "$missing " in *" $package "*) ;; *) missing="$missing $package" ;; esac
}

probe() {
    missing=
    need make have make
    need cmake have cmake
    need ninja-build have ninja
    need gcc have cc
    need libc6-dev includes cc stdio.h
    if [ "$what" = wheel ]; then
        need python3 have python3
        need python3-dev has_python_header
        need python3-pip has_pip
        need librandom123-dev includes cc Random123/philox.h
        return
    fi
    if [ "$what" = autograder ]; then
        need musl-tools have musl-gcc
        need librandom123-dev includes cc Random123/philox.h
        return
    fi
    if [ "$what" = page ]; then
        need emscripten have emcc
        need esbuild have esbuild
        need nodejs have node
        need librandom123-dev includes cc Random123/philox.h
        return
    fi
    # The C library is only a recommendation of the compiler's package.
    if [ "$what" = neon ]; then
        need gcc-aarch64-linux-gnu have aarch64-linux-gnu-gcc
        need libc6-dev-arm64-cross includes aarch64-linux-gnu-gcc stdio.h
        need qemu-user have qemu-aarch64
        return
    fi
    need libjansson-dev includes cc jansson.h
    need libpng-dev includes cc png.h
    need libopenblas-serial-dev includes cc cblas.h
    need librandom123-dev includes cc Random123/philox.h
    [ "$what" = run ] && return
    if [ "$what" = bench ]; then
        need python3 have python3
        need python3-venv makes_environments
        return
    fi
    need gcc have gcc
    need g++ have c++
    need g++ have g++
    need binutils have objdump
    need bash have bash
    need pkg-config have pkg-config
    need python3 have python3
    need python3-venv makes_environments
    need python3-dev has_python_header
    need python3-numpy has_numpy_and_mpmath
    need python3-mpmath has_numpy_and_mpmath
    need emscripten have emcc
    need esbuild have esbuild
    need nodejs have node
    need mandoc have mandoc
    need tidy have tidy
    [ "$what" = test ] && return
    need chromium have chromium
    need npm have npm
    need clang have clang
    need libclang-rt-dev has_sanitizers
    # Tests on ranks, and of the autograder, are skipped if these are not available.
    if can_install; then
        need musl-tools have musl-gcc
        need busybox-static have busybox
        need libopenmpi-dev has_mpi openmpi
        need openmpi-bin has_mpi openmpi
        need libmpich-dev has_mpi mpich
        need mpich has_mpi mpich
    fi
    [ "$what" = all ] && return
    need clang-format have clang-format
    need black have black
    need clang-tidy have clang-tidy
    need shellcheck have shellcheck
}

# Every version of clang has its own package of sanitizer runtimes.
name_for_apt() {
    version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p')
    missing=$(echo "$missing" | sed "s/libclang-rt-dev/libclang-rt-${version:-14}-dev/")
}

install=1
if [ "${1:-}" = -n ]; then
    install=0
    shift
fi
[ $# -eq 1 ] || usage
what=$1
case $what in run | page | autograder | bench | wheel | test | all | neon | lint) ;; *) usage ;; esac

probe
[ -z "$missing" ] && exit 0

if ! have apt-get; then
    echo "setup: missing (by their Debian names):$missing; install them and try again" >&2
    exit 1
fi
if [ "$(id -u)" -ne 0 ] || [ $install = 0 ]; then
    name_for_apt
    echo "setup: missing:$missing; type: sudo apt-get install --no-install-recommends$missing" >&2
    exit 1
fi

export DEBIAN_FRONTEND=noninteractive
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
apt-get -q update >"$log" 2>&1 || { cat "$log"; echo "setup: apt-get update failed" >&2; exit 1; }
name_for_apt
echo "setup: installing$missing"
# shellcheck disable=SC2086 # a list of names, to be split
if ! apt-get -q -y install --no-install-recommends $missing >"$log" 2>&1; then
    cat "$log"
    echo "setup: apt-get could not install$missing" >&2
    exit 1
fi
probe
if [ -n "$missing" ]; then
    echo "setup: still missing after apt-get install:$missing" >&2
    exit 1
fi
