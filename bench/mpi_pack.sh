#!/bin/sh
# SPDX-License-Identifier: MIT
# mpi_pack.sh FOLDER: copies to FOLDER, and FOLDER.tar.gz, what bench/mpi_measure.sh needs on
# a machine without MPI: the command, its libraries, MPICH with its launcher, and the
# libraries these load.  On that machine: tar xzf FOLDER.tar.gz && sh FOLDER/mpi_measure.sh
set -eu
cd "$(dirname "$0")/.."
folder=${1:?"usage: $0 FOLDER"}
build=build/release
mkdir -p "$folder/lib"
cp "$build/attend" bench/mpi_measure.sh bench/mpi_timeline.py "$folder/"
cp -L "$build/libattend.so.0.2" "$build/libattend_mpi_mpich.so" "$folder/lib/"
for launcher in mpiexec.hydra hydra_pmi_proxy; do
    cp -L "$(command -v "$launcher")" "$folder/"
done
# All libraries except the C library, which every machine has.
for file in "$folder/attend" "$folder/lib/libattend_mpi_mpich.so" "$folder/mpiexec.hydra" \
    "$folder/hydra_pmi_proxy" /usr/lib/*/ucx/*.so.0; do
    [ ! -e "$file" ] || ldd "$file" 2>/dev/null | sed -n 's,.* => \(/[^ ]*\).*,\1,p'
done | sort -u | grep -vE '/(libc|libm|libpthread|libdl|librt|ld-linux[^/]*)\.so' |
    while read -r library; do
        case $library in */libattend*) ;; *) cp -L "$library" "$folder/lib/" ;; esac
    done
for module in /usr/lib/*/ucx; do
    [ ! -d "$module" ] || cp -rL "$module" "$folder/lib/"
done
tar -C "$(dirname "$folder")" -czf "$folder.tar.gz" "$(basename "$folder")"
du -sh "$folder" "$folder.tar.gz"
