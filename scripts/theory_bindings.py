#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""theory_bindings.py FILE: writes attend/theory.py of the Python package from include/attend/theory.h.

Every function of numbers and structs gets a definition with types and the header's own
words; functions of arrays are written by hand in python/attend/_theory_arrays.py.
The build runs it; a link in the place of FILE is replaced.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADER = os.path.join(ROOT, "include", "attend", "theory.h")

# C types as letters of _theory_library.py; integer flags, by name.
LETTERS = {
    "double": "d",
    "int": "i",
    "int64_t": "l",
    "attend_dtype": "f",
    "attend_theory_law": "L",
    "attend_theory_scene": "S",
    "const attend_theory_scene *": "S",
    "attend_theory_query": "Q",
    "const attend_theory_query *": "q",
    "attend_theory_output": "O",
    "double *": "p",
    "const double *": "p",
    "const int64_t *": "k",
}
FLAGS = {"positive", "flush"}
ARRAYS = set("pqk")
HINTS = {
    "d": "float",
    "b": "bool",
    "i": "int",
    "l": "int",
    "f": "Format",
    "L": "Law",
    "S": "Scene",
    "Q": "Query",
    "O": "Output",
}

# Docstrings of functions that share a comment in the header, or whose comment refers to
# the previous one.
WORDS = {
    "normal_quantile": "Inverse of normal_cdf; -inf at 0, +inf at 1.  0 <= p <= 1.",
    "copy_weight_lower_bound": "Lower bound on the weight when `gap` is the smallest of the n - 1 gaps.  n >= 2.",
    "copy_weight_upper_bound": "Upper bound on the weight when `gap` is the smallest of the n - 1 gaps.  n >= 2.",
    "gap_sum_exact": "Gap above which 1 + (n-1) e^-gap rounds to 1 in this format.  n >= 2.",
    "gap_weight_exact": "Gap above which the correctly rounded weight is 1 in this format.  n >= 2.",
    "gap_underflow": "Gap above which e^-gap rounds to 0 in this format, or with `flush` is flushed to it.",
    "average_weight": "Weight of one of m keys of score beta beside n - m of score 0.\n\n1 <= m <= n, any beta, +-inf too.",
    "average_leak": "Weight outside m keys of score beta, beside n - m of score 0.\n\n1 <= m <= n, any beta, +-inf too.",
    "weighted_leak": "Leak of a weighted_query: (n-m) / (e^beta + n - m).",
    "weighted_scale_needed": "Smallest beta / tau of a weighted_query with leak <= eps.",
    "law_pair": "Law of p_a / (p_a + p_b) for q = C (mu_a + mu_b), any n, alpha >= 0.\n\nY ~ N(0, C^2 (4 alpha + sigma2)).  At n = 2 this is p_a itself.",
    "weight_mean": "E w, by quadrature.  sd >= 0.",
    "weight_variance": "Var w, by quadrature.  sd >= 0.",
    "weight_abs_deviation": "E|w - 1/2|, by quadrature.  sd >= 0.",
    "weight_cdf": "P(w <= x).  0 <= x <= 1.",
    "weight_quantile": "Inverse of weight_cdf.  0 <= probability <= 1.",
    "weight_variance_small": "Var w for mean 0 and small T = sd: T^2 / 16.",
    "weight_variance_large": "Var w for mean 0 and large T = sd: two terms in 1/T.",
    "weight_variance_arcsin": "Var w for mean 0 and T = sd >= 0, by an arcsine: within 6.2%.",
    "weight_abs_deviation_arctan": "E|w - 1/2| for mean 0 and T = sd >= 0, by an arctangent: within 2.8%.",
    "window_scale_min": "Smallest C of q = C (mu_a + mu_b) with leak <= eps; -inf for n = 2.",
    "window_scale_max": "Largest C at this noise for which Var p_a/(p_a+p_b) <= variance.\n\n+inf where there is no noise.  0 < variance < 1/4, alpha, sigma2 >= 0.",
    "window_alpha_max": "Largest alpha at this C for which Var p_a/(p_a+p_b) <= variance.\n\n0 where sigma2 alone exceeds it.  0 < variance < 1/4, sigma2 >= 0, C > 0.",
    "window_scale_limit": "The rule of thumb C << 1/(2 sqrt alpha).  alpha >= 0.",
    "window_alpha_limit": "The rule of thumb alpha << 1/(4 ln^2(n / 2 eps)).  n > 2 eps.",
    "score_covariance": "Cov of s_i in head 1 and head 2, i of kind `key` (A, B or REST); no softcap.",
    "score_correlation": "Correlation of s_i in head 1 and head 2, i of kind `key`; NaN where a score is sure.",
    "score_gap_variance": "Var(s_x - s_y) for two different keys of kinds x and y (A, B or REST).",
    "one_head_limit": "C -> inf of q = C (mu_a + mu_b) in the exercise; sigma2 >= 0.",
    "two_heads_limit": "C -> inf of the heads C mu_a and C mu_b in the exercise; sigma2 >= 0.",
    "mse_one": "Mean squared error of one head in the exercise, C >= 0 or +inf.",
    "mse_two": "Mean squared error of two heads in the exercise, C >= 0 or +inf.",
    "unit_keys_limit": "Limit of unit_keys for q = C (mu_a + mu_b), only key a noisy: variance p (1 - p) / 4.",
    "suppression_query": "q = -B sum of the others: Query(0, 0, -B).",
    "suppression_norm": "|q| of a suppression_query: B sqrt(n - 2).",
    "groups_mse_positive": "Error of h heads for m targets given every gamma > 0, C -> inf: 1/h - 1/m.\n\nh divides m, else NaN.",
    "groups_mse_flips": "Error of h heads for m of n keys with sign flips, C -> inf.\n\nEvery target has magnitude noise sigma2 > 0; h heads of m/h targets each.  h divides m,\nelse NaN.",
    "groups_mse_first_order": "groups_mse_flips at h = m to first order in 1 - p: ((1-p)/m)(1 + 1/(n-1)).",
    "collision_size": "1 / collision_probability(d, m).",
    "random_entropy": "Mean entropy of the softmax of n independent logits N(0, S^2), by quadrature.\n\n1 <= n <= 1e15, 0 <= S <= 1000.",
    "random_sum_squares": "Mean of sum p^2 of the softmax of n independent logits N(0, S^2), by quadrature.\n\n1 <= n <= 1e15, 0 <= S <= 1000.",
    "random_entropy_limit": "random_entropy for large n, to leading order in ln n: ln n - S^2/2, 0 if frozen.",
    "random_keys_limit": "Effective keys for large n: n e^-S^2 for S^2 < (ln n)/2, NaN above.",
    "freezing_spread": "The spread sqrt(2 ln n) of logits above which one of n keys holds all weight.",
    "sinusoid_dot": "<phi_t, phi_t'> for t' - t = offset.",
    "sinusoid_distance": "|phi_t - phi_t'| for t' - t = offset.",
}

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
    found, about, end, at = [], "", 0, header.index("---- special functions")
    token = re.compile(rf"{COMMENT.pattern}|{DECLARATION.pattern}", re.S)
    for match in token.finditer(header, header.rindex("\n", 0, at)):
        comment, kind, name, args = match.groups()
        if name:
            found.append([name, letter_of(kind, ""), parameters(args), about])
            end = match.end()
            continue
        text, between = words(comment), header[end : match.start()]
        if found and not between.strip() and "\n" not in between:  # beside a declaration
            found[-1][3] = f"{found[-1][3]}\n{text}".strip()
        else:
            about = "" if text.startswith("----") else text
    for function in found:
        function[3] = WORDS.get(function[0], function[3])
    return found


def signature(function):
    _, result, args, _ = function
    return result + "".join(letter for letter, _ in args)


def docstring(text):
    lines = text.split("\n")
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
        return [
            "@overload",
            head(False, "float") + " ...",
            "@overload",
            head(True, "Array") + " ...",
            f"def {name}({plain}) -> Any:",
            *body,
            f"    return form({call})",
        ]
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
    lines += [
        row,
        ")",
        "from ._theory_library import A, B, REST, Format, Law, Output, Query, Scene, call, form",
        "",
        "if TYPE_CHECKING:",
        "    from ._theory_library import Array, Numbers",
        "",
    ]
    public = sorted(
        ["A", "B", "REST", "Format", "Law", "Output", "Query", "Scene"] + [f[0] for f in all_functions]
    )
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
    (path,) = sys.argv[1:]
    with open(HEADER, encoding="utf-8") as file:
        text = module(file.read())
    if os.path.islink(path):
        os.unlink(path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
