#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plant small faults one at a time, and count those that the tests find.

    mutate.py [--commit REV] [--list FILE] [--out FILE]   draw or replay a list, and run it
    mutate.py --only FILE[:LINE[:OPERATOR]] ...           those of the list alone
    mutate.py --report OUT...                             the table of earlier runs

Works on a copy of a commit under build/mutants/, with builds of its own; nothing else is
touched.  A mutant is one line of the sources changed by an operator (mutants.py): a sign, an
off-by-one, a comparison, swapped operands, min for max, a dropped factor, a wrong index or
extent, a dropped barrier or weaker memory order, a dropped statement, a constant.  What does
not compile, or compiles to the same objects as before, is no mutant, and another is drawn.
Kernel sets that this machine cannot run are not built, so nothing is planted in them; kernels
for GPUs run on the emulator.

--list FILE.json holds what was planted.  It is drawn by --seed where there is no such file;
else the same mutants are found again by their text and the lines around it, whatever their
line numbers are now.  --out FILE.jsonl gets a line for each mutant as it ends; mutants with a
line are not run again, so that a run can be continued.  --budget SECONDS leaves a mutant open
when the tests so far took that long; a run without it takes up the open ones where they were
left, so that the easy ones are known first.

A mutant is found when a test fails, crashes, or takes five times as long as without it.  A
test runs only if a file that it uses has changed: those of `make test` first, then what only
`make test-all` runs; of these, first what found other mutants of the same file or folder in
few seconds.  Survivors go through the stages python (with --python, the interpreter of an
environment that has the packages), asan and tsan.  Whether a survivor is equivalent is for
the reader to say.
"""
import argparse
import collections
import json
import pathlib
import random
import signal
import subprocess
import sys

from mutant_build import ROOT, SLOW, STAGES, WORK, Build
from mutants import FOLDERS, PER_FILE, draw


def key(mutant):
    return mutant["file"], mutant["line"], mutant["operator"], mutant["after"]


def read_records(path):
    """The last record of every mutant."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {key(record): record for record in map(json.loads, lines)}


def drawn(build, seed, done):
    """Draws what the quotas want, all folders side by side; yields mutants and outcomes."""
    count = collections.Counter(record["folder"] for record in done.values())
    files = collections.Counter(record["file"] for record in done.values())
    lines = {(record["file"], record["line"]) for record in done.values()}
    sources = {f: draw(f, build.tree, random.Random(f"{seed} {f}")) for f in FOLDERS}
    while True:
        folder = min(FOLDERS, key=lambda f: (count[f] >= FOLDERS[f][0], f in SLOW, count[f] / FOLDERS[f][0]))
        if count[folder] >= FOLDERS[folder][0]:
            return
        mutant = next(sources[folder])
        if files[mutant["file"]] >= PER_FILE or (mutant["file"], mutant["line"]) in lines:
            continue
        outcome = build.judge(mutant)
        if outcome:
            count[folder] += 1
            files[mutant["file"]] += 1
            lines.add((mutant["file"], mutant["line"]))
            yield mutant, outcome


def report(paths):
    for path in paths:
        records = [r for r in read_records(path).values() if r["outcome"] != "gone"]
        print(f"{path}\n{'folder':8}{'mutants':>8}{'make test':>10}{'test-all':>10}{'share':>8}")
        for folder in [*FOLDERS, "all"]:
            some = [r for r in records if folder in (r["folder"], "all")]
            found = [r for r in some if r["outcome"] == "found"]
            print(f"{folder:8}{len(some):8}{sum(r['tier'] == 'test' for r in found):10}{len(found):10}"
                  f"{100 * len(found) / max(len(some), 1):7.1f}%")
        for r in records:
            if r["outcome"] != "found":
                print(f"{r['outcome']}: {r['file']}:{r['line']} {r['operator']}\n"
                      f"    {r['before'].strip()}\n -> {r['after'].strip()}")


def wanted_in(stage, given, done):
    """The mutants of a stage; None: to be drawn."""
    if stage == STAGES[0]:
        if not given.list.exists():
            return None
        wanted = [m for m in json.loads(given.list.read_text()) if key(m) not in done]
        wanted += [r for r in done.values() if r["outcome"] == "open"]
    else:
        wanted = [r for r in done.values() if r["outcome"] == "survived" and stage not in r["tried"]
                  and r["folder"] != "cuda"]
    if given.only:
        wanted = [m for m in wanted if any(
            f"{m['file']}:{m['line']}:{m['operator']}".startswith(some) for some in given.only)]
    return wanted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--list", type=pathlib.Path, default=WORK / "mutants.json")
    parser.add_argument("--out", type=pathlib.Path, default=WORK / "mutants.jsonl")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--stages", default=",".join(STAGES))
    parser.add_argument("--python", default="")
    parser.add_argument("--budget", type=float, default=0)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--report", nargs="+", type=pathlib.Path)
    given = parser.parse_args()
    if given.report:
        return report(given.report)

    commit = subprocess.check_output(["git", "-C", ROOT, "rev-parse", "--short=12", given.commit], text=True).strip()
    folder = WORK / commit
    if not (folder / "tree").exists():
        (folder / "tree").mkdir(parents=True)
        archive = subprocess.Popen(["git", "-C", ROOT, "archive", commit], stdout=subprocess.PIPE)
        subprocess.run(["tar", "x", "-C", folder / "tree"], stdin=archive.stdout, check=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    done = read_records(given.out)
    for stage in given.stages.split(","):
        wanted = wanted_in(stage, given, done)
        if wanted == [] or stage == "python" and not given.python:
            continue
        build = Build(stage, folder, given.python, given.budget)
        for record in done.values():
            if record["outcome"] == "found":
                build.count_hit(record)
        pairs = drawn(build, given.seed, done) if wanted is None else ((m, build.judge(m)) for m in wanted)
        for mutant, outcome in pairs:
            record = {**mutant, **(outcome or {"outcome": mutant.get("outcome", "no mutant here")}),
                      "tried": [*mutant.get("tried", []), stage]}
            record["passed"] = mutant.get("passed", []) * (record["outcome"] == "open") + record.get("passed", [])
            if record["outcome"] == "found":
                build.count_hit(record)
            done[key(record)] = record
            with given.out.open("a") as file:
                file.write(json.dumps(record) + "\n")
            print(len(done), record["outcome"], record.get("found_by", ""), f"{record['file']}:{record['line']}",
                  record["operator"], record.get("seconds", ""), flush=True)
        if wanted is None:
            fields = ["folder", "file", "line", "operator", "before", "after", "around"]
            given.list.write_text(json.dumps([{f: r[f] for f in fields} for r in done.values()], indent=1))
    return report([given.out])


if __name__ == "__main__":
    sys.exit(main())
