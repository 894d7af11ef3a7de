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

# make_as_built TARGET: runs a target of the Makefile without building first.
make_as_built() {
    make -C "$root" --no-print-directory -o release RELEASE="$build" DESTDIR="$dest" "$@"
}

left_behind() {
    find "$1" ! -type d
    find "$1" -type d -name attend
}

# A copy of the command runs without the other installed files.
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

wrong_component() {
    mkdir -p "$tmp/component"
    sed 's/theory layer)/telepathy)/' "$root/tests/consumer/CMakeLists.txt" >"$tmp/component/CMakeLists.txt"
    cp "$root"/tests/consumer/*.c "$tmp/component"
    ! cmake -S "$tmp/component" -B "$tmp/component/build" -DCMAKE_PREFIX_PATH="$usr" >"$tmp/said" 2>&1 &&
        tr -s ' \n' ' ' <"$tmp/said" | grep -q 'no component telepathy'
}

# With the Makefile, PREFIX configures the build, which is then installed.
passes_prefix() {
    make -n -C "$root" install PREFIX=/some/where >"$tmp/recipe" &&
        grep -q 'build\.sh .*-DCMAKE_INSTALL_PREFIX=./some/where' "$tmp/recipe" &&
        grep -q 'cmake --install' "$tmp/recipe"
}

# installs_packages FLAG: whether setup.sh calls apt-get, for root, where all tools are
# missing.
installs_packages() {
    mkdir -p "$tmp/bare"
    for tool in sh dirname sed tr uname mktemp rm cat; do
        ln -sf "$(command -v $tool)" "$tmp/bare/$tool"
    done
    printf '#!/bin/sh\necho 0\n' >"$tmp/bare/id"
    printf '#!/bin/sh\necho "apt-get $*" >>"%s"\n' "$tmp/apt" >"$tmp/bare/apt-get"
    chmod +x "$tmp/bare/id" "$tmp/bare/apt-get"
    rm -f "$tmp/apt"
    # shellcheck disable=SC2086 # an option, or nothing
    PATH=$tmp/bare "$tmp/bare/sh" "$root/scripts/setup.sh" $1 run >"$tmp/said" 2>&1
    [ -s "$tmp/apt" ]
}

names_packages() { ! installs_packages -n && grep -q 'missing: .*cmake' "$tmp/said"; }

# Targets of the Makefile call setup.sh only with -n, which installs nothing.
asks_for_nothing() {
    for target in install uninstall; do
        make -n -C "$root" $target | grep setup || return
    done | sort -u | grep -vx 'scripts/setup.sh -n run'
}

# declared HEADER...: the functions that headers declare, one name per line.
declared() {
    cat "$@" | sed -nE '/^(ATTEND_API|static inline)/{:more
/\(/!{N
b more
}
s/\(.*//
s/.*[^a-z0-9_]//p
}' | sort -u
}

# page_differs PAGE HEADER...: functions that only the page or only the headers name. A name
# with * is a prefix.
page_differs() {
    page=$1
    shift
    declared "$@" >"$tmp/declared"
    sed -nE '/^\.(Nm|Fn|It Fn) /{s/ , Fn /\n/g; s/^\.(Nm|Fn|It Fn) //; p;}' "$page" | awk '{ print $1 }' |
        grep '^attend_' | sort -u >"$tmp/named"
    sed 's/\*/.*/; s/.*/^&$/' "$tmp/named" >"$tmp/patterns"
    grep -vEf "$tmp/patterns" "$tmp/declared" | sed 's/$/: not on the page/'
    while read -r function; do
        grep -qE "^$(echo "$function" | sed 's/\*/.*/')\$" "$tmp/declared" || echo "$function: in no header"
    done <"$tmp/named"
    while read -r function; do
        [ -s "$usr/share/man/man3/$function.3" ] || echo "$function: no page of this name"
    done <"$tmp/declared"
}

# dead_links DIR: links of installed documents to missing files.
dead_links() {
    find "$1" -name '*.md' | while read -r file; do
        grep -ohE '\]\([^)# ]+' "$file" | sed 's/^](//' | grep -v '^http' | sort -u | while read -r link; do
            [ -e "$(dirname "$file")/$link" ] || echo "$file: $link"
        done
    done
}

# missing_documents DIR HEADER...: documents that headers name and that are missing in DIR.
missing_documents() {
    dir=$1
    shift
    grep -ohE '(docs|examples)/[A-Za-z_-]+\.(md|c)' "$@" | sort -u | while read -r file; do
        [ -s "$dir/$file" ] || echo "$file: not in $dir"
    done
}

# undescribed FILE PREFIX: options in the commands' help that are missing in FILE.
undescribed() {
    for command in run info check bench sheets grade design report; do
        "$usr/bin/attend" "$command" --help
    done | grep -oE '^  --[a-z-]+' | sort -u | while read -r option; do
        grep -qE -e "$2${option#--}([^a-z-]|\$)" "$1" || echo "$1: no $option"
    done
}

# uncompleted FILE: options in the commands' help that are missing in the completion FILE.
uncompleted() {
    for command in run stats info check bench sheets grade design report page; do
        # shellcheck disable=SC2016
        offered=$(PATH=$usr/bin:$PATH bash -c '. "$0"; COMP_WORDS=(attend "$1" x --); COMP_CWORD=3
            _attend 2>/dev/null; echo " ${COMPREPLY[*]} "' "$1" "$command")
        "$usr/bin/attend" "$command" --help | grep -oE '^  (-o, )?--[A-Za-z0-9-]+' | sed 's/.* //' | while read -r option; do
            case $offered in *" $option "*) ;; *) echo "$command: $option is not offered" ;; esac
        done
    done
}

succeeds "make install into DESTDIR" make_as_built install
libdir=$(dirname "$(find "$dest" -name libattend.a)")
pc_dir=$libdir/pkgconfig
for file in bin/attend include/attend/attend.h include/attend/stats.h include/attend/theory.h include/attend/layer.h \
    share/man/man1/attend.1 share/man/man3/attend.3 share/man/man3/attend_theory.3 \
    share/man/man3/attend_layer.3 \
    share/bash-completion/completions/attend share/doc/attend/LICENSE share/doc/attend/CHANGELOG.md \
    share/doc/attend/docs/NUMERICS.md share/doc/attend/examples/simple.c; do
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
succeeds "find_package names a component that there is not" wrong_component
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
silent "the completion knows every option" uncompleted "$completion"
sed 's/help --words/info/' "$completion" >"$tmp/completion"
caught "a completion that asks in vain" 'run: --window-left is not offered' uncompleted "$tmp/completion"
grep -v window-left "$man1" >"$tmp/attend.1"
caught "an option without description" 'no --window-left' undescribed "$tmp/attend.1" 'Fl -'
succeeds "the completion loads" bash -c \
    ". '$completion' && complete -p attend"

headers=$root/include/attend
man3=$usr/share/man/man3
silent "attend(3) has the functions of its headers" page_differs "$man3/attend.3" "$headers/attend.h" "$headers/stats.h"
silent "attend_layer(3) has the functions of its header" page_differs "$man3/attend_layer.3" "$headers/layer.h"
silent "attend_theory(3) has the functions of its header" page_differs "$man3/attend_theory.3" "$headers/theory.h"
silent "attend_mpi(3) has the functions of its headers" page_differs "$root/docs/man/attend_mpi.3" \
    "$headers/mpi.h" "$headers/mpi_dist.h"
sed '/attend_forward_workspace/d' "$man3/attend.3" >"$tmp/less.3"
caught "a page that lacks a function" 'attend_forward_workspace: not on the page' page_differs "$tmp/less.3" \
    "$headers/attend.h" "$headers/stats.h"
printf '.Nm attend_backward\n' | cat "$man3/attend.3" - >"$tmp/more.3"
caught "a page of a function that there is not" 'attend_backward: in no header' page_differs "$tmp/more.3" \
    "$headers/attend.h" "$headers/stats.h"
succeeds "man attend_forward is attend(3)" grep -qx '.so man3/attend.3' "$man3/attend_forward.3"
doc=$usr/share/doc/attend
silent "links of installed documents lead somewhere" dead_links "$doc"
mkdir -p "$tmp/dead" && printf '[x](NOWHERE.md) [y](https://example.org)\n' >"$tmp/dead/a.md"
caught "a dead link" 'a.md: NOWHERE.md' dead_links "$tmp/dead"
silent "documents that headers name are installed" missing_documents "$doc" "$headers"/*.h
printf '/* docs/SECRETS.md */\n' >"$tmp/dead/a.h"
caught "a document that is not installed" 'docs/SECRETS.md' missing_documents "$doc" "$tmp/dead/a.h"
silent "no empty folder is installed" find "$dest" -type d -empty

caught "an installation left behind" bin/attend left_behind "$dest"
succeeds "make uninstall from DESTDIR" make_as_built uninstall
silent "uninstall leaves nothing" left_behind "$dest"

succeeds "make install hands PREFIX to the build" passes_prefix
silent "make install and uninstall install no packages" asks_for_nothing
succeeds "setup.sh installs packages for root" installs_packages ""
succeeds "setup.sh -n names them and installs none" names_packages
finish
