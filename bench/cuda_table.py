# SPDX-License-Identifier: MIT
"""The tables of docs/BENCHMARKS.md that are of a GPU, from docs/CUDA-RESULTS.json.

usage: cuda_table.py RESULTS               prints them
       cuda_table.py RESULTS --into FILE   puts them between the two marks of FILE
       cuda_table.py RESULTS --check FILE  fails where FILE has others
"""
import json
import sys

BEGIN = "<!-- tables of bench/cuda_table.py -->\n"
END = "<!-- end of tables -->\n"


def steady(row):
    return f"{row['sustained']:.0f} | {row['cudnn_sustained']:.0f}" if "sustained" in row else " | "


def beside_cudnn(row):
    return f"{row['case']} | {row['attend']:.0f} | {row['cudnn']:.0f} | {row['ratio']:.2f} | {steady(row)}"


def masked(row):
    others = [f"{row['others'][way]:.2f}" if way in row["others"] else "" for way in ("efficient", "cudnn", "flex")]
    return f"{row['case'][5:-5]} | {row['milliseconds']:.2f} | {' | '.join(others)} | {row['ratio']:.2f}"


def measured(row):
    lazy = f"{1 + row['over_lazy']:.2f}" if "over_lazy" in row else ""
    return f"{row['case'][6:-5]} | {1 + row['over_forward']:.2f} | {lazy}"


def decoding(row):
    return f"{row['case'][17:]} | {row['GBps']:.0f} | {100 * row['ratio']:.0f} % | {row['microseconds']:.0f}"


# What begins a case's name ("": those beside cuDNN), the head of the table, a row.
TABLES = (
    ("", "case, TFLOP/s | attend | cuDNN | ratio | sustained: attend | cuDNN", beside_cudnn),
    ("logits", "logits, d128 full 8192 | TFLOP/s", lambda row: f"{row['case'][7:]} | {row['attend']:.0f}"),
    ("columns", "column mass, 8192 keys | time over that of the forward pass",
     lambda row: f"{row['case'][8:-5]} | {row['share']:.2f}"),
    ("stats", "row statistics, 8192 keys | time over that of the forward pass | of the lazy variant", measured),
    ("mask", "boolean mask, 8192 keys | ms | torch: mem-efficient | cuDNN | flex_attention | ratio to the best", masked),
    ("decode", "decoding, 32/8 heads, d128 | GB/s | of the read bandwidth | us", decoding),
)


def table(rows, begins, head, line):
    of_table = [row for row in rows if (row["case"].startswith(begins) if begins else
                                        "cudnn" in row and not row["case"].startswith("window"))]
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
        print(f"{sys.argv[3]}: its tables are not those of {sys.argv[1]}: run {sys.argv[0]} with --into")
        return 1
    return 0


sys.exit(main())
