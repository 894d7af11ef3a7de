#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plant small faults one at a time, and count those that the tests find.

    mutate.py [--commit REV] [--list FILE] [--out FILE]   draw or replay a list, and run it
    mutate.py --count N [--seed SEED]                     a sample of N, drawn anew
    mutate.py --draw [--commit REV] [--list FILE]         draw a list alone
    mutate.py --only FILE[:LINE[:OPERATOR]] ...           those of the list alone
    mutate.py --report OUT...                             the table of earlier runs

Works on copies of a commit under build/mutants/, one with its builds for each of --jobs N
(JOBS, 2) workers, which take the mutants of the list in turn; nothing else is touched.  REV
may also be the name of a folder there that has the sources as tree.tar.

A mutant is one line of the sources changed by an operator (mutants.py): a sign, an
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
the reader to say.  Exit status 1: fewer than half were found.
"""
import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import random
import signal
import subprocess
import sys

from mutant_build import ROOT, SLOW, STAGES, WORK, Build, reaches
from mutants import FOLDERS, PER_FILE, draw

ALL = sum(quota for quota, sources in FOLDERS.values())
here = {}  # state of a worker: its number, the function that makes its build, the build


def key(mutant):
    return mutant["file"], mutant["line"], mutant["operator"], mutant["after"]


def read_records(path):
    """The last record of every mutant; an incomplete last line is ignored."""
    lines = path.read_text().rpartition("\n")[0].splitlines() if path.exists() else []
    return {key(record): record for record in map(json.loads, lines)}


def drawn(build, seed, share):
    """Draws a share of the quotas, all folders side by side."""
    quotas = {f: round(FOLDERS[f][0] * share) for f in FOLDERS}
    count, files, lines, found = collections.Counter(), collections.Counter(), set(), []
    sources = {f: draw(f, build.tree, random.Random(f"{seed} {f}")) for f in FOLDERS}
    while True:
        folder = min(FOLDERS, key=lambda f: (count[f] >= quotas[f], f in SLOW, count[f] / FOLDERS[f][0]))
        if count[folder] >= quotas[folder]:
            return found
        mutant = next(sources[folder])
        line = mutant["file"], mutant["line"]
        if files[mutant["file"]] < PER_FILE and line not in lines and build.compiles(mutant):
            count[folder] += 1
            files[mutant["file"]] += 1
            lines.add(line)
            found.append(mutant)
            print(len(found), f"{mutant['file']}:{mutant['line']}", mutant["operator"], flush=True)


def report(paths):
    """Prints the table; 1: of some run fewer than half were found."""
    too_few = 0
    for path in paths:
        records = [r for r in read_records(path).values() if r["outcome"] not in ("gone", "no mutant here")]
        print(f"{path}\n{'folder':8}{'mutants':>8}{'make test':>10}{'test-all':>10}{'share':>8}")
        for folder in [*FOLDERS, "all"]:
            some = [r for r in records if folder in (r["folder"], "all")]
            found = [r for r in some if r["outcome"] == "found"]
            print(
                f"{folder:8}{len(some):8}{sum(r['tier'] == 'test' for r in found):10}{len(found):10}"
                f"{100 * len(found) / max(len(some), 1):7.1f}%"
            )
        for r in records:
            if r["outcome"] != "found":
                print(
                    f"{r['outcome']}: {r['file']}:{r['line']} {r['operator']}\n"
                    f"    {r['before'].strip()}\n -> {r['after'].strip()}"
                )
        too_few |= 2 * sum(r["outcome"] == "found" for r in records) < len(records)
    return too_few


def wanted_in(stage, given, done):
    if stage == STAGES[0]:
        wanted = [m for m in json.loads(given.list.read_text()) if key(m) not in done]
        wanted += [r for r in done.values() if r["outcome"] == "open"]
    else:
        wanted = [
            r
            for r in done.values()
            if r["outcome"] == "survived" and stage not in r["tried"] and r["folder"] != "cuda"
        ]
    if given.only:
        wanted = [
            m
            for m in wanted
            if any(f"{m['file']}:{m['line']}:{m['operator']}".startswith(some) for some in given.only)
        ]
    return wanted


def begin_worker(numbers, make, jobs):
    """Sets the state of this process; the threads of its tests share two CPUs or more."""
    here.update(number=numbers.get(), make=make)
    cpus = sorted(os.sched_getaffinity(0))
    share = max(2, len(cpus) // jobs)
    os.sched_setaffinity(0, {cpus[(here["number"] * share + x) % len(cpus)] for x in range(share)})


def build_here():
    if "build" not in here:  # made by the first task: a pool does not report a worker that fails to start
        here["build"] = here["make"](here["number"])
    return here["build"]


def measure(name):
    return name, *build_here().measure(name)


def judge(task):
    mutant, seconds, out = task
    build_here().learn(json.loads(seconds.read_text()), read_records(out).values())
    return mutant, here["build"].judge(mutant)


def run_stage(stage, given, folder, wanted, done):
    first = Build(stage, folder, 0, given.jobs, given.python, given.budget)  # fills the cache for the others

    def make(number):
        return Build(stage, folder, number, 1, given.python, given.budget) if number else first

    fork = multiprocessing.get_context("fork")  # `make` and `first` are inherited, not pickled
    numbers = fork.SimpleQueue()
    for number in range(given.jobs):
        numbers.put(number)
    kept = folder / f"{stage}.seconds.json"
    seconds = json.loads(kept.read_text()) if kept.exists() else {}
    kept.write_text(json.dumps(seconds, indent=0))
    with fork.Pool(given.jobs, begin_worker, [numbers, make, given.jobs]) as pool:
        for part in FOLDERS.keys() - SLOW, {"mpi"}, {"cuda"}:
            some = [m for m in wanted if m["folder"] in part]
            folders = {m["folder"] for m in some}
            names = [
                t["name"]
                for t in sorted(first.tests, key=lambda t: -t["cost"])
                if t["name"] not in seconds and any(reaches(t, f) for f in folders)
            ]
            for name, taken, said in pool.imap_unordered(measure, names):
                seconds[name] = taken
                kept.write_text(json.dumps(seconds, indent=0))
                print(f"{stage} {name}: {taken} s, {said}", flush=True)
            for mutant, outcome in pool.imap_unordered(judge, [(m, kept, given.out) for m in some]):
                record = {
                    **mutant,
                    **(outcome or {"outcome": mutant.get("outcome", "no mutant here")}),
                    "tried": [*mutant.get("tried", []), stage],
                }
                record["passed"] = mutant.get("passed", []) * (record["outcome"] == "open") + record.get(
                    "passed", []
                )
                done[key(record)] = record
                with given.out.open("a") as file:
                    file.write(json.dumps(record) + "\n")
                print(
                    len(done),
                    record["outcome"],
                    record.get("found_by", ""),
                    f"{record['file']}:{record['line']}",
                    record["operator"],
                    record.get("seconds", ""),
                    flush=True,
                )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--list", type=pathlib.Path, default=WORK / "mutants.json")
    parser.add_argument("--out", type=pathlib.Path, default=WORK / "mutants.jsonl")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int)
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("JOBS") or 2))
    parser.add_argument("--stages", default=",".join(STAGES))
    parser.add_argument("--python", default="")
    parser.add_argument("--budget", type=float, default=0)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--report", nargs="+", type=pathlib.Path)
    given = parser.parse_args()
    if given.report:
        return report(given.report)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = WORK / given.commit
    if not (folder / "tree.tar").exists():
        git = ["git", "-C", ROOT]
        folder = (
            WORK / subprocess.check_output([*git, "rev-parse", "--short=12", given.commit], text=True).strip()
        )
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([*git, "archive", "-o", folder / "tree.tar", given.commit], check=True)
    if given.count:
        given.out.unlink(missing_ok=True)
    if given.draw or given.count or not given.list.exists():
        share = (given.count or ALL) / ALL
        mutants = drawn(Build(STAGES[0], folder, 0, given.jobs), given.seed, share)
        given.list.write_text(json.dumps(mutants, indent=1))
    if given.draw:
        return None
    done = read_records(given.out)
    for stage in given.stages.split(","):
        wanted = wanted_in(stage, given, done)
        if wanted and (stage != "python" or given.python):
            run_stage(stage, given, folder, wanted, done)
    return report([given.out])


if __name__ == "__main__":
    sys.exit(main())
