# SPDX-License-Identifier: MIT
"""Prints the tables of docs/CUDA.md from docs/CUDA-RESULTS.json.

usage: cuda_table.py docs/CUDA-RESULTS.json
"""
import json
import sys


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = json.load(file)
    print("| case | attend | cuDNN | ratio | sustained: attend | cuDNN |\n|---|---|---|---|---|---|")
    for row in rows:
        if "cudnn" in row and not row["case"].startswith("window"):
            steady = (f"{row['sustained']:.0f}", f"{row['cudnn_sustained']:.0f}") if "sustained" in row else ("", "")
            print(f"| {row['case']} | {row['attend']:.0f} | {row['cudnn']:.0f} | {row['ratio']:.2f} | {steady[0]} | {steady[1]} |")
    print("\n| logits, d128 full 8192 | TFLOP/s |\n|---|---|")
    for row in rows:
        if row["case"].startswith("logits"):
            print(f"| {row['case'][7:]} | {row['attend']:.0f} |")
    print("\n| column mass, 8192 keys | time over that of the forward pass |\n|---|---|")
    for row in rows:
        if row["case"].startswith("columns"):
            print(f"| {row['case'][8:-5]} | {row['share']:.2f} |")
    print("\n| row statistics, 8192 keys | time over that of the forward pass | of the lazy variant |\n|---|---|---|")
    for row in rows:
        if row["case"].startswith("stats"):
            lazy = f"{1 + row['over_lazy']:.2f}" if "over_lazy" in row else ""
            print(f"| {row['case'][6:-5]} | {1 + row['over_forward']:.2f} | {lazy} |")
    print("\n| boolean mask, 8192 keys | ms | torch: mem-efficient | cuDNN | flex_attention | ratio to the best |\n|---|---|---|---|---|---|")
    for row in rows:
        if row["case"].startswith("mask"):
            others = [f"{row['others'][way]:.2f}" if way in row["others"] else "" for way in ("efficient", "cudnn", "flex")]
            print(f"| {row['case'][5:-5]} | {row['milliseconds']:.2f} | {' | '.join(others)} | {row['ratio']:.2f} |")
    print("\n| decoding, 32/8 heads, d128 | GB/s | of the read bandwidth | us |\n|---|---|---|---|")
    for row in rows:
        if row["case"].startswith("decode"):
            print(f"| {row['case'][17:]} | {row['GBps']:.0f} | {100 * row['ratio']:.0f} % | {row['microseconds']:.0f} |")


main()
