#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes python/attend/theory.py from include/attend/theory.h.

Every function of numbers and structs gets a definition with types and the header's own
words; functions of arrays are written by hand in python/attend/_theory_arrays.py.
Without arguments the file is written; with --print it is printed.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADER = os.path.join(ROOT, "include", "attend", "theory.h")
MODULE = os.path.join(ROOT, "python", "attend", "theory.py")

# C types as letters of _theory_library.py; flags that are true or false by their names.
LETTERS = {
    "double": "d", "int": "i", "int64_t": "l", "attend_dtype": "f",
    "attend_theory_law": "L", "attend_theory_scene": "S", "const attend_theory_scene *": "S",
    "attend_theory_query": "Q", "const attend_theory_query *": "q", "attend_theory_output": "O",
    "double *": "p", "const double *": "p", "const int64_t *": "k",
}
FLAGS = {"positive", "flush"}
ARRAYS = set("pqk")
HINTS = {"d": "float", "b": "bool", "i": "int", "l": "int", "f": "Format", "L": "Law", "S": "Scene", "Q": "Query", "O": "Output"}

DECLARATION = re.compile(r"ATTEND_API\s+([\w\s]+?)\s+attend_theory_(\w+)\(([^)]*)\);")
COMMENT = re.compile(r"/\*(.*?)\*/", re.S)

HEAD = '''\
# SPDX-License-Identifier: MIT
# mypy: disable-error-code="overload-overlap"
# Written by scripts/theory_bindings.py from include/attend/theory.h: change that.
"""Closed forms: what softmax attention does to keys that carry noise.

The model: n keys k_i with orthonormal means mu_i, orthonormal values v_i; a and b are the
two wanted items.  A query q gives the scores s_i = tau <q, k_i>, the weights
p = softmax(s) and the output c = sum p_i v_i.  Keys are independent,
k_i ~ N(mu_i, alpha I + sigma2_i mu_i mu_i^T), and gamma_i = <mu_i, k_i>.  C or beta is
the scale of a query, `leak` the weight outside the wanted set.  T1 .. T26 are the results
of docs/THEORY.md.

Functions of numbers broadcast over arrays.  Numbers outside the domain give NaN; arrays
that do not go together raise ValueError.

>>> from attend import theory
>>> theory.copy_weight(2, 0.0)
0.5
>>> theory.copy_weight([2, 3, 5], 0.0).tolist()
[0.5, 0.3333333333333333, 0.2]
>>> theory.weight_modes(theory.law_pair(1.0, 1.0, 0.0))
(0.5,)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

'''


def letter_of(kind, name):
    letter = LETTERS[" ".join(kind.replace("*", " * ").split())]
    return "b" if letter == "i" and name in FLAGS else letter


def parameters(text):
    """[(letter, name)]"""
    found = []
    for part in text.split(","):
        part = part.replace("mode[2]", "*mode")
        kind, name = re.fullmatch(r"\s*(.*?[\s*])(\w+)\s*", part, re.S).groups()
        found.append((letter_of(kind, name), name))
    return found


def words(comment):
    """The text of a comment, line by line."""
    lines = [re.sub(r"^\s*\*? ?", "", line).rstrip() for line in comment.strip().split("\n")]
    return "\n".join(lines).strip()


def functions(header):
    """[(name, result's letter, parameters, words)], in the header's order."""
    found, about, at = [], "", header.index("---- special functions")
    token = re.compile(rf"{COMMENT.pattern}|{DECLARATION.pattern}", re.S)
    for match in token.finditer(header, header.rindex("\n", 0, at)):
        comment, kind, name, args = match.groups()
        if name:
            found.append([name, letter_of(kind, ""), parameters(args), about])
            continue
        text = words(comment)
        line = header.rfind("\n", 0, match.start()) + 1
        if header[line : match.start()].strip():  # beside a declaration
            found[-1][3] = f"{found[-1][3]}\n{text}".strip()
        else:
            about = "" if text.startswith("----") else text
    return found


def signature(function):
    _, result, args, _ = function
    return result + "".join(letter for letter, _ in args)


def docstring(text):
    lines = text.replace("\\", "\\\\").split("\n")
    if len(lines) == 1:
        return [f'    """{lines[0]}"""']
    return [f'    """{lines[0]}'] + [f"    {line}".rstrip() for line in lines[1:]] + ['    """']


def definition(function):
    name, result, args, text = function
    names = ", ".join(argument for _, argument in args)

    def head(broad, returns, first="def"):
        hints = []
        for letter, argument in args:
            hint = "Numbers" if broad and letter in "dl" else HINTS[letter]
            hints.append(f"{argument}: {hint}" + (" = False" if letter == "b" else ""))
        return f"{first} {name}({', '.join(hints)}) -> {returns}:"

    body = docstring(text) if text else []
    call = f'"{name}", "{signature(function)}", {names}'
    if result == "d" and any(letter in "dl" for letter, _ in args):
        plain = ", ".join(f"{a}: {'bool = False' if k == 'b' else 'Any'}" for k, a in args)
        return ["@overload", head(False, "float") + " ...", "@overload", head(True, "Array") + " ...",
                f"def {name}({plain}) -> Any:", *body, f"    return form({call})"]
    hint = HINTS[result]
    return [head(False, hint), *body, f"    found: {hint} = call({call})", "    return found"]


def module(header):
    all_functions = functions(header)
    by_hand = [f for f in all_functions if ARRAYS & set(signature(f))]
    made = [f for f in all_functions if f not in by_hand]
    hand = ", ".join(f[0] for f in by_hand)
    lines = [HEAD + "from ._theory_arrays import ("]
    row = "   "
    for name in hand.split(", "):
        if len(row) + len(name) > 98:
            lines.append(row)
            row = "   "
        row += f" {name},"
    lines += [row, ")", "from ._theory_library import A, B, REST, Format, Law, Output, Query, Scene, call, form", "",
              "if TYPE_CHECKING:", "    from ._theory_library import Array, Numbers", ""]
    public = sorted(["A", "B", "REST", "Format", "Law", "Output", "Query", "Scene"] + [f[0] for f in all_functions])
    lines.append("__all__ = [")
    row = "   "
    for name in public:
        if len(row) + len(name) > 96:
            lines.append(row)
            row = "   "
        row += f' "{name}",'
    lines += [row, "]"]
    for function in made:
        lines += ["", ""] + definition(function)
    return "\n".join(lines) + "\n"


def main():
    with open(HEADER, encoding="utf-8") as file:
        text = module(file.read())
    if sys.argv[1:] == ["--print"]:
        sys.stdout.write(text)
        return
    with open(MODULE, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
