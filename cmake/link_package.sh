#!/bin/sh
# SPDX-License-Identifier: MIT
# link_package.sh FROM TO: links the Python files of FROM into TO, beside the modules that
# were built there, so that changed Python files need no build.
set -u
from=$1 to=$2
mkdir -p "$to"
find "$to" -maxdepth 1 -type l -delete
for file in "$from"/*; do
    case $file in */__pycache__ | *.so) ;; *) ln -s "$file" "$to/" ;; esac
done
