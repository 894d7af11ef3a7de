#!/bin/sh
# SPDX-License-Identifier: MIT
# test_readme.sh BUILD: the README's program compiles, runs and is right; its command
# lines work as they stand.
set -u
# shellcheck source=tests/house/harness.sh
. "$(dirname "$0")/harness.sh"
build=$(cd "${1:?"usage: $0 BUILD"}" && pwd)

# block LANGUAGE NUMBER: the text of a fenced block of the README.
block() {
    awk -v fence="\`\`\`$1" -v wanted="$2" '
        $0 == fence { n++; inside = n == wanted; next }
        /^```/ { inside = 0 }
        inside' "$root/README.md"
}

block c 1 >"$tmp/program.c"
succeeds "the program compiles" \
    cc -std=c11 -Wall -Wextra -Werror -I"$root/include" "$tmp/program.c" -o "$tmp/program" \
    -L"$build" -Wl,-rpath,"$build" -lattend
# softmax(4/sqrt2 {1, 0, -1}) = .9411 .0556 .0033 weighs {1 3 5}, {2 4 6}; then the mean.
printf '1.1244 2.1244\n3.0000 4.0000\n' >"$tmp/expected"
"$tmp/program" >"$tmp/printed"
succeeds "it prints what softmax gives" diff "$tmp/expected" "$tmp/printed"

write_inputs() {
    python3 - "$tmp" <<'PYTHON'
import json, struct, sys
shape = (1, 8, 2, 4)  # as bhld and as blhd
data = struct.pack("<64f", *[(i * 37 % 64) / 32 - 1 for i in range(64)])
for name in "qkv":
    header = str({"descr": "<f4", "fortran_order": False, "shape": shape})
    header += " " * (117 - len(header)) + "\n"
    with open(f"{sys.argv[1]}/{name}.npy", "wb") as f:
        f.write(b"\x93NUMPY\1\0" + struct.pack("<H", 118) + header.encode() + data)
header = json.dumps({n: {"dtype": "F32", "shape": shape, "data_offsets": [256 * x, 256 * x + 256]}
                     for x, n in enumerate("qkv")}).encode()
with open(f"{sys.argv[1]}/m.safetensors", "wb") as f:
    f.write(struct.pack("<Q", len(header)) + header + data * 3)
PYTHON
}
succeeds "inputs are written" write_inputs

# The fourth block of commands, without those that take long or that other tests run.
block sh 4 | grep -vE '^attend (check|bench)' >"$tmp/commands.sh"
commands() { (cd "$tmp" && PATH=$build:$PATH sh -e commands.sh); }
succeeds "the command lines run" commands
for file in o.npy o.safetensors; do
    succeeds "$file is there" test -s "$tmp/$file"
done

finish
