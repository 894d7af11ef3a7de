#!/bin/sh
# SPDX-License-Identifier: MIT
# test_architecture.sh BUILD: the rules of the house, on the sources and on the
# libraries in BUILD.  Each checker prints what is wrong under a directory; it is
# run on the repository and on a small tree with that fault planted.
set -u
# shellcheck source=tests/house/harness.sh
. "$(dirname "$0")/harness.sh"
build=${1:?"usage: $0 BUILD"}

# files DIR: the project's files under DIR, sorted by name.
files() {
    (cd "$1" && find . \( -name .git -o -name build -o -name __pycache__ \
        -o -path ./bench/results \) -prune -o -type f -print |
        sed 's,^\./,,' | sort)
}

# base <- core <- cpu <- ref <- cpu/backend <- cuda <- api <- {theory, layer, mpi, io, lab, tools,
# examples, python, bench}; the last group sees the public headers only, layer, mpi and lab also
# base, bench also the stopwatch in tools, and each folder of tools and of python the libraries
# listed for it below.  Within lab: measure <- setups <-
# {experiments, exercise <- judge <- {sheets, grade}} <- report, measure <- design, figures <-
# {experiments, report}, experiments <- place, language <- {sheets, grade}, judge <- reading,
# {experiments, sheets, grade, design} <- door.
includes() {
    (cd "$1" && files . | grep -E '\.(c|h|cpp|inc)$' | grep -v '^tests/' |
        xargs grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' /dev/null) |
        sed -nE 's,^([^:]+:[0-9]+):[^"<]*["<]([^">]+)[">].*,\1 \2,p' |
        awk '
        BEGIN {
            sees["include"] = "attend"
            sees["src/base"] = "attend base"
            sees["src/core"] = "attend base core"
            sees["src/ref"] = "attend base core ref cpu"
            sees["src/cpu"] = "attend base core cpu"
            sees["src/cpu/backend"] = "attend base core cpu ref"
            sees["src/cuda"] = "attend base core cpu/backend cuda"
            sees["src/api"] = "attend api base core ref cpu cuda"
            sees["src/testing"] = "attend core cpu testing"
            sees["src/io"] = "attend io"
            sees["src/mpi"] = "attend base mpi"
            sees["src/theory"] = "attend theory"
            sees["src/layer"] = "attend base layer"
            sees["lab/measure"] = "attend base lab/measure"
            sees["lab/setups"] = "attend theory lab/measure lab/setups"
            sees["lab/figures"] = "lab/figures"
            sees["lab/experiments"] = "attend lab/measure lab/setups lab/figures lab/experiments"
            sees["lab/language"] = "lab/language"
            sees["lab/exercise"] = "attend lab/measure lab/setups lab/exercise"
            sees["lab/judge"] = "attend lab/measure lab/language lab/exercise lab/judge"
            sees["lab/sheets"] = "attend lab/measure lab/judge lab/sheets"
            sees["lab/grade"] = "attend lab/measure lab/setups lab/judge lab/language lab/grade"
            sees["lab/design"] = "attend base theory layer lab/measure lab/design"
            sees["lab/report"] = "attend lab/figures lab/experiments lab/sheets lab/report"
            sees["lab/understanding"] = "lab/language lab/judge lab/reading lab/understanding"
            sees["lab/reading"] = "attend lab/exercise lab/language lab/judge lab/grade lab/reading lab/understanding"
            sees["lab/marks"] = "attend lab/figures lab/reading lab/report lab/marks"
            sees["lab/door"] = "lab/design lab/experiments lab/sheets lab/grade lab/reading lab/door"
            sees["lab/place"] = "attend lab/measure lab/figures lab/experiments lab/place"
            lab = "lab/measure lab/setups lab/figures lab/experiments lab/language lab/exercise lab/judge lab/reading lab/understanding lab/sheets lab/grade lab/design lab/report lab/place lab/marks lab/door"
            sees["tools"] = "attend check shared"
            sees["tools/shared"] = "attend io check mpi lab/door"
            sees["tools/run"] = sees["tools/stats"] = "attend io shared"
            sees["tools/lab"] = "attend io shared " lab
            sees["tools/document"] = lab
            sees["tools/grade"] = "attend grade shared tensors " lab
            sees["tools/judge"] = "attend judge shared " lab
            sees["tools/tensors"] = "attend io check shared tensors lab/measure lab/door"
            sees["tools/design"] = "attend io shared " lab
            sees["tools/check"] = "attend check testing lab/measure"
            sees["tools/bench"] = "attend bench check gpu shared " lab
            sees["tools/gpu"] = "attend bench check gpu shared"
            sees["examples"] = sees["python/core"] = "attend"
            sees["python/lab"] = "attend " lab
            sees["web/wasm"] = "attend " lab
            sees["web/node"] = "check"
            sees["bench"] = "attend bench shared " lab
        }
        {
            n = split($1, dir, "/")
            where = dir[1] ~ /^(src|tools|python|web)$/ && n > 2 ? dir[1] "/" dir[2] : dir[1]
            if (where == "lab") where = where "/" dir[2]
            if (where == "src/cpu" && dir[3] == "backend") where = "src/cpu/backend"
            if (index($2, "../")) { print $1 ": " $2 ": no way up"; next }
            if (!index($2, "/")) next # the same directory, or the C library
            split($2, part, "/")
            if (part[1] == "sys" || part[1] == "Random123") next
            if (part[1] == "lab") part[1] = part[1] "/" part[2]
            if (part[1] == "cpu" && part[2] == "backend" && where == "src/cuda") part[1] = "cpu/backend"
            if (!index(" " sees[where] " ", " " part[1] " "))
                print $1 ": " where " must not include " $2
        }'
}

# Includes without a directory name a file in the same directory; the search path is not used.
include_places() {
    (cd "$1" && files . | grep -E '\.(c|h|cpp|inc)$' | grep -v '^tests/' |
        xargs grep -nE '^#include "[^/"]+"' /dev/null) |
        sed -nE 's,^([^:]+):([0-9]+):#include "([^"]+)".*,\1 \2 \3,p' |
        while read -r file line name; do
            [ -f "$1/$(dirname "$file")/$name" ] || echo "$file:$line: $name is not beside it"
        done
}

# Modules of the Python package are named after their place in it.
unique_names() {
    files "$1" | grep -v '^python/attend/' | sed 's,.*/,,' | grep -vxE 'CMakeLists.txt|README.md' | sort | uniq -d
}

# Folders with too many files.
crowded() { files "$1" | sed 's,/*[^/]*$,,' | sort | uniq -c | awk '$1 > 30 { print $2 ": " $1 " files" }'; }

# A macro that contains inline counts as inline.
bare_inline() {
    (cd "$1" && grep -rnE '\b(ALWAYS_INLINE|inline)\b' include src lab tools --include='*.[ch]' --include='*.inc') |
        grep -vE '\bstatic\b|:[[:space:]]*(\*|/\*|//|"|#(define|undef) ALWAYS_INLINE)'
}

# Written in two parts, so that this file does not match its own pattern.
unfinished() {
    words='TO''DO|FIX''ME|X''XX|HA''CK|place''holder|stu''b'
    (cd "$1" && files . | xargs grep -nwE "$words" /dev/null)
}

licence_lines() {
    (cd "$1" && files . | grep -E '\.(c|h|cpp|inc|sh|py|mjs|toml|cmake)$|^web/.*\.(js|css)$' | while read -r file; do
        head -n 2 "$file" | grep -q 'SPDX-License-Identifier: MIT' || echo "$file: no SPDX line"
    done)
}

# VectorMacros.cmake runs the compiler to query it and builds nothing.
unsafe_flags() {
    # shellcheck disable=SC2010,SC2046 # names of ours, several
    (cd "$1" && grep -nE -e '-(ffast-math|Ofast|ffinite-math-only|march=native)' CMakeLists.txt \
        $(cd "$1" && ls cmake/*.cmake 2>/dev/null | grep -v VectorMacros) CMakePresets.json Makefile src/cpu/isa/isa.list)
}

# The build's list, the code's list and the files name the same kernel sets.
kernel_lists() {
    sed -nE 's/^([a-z][a-z0-9]*) .*/\1/p' "$1/src/cpu/isa/isa.list" | sort >"$tmp/list.build"
    sed -nE 's/^SET_[A-Z0-9_]+\(([a-z0-9]+).*/\1/p' "$1/src/cpu/dispatch/kernel_sets.c" | sort >"$tmp/list.code"
    awk '/^[a-z]/ { n = split($3, e, ","); for (i = 1; i <= n; i++) print $1 "_" e[i] ".c" }' \
        "$1/src/cpu/isa/isa.list" | sort >"$tmp/list.wanted"
    (cd "$1/src/cpu/isa" && ls -- *.c) | sort >"$tmp/list.files"
    diff "$tmp/list.build" "$tmp/list.code"
    diff "$tmp/list.wanted" "$tmp/list.files"
}

# grep and ctags do not find a function whose name is pasted by a macro.
pasted_names() {
    (cd "$1" && grep -rnE '^[[:space:]]*static [A-Za-z0-9_ *]*(\b[A-Z]+\([a-z0-9_]+\) *\(|##)' src/cpu)
}

# Only src/cpu/isa includes templates, in one order for each kind of product.
template_includes() {
    (cd "$1" && for room in simd item prefill decode amx stats; do
        [ ! -d "src/cpu/$room" ] || grep -rn '#include "cpu/' "src/cpu/$room"
    done)
}

archive_names() { nm -g --defined-only "$1" | awk 'NF == 3 && $3 !~ /^attendi?_/ { print $3 }'; }

# Exported symbols of the shared library and functions that the header declares.
exports() {
    nm -D --defined-only "$1" | awk '{ print $NF }' | sort >"$tmp/exported"
    shift
    cat "$@" | grep -A1 '^ATTEND_API' | grep -vE '^ *(\*|/\*)' | grep -oE '\battend_[a-z0-9_]+\(' | tr -d '(' | sort >"$tmp/declared"
    diff "$tmp/exported" "$tmp/declared"
}

# needs LIBRARY ALLOWED: the shared libraries it needs that are not ALLOWED, a regexp.
needs() { objdump -p "$1" | awk '$1 == "NEEDED" { print $2 }' | grep -vE "^($2)\.so"; }

# Limit for builds without GPU kernels; builds with them have a separate limit.
too_big() {
    strip -o "$tmp/stripped" "$1" 2>/dev/null || cp "$1" "$tmp/stripped"
    kernels=$(find "$(head -n 1 "$build/kernels.txt")" -name '*.fatbin' ! -name 'probe*' -exec cat {} + 2>/dev/null | wc -c)
    size=$(($(wc -c <"$tmp/stripped") - kernels))
    [ "$size" -lt 1048576 ] || echo "$1: $size bytes when stripped, without kernels for GPUs"
    [ "$kernels" -lt 5000000 ] || echo "$1: $kernels bytes of kernels for GPUs"
}

# compiles_alone COMPILER STANDARD LANGUAGE HEADER: the header compiles alone, and included
# twice.
compiles_alone() {
    printf '#include "%s"\n#include "%s"\n' "$4" "$4" >"$tmp/alone.txt"
    # shellcheck disable=SC2086 # words
    "$1" "-std=$2" -x "$3" -I "$root/include" $mpi_include -Wall -Wextra -Wpedantic -Wconversion -Werror -fsyntax-only "$tmp/alone.txt"
}

bad=$tmp/bad
mkdir -p "$bad/src/base" "$bad/src/theory" "$bad/lab/measure" "$bad/src/cpu/isa" "$bad/src/cpu/dispatch" "$bad/src/cpu/stats" "$bad/src/core" "$bad/include" "$bad/tools" "$bad/examples" "$bad/python/core"
printf '#include "core/problem.h"\n' >"$bad/src/base/a.c"
printf '#include "lab/measure/random.h"\n' >"$bad/src/theory/t.c"
printf '#include "lab/report/findings.h"\n' >"$bad/lab/measure/m.c"
printf '#include "base/error.h"\n#include "absent.h"\n' >"$bad/tools/b.c"
printf '#include "../cpu/x.h"\n' >"$bad/src/core/a.c"
printf '#include <attend/attend.h>\n#include <core/problem.h>\n' >"$bad/examples/e.c"
printf '#include "core/problem.h"\n' >"$bad/python/core/p.c"
printf 'inline int f(void) { return 1; }\n' >"$bad/include/f.h"
printf '/* TO%s: later */\n' DO >"$bad/tools/todo.c"
printf 'set(x -ffast-math)\n' >"$bad/CMakeLists.txt"
printf 'scalar any f32\navx2 x86_64 f32,f64 -mavx2\n' >"$bad/src/cpu/isa/isa.list"
printf 'SET_F32_F64(scalar, 0)\n' >"$bad/src/cpu/dispatch/kernel_sets.c"
touch "$bad/src/cpu/isa/scalar_f32.c" "$bad/src/cpu/isa/avx2_f32.c"
printf 'static void N(sum_rows)(int rows)\n' >"$bad/src/cpu/pasted.h"
printf '#include "cpu/simd/x_tmpl.h"\n' >"$bad/src/cpu/stats/y_tmpl.h"
printf 'int foreign(void);\nint foreign(void) { return 1; }\n' >"$bad/foreign.c"
cc -shared -fPIC -o "$bad/libbad.so" "$bad/foreign.c" && cc -c -o "$bad/bad.o" "$bad/foreign.c" &&
    ar rc "$bad/libbad.a" "$bad/bad.o"
mkdir "$bad/crowd" && (cd "$bad/crowd" && seq 31 | xargs touch)
head -c 7000000 /dev/zero >"$bad/huge.so"
printf 'typedef int class;\nint attend_f(class);\nint *class_of(void *new);\n' >"$bad/c_only.h"
printf 'attend_status attend_g(void);\n' >"$bad/lacks_types.h"

silent "includes point one way" includes "$root"
caught "base reading core" 'src/base/a.c:1: src/base must not include core/problem.h' includes "$bad"
caught "theory reading the laboratory" 'src/theory/t.c:1: src/theory must not include lab/' includes "$bad"
caught "a measurement reading the report" \
    'lab/measure/m.c:1: lab/measure must not include lab/report/findings.h' includes "$bad"
caught "a tool reading base" 'tools/b.c:1: tools must not include base/error.h' includes "$bad"
caught "an example reading core" 'examples/e.c:2: ' includes "$bad"
caught "the Python extension reading core" 'python/core/p.c:1: ' includes "$bad"
caught "an include that goes up" 'src/core/a.c:1: .*no way up' includes "$bad"
silent "bare includes are beside their file" include_places "$root"
caught "an include found by luck" 'tools/b.c:2: absent.h' include_places "$bad"
silent "file names are unique" unique_names "$root"
caught "two files of one name" '^a.c$' unique_names "$bad"
silent "no folder has more than 30 files" crowded "$root"
caught "a crowded folder" '^crowd: 31 files' crowded "$bad"
silent "no inline without static" bare_inline "$root"
caught "inline without static" 'include/f.h:1' bare_inline "$bad"
silent "no unfinished work" unfinished "$root"
caught "unfinished work" 'tools/todo.c:1' unfinished "$bad"
silent "every source states its licence" licence_lines "$root"
caught "a source without licence" 'tools/b.c: no SPDX' licence_lines "$bad"
silent "no flag that changes arithmetic" unsafe_flags "$root"
caught "-ffast-math" 'CMakeLists.txt:1' unsafe_flags "$bad"
silent "kernel sets are in every list" kernel_lists "$root"
caught "a kernel set that code does not list" '^< avx2' kernel_lists "$bad"
caught "an element type without a file" '^< avx2_f64.c' kernel_lists "$bad"
silent "every kernel function has its name in the source" pasted_names "$root"
caught "a name that a macro makes" 'src/cpu/pasted.h:1' pasted_names "$bad"
silent "templates include no templates" template_includes "$root"
caught "a template in a template" 'src/cpu/stats/y_tmpl.h:1' template_includes "$bad"

for library in attend attend_theory attend_layer; do
    header=$root/include/attend/${library#attend_}.h
    silent "$library: every global name of the archive is ours" \
        archive_names "$build/lib$library.a"
    [ "$library" != attend ] || header="$header $root/include/attend/stats.h"
    # shellcheck disable=SC2086 # one header or two
    silent "$library: exports are what the headers declare" \
        exports "$build/lib$library.so" $header
done
silent "attend knows no MPI" sh -c "nm -D '$build/libattend.so' | grep -w U | grep -E ' P?MPI_'"
for library in "$build"/libattend_mpi_*.so; do
    [ -e "$library" ] || continue
    name=${library##*/}
    silent "$name: every global name of the archive is ours" archive_names "${library%.so}.a"
    silent "$name: exports are what the headers declare" exports "$library" \
        "$root"/include/attend/mpi.h "$root"/include/attend/mpi_dist.h "$root"/src/mpi/mpi_session.h
done
silent "attend_theory needs libm alone" needs "$build/libattend_theory.so" 'libm|libc'
silent "attend_layer needs the engine and CBLAS" needs "$build/libattend_layer.so" \
    'libm|libc|libattend|lib[a-z0-9]*blas'
caught "a theory that needs the engine" libattend needs "$build/libattend_layer.so" 'libm|libc'
caught "a foreign name in an archive" '^foreign$' archive_names "$bad/libbad.a"
caught "a foreign export" '^< foreign$' exports "$bad/libbad.so" "$root/include/attend/attend.h"
caught "a missing export" '^> attend_forward$' exports "$bad/libbad.so" "$root/include/attend/attend.h"
silent "shared library: below 1 MiB" too_big "$build/libattend.so"
caught "a large library" 'huge.so: [0-9]* bytes' too_big "$bad/huge.so"

# An MPI's header is external: its warnings are disabled.
mpi_include=
for mpicc in mpicc.openmpi mpicc.mpich mpicc; do
    [ -n "$mpi_include" ] || mpi_include=$($mpicc -show 2>/dev/null | tr ' ' '\n' |
        sed -n 's/^-I/-isystem/p' | tr '\n' ' ')
done
for cc in gcc clang; do
    command -v $cc >/dev/null || { skip "headers alone, $cc" "no $cc here"; continue; }
    for header in "$root"/include/attend/*.h; do
        [ "${header##*/}" != mpi.h ] || [ -n "$mpi_include" ] || continue
        name="${header##*/} alone"
        succeeds "$name, C11, $cc" compiles_alone "$cc" c11 c "$header"
        succeeds "$name, C++17, $cc" compiles_alone "$cc" c++17 c++ "$header"
    done
    caught "a header that lacks types, $cc" error compiles_alone "$cc" c11 c "$bad/lacks_types.h"
    caught "a header that C++ cannot read, $cc" error \
        compiles_alone "$cc" c++17 c++ "$bad/c_only.h"
done
finish
