#!/bin/sh
# SPDX-License-Identifier: MIT
# get_nvcc.sh: prints the path of nvcc, and installs it if necessary.
#
# An nvcc on the path or below /usr/local/cuda is used.  Otherwise its packages are installed
# from PyPI into build/nvcc, where CMake finds them (270 MB; needs pip or venv, and g++ to
# compile).  Exit status 3 and one line with the reason: there is none.
set -u
cd "$(dirname "$0")/.." || exit 1
target=$PWD/build/nvcc
own=$target/nvidia/cu13/bin/nvcc
packages="nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88
nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85"

for nvcc in "$(command -v nvcc)" /usr/local/cuda/bin/nvcc "$own"; do
    if [ -x "$nvcc" ]; then
        echo "$nvcc"
        exit 0
    fi
done
mkdir -p build
# pip of python3, or of a virtual environment beside the packages.
python=python3
if ! python3 -c 'import pip' 2>/dev/null; then
    python=$target.venv/bin/python
    python3 -m venv "$target.venv" >"$target.log" 2>&1 || {
        echo "no nvcc on the path, and no pip to get it with"
        exit 3
    }
fi
install() {
    rm -rf "$target"
    # shellcheck disable=SC2086 # several names
    "$python" -m pip install --disable-pip-version-check --retries 1 --no-deps --target "$target" $packages >"$target.log" 2>&1
}
# From the configured package index, else from PyPI.
if ! install && ! PIP_CONFIG_FILE=/dev/null install; then
    echo "no nvcc on the path, and pip does not get it: $(tail -n 1 "$target.log")"
    exit 3
fi
# Wheels do not always preserve execute permissions.
find "$target/nvidia/cu13/bin" "$target/nvidia/cu13/nvvm/bin" -type f -exec chmod +x {} + 2>/dev/null
[ -x "$own" ] || {
    echo "the packages of PyPI have no nvcc where it should be, $own"
    exit 3
}
echo "$own"
