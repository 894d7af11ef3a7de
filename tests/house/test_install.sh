#!/bin/sh
# SPDX-License-Identifier: MIT
# test_install.sh BUILD: install that build into an empty directory, use what is there as
# a stranger would, and take it away again.  In BUILD it writes only the list of what was
# installed.
set -u
# shellcheck source=tests/house/harness.sh
. "$(dirname "$0")/harness.sh"
unset MAKEFLAGS MAKELEVEL LD_LIBRARY_PATH PKG_CONFIG_PATH
build=$1
dest=$tmp/dest
prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:[A-Z]*=//p' "$build/CMakeCache.txt")
usr=$dest$prefix

# make_as_built TARGET: of the Makefile, without building.
make_as_built() {
    make -C "$root" --no-print-directory -o release RELEASE="$build" DESTDIR="$dest" "$@"
}

left_behind() {
    find "$1" ! -type d
    find "$1" -type d -name attend
}

# The command needs no file of the installation but itself.
runs_alone() {
    cp "$1" "$tmp/alone" && env -i "$tmp/alone" --version && env -i "$tmp/alone" info &&
        ! ldd "$tmp/alone" | grep -E 'not found|libattend|libjansson|libpng|libz'
}

# by_cmake TARGET: a program of the other project, by find_package.
by_cmake() { cmake --build "$tmp/consumer" --target "$1" && "$tmp/consumer/$1"; }

links() { ldd "$1" | grep -q 'libattend\.so\.0\.2 => '"$dest"; }

# by_pkg_config OUTPUT LINK_FLAG PKG_CONFIG_FLAG [SOURCE PACKAGE]: the same by pkg-config.
by_pkg_config() {
    # shellcheck disable=SC2046,SC2086 # flags, to be split
    cc -std=c11 $2 -o "$1" "$root/${4:-tests/consumer/consumer.c}" \
        $(PKG_CONFIG_PATH=$pc_dir pkg-config $3 --cflags --libs "${5:-attend}") -lm
}

wrong_version() {
    sed 's/attend 0.2/attend 99/' "$root/tests/consumer/CMakeLists.txt" >"$tmp/CMakeLists.txt"
    cp "$root"/tests/consumer/*.c "$tmp"
    ! cmake -S "$tmp" -B "$tmp/wrong" -DCMAKE_PREFIX_PATH="$usr"
}

# By the Makefile, PREFIX goes to the build that is then installed.
passes_prefix() {
    make -n -C "$root" install PREFIX=/some/where >"$tmp/recipe" &&
        grep -q 'build\.sh .*-DCMAKE_INSTALL_PREFIX=./some/where' "$tmp/recipe" &&
        grep -q 'cmake --install' "$tmp/recipe"
}

# undescribed FILE PREFIX: options in the commands' own help that FILE leaves out.
undescribed() {
    for command in run info check bench sheets grade design report; do
        "$usr/bin/attend" "$command" --help
    done | grep -oE '^  --[a-z-]+' | sort -u | while read -r option; do
        grep -qE -e "$2${option#--}([^a-z-]|\$)" "$1" || echo "$1: no $option"
    done
}

succeeds "make install into DESTDIR" make_as_built install
libdir=$(dirname "$(find "$dest" -name libattend.a)")
pc_dir=$libdir/pkgconfig
for file in bin/attend include/attend/attend.h include/attend/stats.h include/attend/theory.h include/attend/layer.h \
    share/man/man1/attend.1 share/man/man3/attend.3 share/man/man3/attend_theory.3 \
    share/man/man3/attend_layer.3 \
    share/bash-completion/completions/attend share/doc/attend/LICENSE; do
    succeeds "installs $file" test -s "$usr/$file"
done
succeeds "the command runs from anywhere with an empty environment" \
    runs_alone "$usr/bin/attend"
succeeds "SONAME is libattend.so.0.2" sh -c \
    "objdump -p '$libdir/libattend.so' | grep -qE 'SONAME +libattend\.so\.0\.2\$'"
succeeds "find_package" cmake -S "$root/tests/consumer" -B "$tmp/consumer" \
    -DCMAKE_PREFIX_PATH="$usr"
succeeds "find_package, shared" by_cmake attend
succeeds "find_package, shared: linked to the installed library" links "$tmp/consumer/attend"
succeeds "find_package, static" by_cmake attend_static
succeeds "find_package, static: needs no libattend.so" sh -c \
    "! ldd '$tmp/consumer/attend_static' | grep libattend"
succeeds "find_package refuses another version" wrong_version
succeeds "pkg-config, shared" by_pkg_config "$tmp/pc_shared" "" ""
succeeds "pkg-config, shared: runs" env LD_LIBRARY_PATH="$libdir" "$tmp/pc_shared"
succeeds "pkg-config, static" by_pkg_config "$tmp/pc_static" -static --static
succeeds "pkg-config, static: runs" "$tmp/pc_static"
for library in attend_theory attend_layer; do
    succeeds "find_package, $library" by_cmake $library
    succeeds "find_package, $library, static" by_cmake ${library}_static
done
succeeds "pkg-config, attend_theory" by_pkg_config "$tmp/pc_theory" "" "" \
    tests/consumer/consumer_theory.c attend_theory
succeeds "pkg-config, attend_theory: runs" env LD_LIBRARY_PATH="$libdir" "$tmp/pc_theory"
succeeds "pkg-config, attend_theory: needs no libattend.so" sh -c \
    "! ldd '$tmp/pc_theory' | grep 'libattend\.so'"
succeeds "pkg-config, attend_layer" by_pkg_config "$tmp/pc_layer" "" "" \
    examples/self_attention_layer.c attend_layer
succeeds "pkg-config, attend_layer: runs" env LD_LIBRARY_PATH="$libdir" "$tmp/pc_layer"
silent "the laboratory is installed nowhere" find "$dest" -name '*lab*'
succeeds "attend.pc states the header's version" test \
    "$(PKG_CONFIG_PATH=$pc_dir pkg-config --modversion attend)" = "$("$usr/bin/attend" --version |
        sed 's/attend //')"

for file in man1/attend.1 man3/attend.3 man3/attend_theory.3 man3/attend_layer.3; do
    silent "$file formats cleanly" mandoc -T lint -W warning "$usr/share/man/$file"
done
man1=$usr/share/man/man1/attend.1
sed 's/^\.Sh NAME$/.Sx/' "$man1" >"$tmp/faulty.1"
caught "a page with a fault" 'faulty.1:' mandoc -T lint -W warning "$tmp/faulty.1"
completion=$usr/share/bash-completion/completions/attend
silent "attend(1) describes every option" undescribed "$man1" 'Fl -'
silent "the completion knows every option" undescribed "$completion" '--'
grep -v window-left "$man1" >"$tmp/attend.1"
caught "an option without description" 'no --window-left' undescribed "$tmp/attend.1" 'Fl -'
succeeds "the completion loads" bash -c \
    ". '$completion' && complete -p attend"

caught "an installation left behind" bin/attend left_behind "$dest"
succeeds "make uninstall from DESTDIR" make_as_built uninstall
silent "uninstall leaves nothing" left_behind "$dest"

succeeds "make install hands PREFIX to the build" passes_prefix
finish
