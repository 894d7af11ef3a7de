# SPDX-License-Identifier: MIT
"""The GPU tables of docs/BENCHMARKS.md, from docs/CUDA-RESULTS.json.

usage: cuda_table.py RESULTS               prints them
       cuda_table.py RESULTS --into FILE   writes them between the two markers of FILE
       cuda_table.py RESULTS --check FILE  fails where the tables of FILE differ
"""
import json
import sys

BEGIN = "<!-- tables of bench/cuda_table.py -->\n"
END = "<!-- end of tables -->\n"


def sustained(row):
    return f"{row['sustained']:.0f} | {row['cudnn_sustained']:.0f}" if "sustained" in row else " | "


def beside_cudnn(row):
    return f"{row['case']} | {row['attend']:.0f} | {row['cudnn']:.0f} | {row['ratio']:.2f} | {sustained(row)}"


def masked(row):
    others = [f"{row['others'][x]:.2f}" if x in row["others"] else "" for x in ("efficient", "cudnn", "flex")]
    return f"{row['case'][5:-5]} | {row['milliseconds']:.2f} | {' | '.join(others)} | {row['ratio']:.2f}"


def statistics(row):
    lazy = f"{1 + row['over_lazy']:.2f}" if "over_lazy" in row else ""
    return f"{row['case'][6:-5]} | {1 + row['over_forward']:.2f} | {lazy}"


def decoding(row):
    return f"{row['case'][17:]} | {row['GBps']:.0f} | {100 * row['ratio']:.0f} % | {row['microseconds']:.0f}"


def long_context(row):
    memory = f"{row['gib']:.1f}" if "gib" in row else ""
    return f"{row['case'][17:]} | {row['heads']} | {row['tokens']} | {row['seconds']:.2f} | {memory}"


# Prefix of the cases' names ("": all cases with cuDNN's time), header of the table, format of a row.
TABLES = (
    ("", "case, TFLOP/s | attend | cuDNN | ratio | attend, sustained | cuDNN, sustained", beside_cudnn),
    (
        "logits",
        "logits, 8192 keys, d128 full where nothing else is said | TFLOP/s",
        lambda row: f"{row['case'][7:]} | {row['attend']:.0f}",
    ),
    (
        "columns",
        "column mass, 8192 keys | time / forward pass",
        lambda row: f"{row['case'][8:-5]} | {row['share']:.2f}",
    ),
    (
        "stats",
        "row statistics, 8192 keys | time / forward pass | time / forward pass with lazy rescaling",
        statistics,
    ),
    (
        "mask",
        "boolean mask, 8192 keys, ms | attend | torch mem-efficient | torch cuDNN | flex_attention | best / attend",
        masked,
    ),
    (
        "long statistics",
        "causal, d128: statistics of a long context | heads | tokens | s | GiB",
        long_context,
    ),
    ("decode", "decoding, 32/8 heads, d128 | GB/s | share of read bandwidth | us", decoding),
)


def table(rows, prefix, head, line):
    of_table = [
        row
        for row in rows
        if (
            row["case"].startswith(prefix)
            if prefix
            else "cudnn" in row and not row["case"].startswith("window")
        )
    ]
    lines = [head, "|".join(["---"] * (head.count("|") + 1))] + [line(row) for row in of_table]
    return "".join(f"|{x}|\n" if x.startswith("---") else f"| {x} |\n" for x in lines)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = json.load(file)
    tables = "\n".join(table(rows, *each) for each in TABLES)
    if len(sys.argv) == 2:
        print(tables, end="")
        return 0
    with open(sys.argv[3], encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    has, after = rest.split(END)
    if sys.argv[2] == "--into":
        with open(sys.argv[3], "w", encoding="utf-8") as file:
            file.write(before + BEGIN + "\n" + tables + "\n" + END + after)
    elif has != "\n" + tables + "\n":
        print(f"{sys.argv[3]}: tables differ from {sys.argv[1]}: run {sys.argv[0]} with --into")
        return 1
    return 0


sys.exit(main())
