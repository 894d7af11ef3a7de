#!/bin/sh
# SPDX-License-Identifier: MIT
# nvcc.sh TREE IMAGE SOURCES NVCC ARGUMENT...: compiles kernels to IMAGE.fatbin, unless it was
# made from the same SOURCES (separated by :), compiler and arguments.  Comments and the path
# of the TREE do not count, so that trees can copy each other's kernels.  The compiler's
# messages go to IMAGE.log, and to the terminal on failure.  Messages C75xx mean that ptxas
# serialized matrix products: that is an error.
set -u
tree=$1 image=$2 sources=$3
shift 3

# Sources without comments and empty lines.
code() {
    # shellcheck disable=SC2046 # several files
    cat $(echo "$sources" | tr : ' ') | awk '
        { line = $0 }
        inside { if (!(end = index(line, "*/"))) next; line = substr(line, end + 2); inside = 0 }
        {
            while (start = index(line, "/*")) {
                rest = substr(line, start + 2)
                if (!(end = index(rest, "*/"))) { line = substr(line, 1, start - 1); inside = 1; break }
                line = substr(line, 1, start - 1) " " substr(rest, end + 2)
            }
            sub("//.*", "", line)
            gsub("[ \t]+", " ", line)
            if (line !~ /^ ?$/) print line
        }'
}

key=$({ "$1" --version; printf '%s\n' "$@" | sed "s,$tree,,g"; code; } | cksum)
made() { [ -f "$image.fatbin" ] && [ "$(cat "$image.made" 2>/dev/null)" = "$key $(cksum <"$image.fatbin")" ]; }
made && exit 0
new=$image.$$
trap 'rm -f "$new.fatbin" "$new.log"' EXIT
if ! "$@" -o "$new.fatbin" >"$new.log" 2>&1 || grep -q 'C75[0-9][0-9]' "$new.log"; then
    cat "$new.log" >&2
    exit 1
fi
# Atomic, since another build may do the same.
mv "$new.log" "$image.log" && mv "$new.fatbin" "$image.fatbin" &&
    echo "$key $(cksum <"$image.fatbin")" >"$image.made"
