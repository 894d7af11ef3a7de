# SPDX-License-Identifier: MIT
"""Small faults for mutate.py: which there are, and where they are planted.

A mutant is one line of the sources changed by an operator.  Comments, strings, calls that
format text, preprocessor lines, static assertions and enumerations (capacities and sizes of
tiles) stay as they are.
"""
import collections
import re

# Mutants for each folder of the table, and the sources that belong to it.
FOLDERS = {
    "core": (40, ["src/core/*", "src/base/*", "src/api/*"]),
    "cpu": (55, ["src/cpu/*/*"]),
    "mpi": (25, ["src/mpi/*", "src/mpi/comm/*"]),
    "cuda": (20, ["src/cuda/*", "src/cuda/*/*"]),
    "theory": (25, ["src/theory/*"]),
    "lab": (35, ["lab/*/*"]),
}
PER_FILE = 5
SUFFIXES = {".c", ".h", ".cu", ".cuh"}

NAME = r"[A-Za-z_][\w.]*(?:(?:->|\.)\w+|\[\w+\])*"
OTHER = {
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "&&": "||",
    "||": "&&",
    "<<": ">>",
    ">>": "<<",
    "&": "|",
    "|": "&",
    "min": "max",
    "max": "min",
    "true": "false",
    "false": "true",
    "nq": "nk",
    "nk": "nq",
    "d": "dv",
    "dv": "d",
    "hq": "hkv",
    "hkv": "hq",
    "k": "v",
    "v": "k",
    "rows": "keys",
    "keys": "rows",
}


def other(m):
    return OTHER[m[0]]


def next_number(m):
    return str(int(m[0]) + 1) if m[0].isdigit() else f"{float(m[0]) * 1.1:.6g}"


# Operators: patterns within a line, and their replacements.
OPERATORS = {
    "sign": [
        (r"(?<=[\w)\]] )[-+](?= [\w(*&-])", other),
        (r"[-+](?==)", other),
        (r"(?<=[(\[])-(?=[\w(])|(?<=[=,?:] )-(?=[\w(])|(?<=return )-(?=[\w(])", ""),
    ],
    "off-by-one": [(r"(?<= )(?:<=?|>=?)(?= )", other), (r" [-+] 1\b(?![.\w])", ""), (r"(?<== )0(?=; )", "1")],
    "comparison": [
        (r"(?<= )(?:==|!=|&&|\|\|)(?= |$)", other),
        (r"(?<= )<(?= )", ">"),
        (r"(?<= )>(?= )", "<"),
        (r"(?<=if \()!(?=\w)", ""),
        (rf"(?<=if \()(?={NAME}\))", "!"),
    ],
    "operands": [
        (rf"(?<=\()({NAME}), ({NAME})(?=[,)])", r"\2, \1"),
        (rf"(?<=, )({NAME}), ({NAME})(?=[,)])", r"\2, \1"),
        (rf"(?<![*/.>\]] )\b({NAME}) ([-/]) ({NAME})(?!\()", r"\3 \2 \1"),
        (rf"(?<=\? )({NAME}) : ({NAME})", r"\2 : \1"),
    ],
    "min-max": [(r"(?:(?<=\bf)|(?<=\b)|(?<=_))(?:min|max)(?=(?:_\w+)?\()", other)],
    "factor": [
        (rf"(?<=[\w)\]]) [*/] {NAME}(?![\w(\[])", ""),
        (r"(?<=[\w)\]] )[*/](?= )", other),
        (r"(?<=[\w)\]] )[*/](?==)", other),
    ],
    "index": [
        (r"(?<=\w\[)[0-3](?=\])", lambda m: str(int(m[0]) ^ 1)),
        (r"(?:(?<=->)|(?<=\w\.))(?:nq|nk|dv?|hq|hkv|rows|keys|k|v)\b(?! ?\()", other),
    ],
    "barrier": [
        (
            r"^\s*(?:\w*_)?(?:barrier|fence|syncthreads|syncwarp|threadfence|lock|unlock|"
            r"signal|broadcast|wait|arrive|commit|Barrier|sync)(?:_\w+)?\([^;\0]*\);$",
            ";",
        ),
        (r"\bmemory_order_(?:acquire|release|acq_rel|seq_cst)\b", "memory_order_relaxed"),
    ],
    "statement": [
        (r"^\s*[\w\->.\[\]*]+ [-+*/|&^]?= [^;\0]*;$", ";"),
        (r"^\s*\w+\([^;\0]*\);$", ";"),
        (r"^\s*(?:continue|break);$", ";"),
        (r"(?<=[\w\]])\+\+(?=;)", ""),
    ],
    "constant": [
        (r"(?<![\w.\[])(?:[2-9]|\d\d+)\b(?![.\w])", next_number),
        (r"(?<![\w.])\d+\.\d+\b(?!\w)", next_number),
        (r"\b(?:true|false)\b", other),
        (r"(?<= )(?:<<|>>|[&|])(?= )", other),
    ],
}


def masked(text):
    """The text with \\0 for every character that is not to be changed."""
    out = list(text)

    def hide(start, end):
        for x in range(start, end):
            if out[x] != "\n":
                out[x] = "\0"

    strings = []
    for m in re.finditer(
        r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\])+'" r"|^[ \t]*#(?:\\\n|[^\n])*",
        text,
        re.S | re.M,
    ):
        hide(*m.span())
        if m[0][0] == '"':
            strings.append(m.start())
    code = "".join(out)
    for start in strings:  # the call or the statement with it
        depth, x = 0, start
        while x > 0 and code[x] not in ";{}" and depth >= 0:
            x -= 1
            depth += {")": 1, "(": -1}.get(code[x], 0)
        end, depth = start, 0
        while end < len(code) and code[end] not in ";{}" and depth >= 0:
            end += 1
            depth += {"(": 1, ")": -1}.get(code[end : end + 1], 0)
        hide(x, min(end + 1, len(code)))
    for m in re.finditer(r"\benum\b[^;{]*\{[^}]*\}|\b_?[Ss]tatic_assert\b[^;]*;", code):
        hide(*m.span())
    return "".join(out)


def candidates(folder, tree):
    """All mutants of a folder: {operator: [mutant]}."""
    found = collections.defaultdict(list)
    for path in sorted({p for g in FOLDERS[folder][1] for p in tree.glob(g)}):
        if path.suffix not in SUFFIXES:
            continue
        text = path.read_text()
        lines = text.split("\n")
        ended = True  # whether a statement can begin in this line
        for number, code in enumerate(masked(text).split("\n")):
            begins, bare = ended, code.strip("\0 ")
            ended = not bare or bare[-1] in ";{}:)" or bare.endswith("else")
            for operator, patterns in OPERATORS.items():
                for pattern, becomes in patterns:
                    for m in re.finditer(pattern, code):
                        if "\0" in m[0] or (
                            m.start() and code[: m.start()].strip("\0 ") == "" and "\0" in code[: m.start()]
                        ):
                            continue
                        if becomes == ";" and not begins:
                            continue
                        new = becomes(m) if callable(becomes) else m.expand(becomes)
                        after = lines[number][: m.start()] + new + lines[number][m.end() :]
                        if after == lines[number]:
                            continue
                        found[operator].append(
                            {
                                "folder": folder,
                                "file": str(path.relative_to(tree)),
                                "line": number + 1,
                                "operator": operator,
                                "before": lines[number],
                                "after": after,
                                "around": [
                                    *lines[max(number - 2, 0) : number],
                                    *lines[number + 1 : number + 3],
                                ],
                            }
                        )
    return found


def draw(folder, tree, rng):
    """An endless iterator of a folder's mutants: an operator, then one of its places."""
    found = candidates(folder, tree)
    while any(found.values()):
        places = found[rng.choice(sorted(o for o in found if found[o]))]
        yield places.pop(rng.randrange(len(places)))


def locate(tree, mutant):
    """The file and the index of the mutant's line today, or None: of those with its text, the one
    whose neighbours are the same, then the nearest.  Where its file has none, a line of another
    file with as many as half of its neighbours."""

    def places(path):
        lines = path.read_text().split("\n") if path.exists() else []
        for x in (x for x, line in enumerate(lines) if line == mutant["before"]):
            near = lines[max(x - 2, 0) : x] + lines[x + 1 : x + 3]
            apart = sum(a != b for a, b in zip(near, mutant["around"]))
            yield apart, abs(x + 1 - mutant["line"]), str(path.relative_to(tree)), x

    found = list(places(tree / mutant["file"]))
    if not found:
        others = (
            p for top in ("src", "lab") for p in sorted((tree / top).rglob("*")) if p.suffix in SUFFIXES
        )
        found = [place for p in others for place in places(p) if place[0] <= 2]
    return min(found)[2:] if found else None
