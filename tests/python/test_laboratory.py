# SPDX-License-Identifier: MIT
"""attend.lab: the same numbers as the command, row by row, and refusals of its own.

The command multiplies matrices by CBLAS and the package by loops, so numbers may differ
by rounding; where theory is 0 what was measured is itself rounding.
"""

import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

from setting import ROOT, np, sample, write

BIN = os.path.abspath(os.environ.get("ATTEND_BIN") or os.path.join(ROOT, "build", "release", "attend"))
ANSWERS = os.path.join(ROOT, "examples", "answers")
SOLUTIONS = os.path.join(ROOT, "examples", "solutions")

import attend  # noqa: E402
from attend import lab  # noqa: E402

HAS_COMMAND = os.access(BIN, os.X_OK)


def output(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout


def command(*args):
    """The objects that the command prints, one a line."""
    return [json.loads(line) for line in output(BIN, *args).splitlines()]


def flags_of(params):
    """Parameters of the package as flags of the command."""
    found = []
    for name, value in params.items():
        words = value if isinstance(value, (tuple, range)) else [value]
        found += [f"--{name}", ",".join(map(str, words))]
    return found


def finite(value):
    """The value after a round trip through JSON."""
    return value if not isinstance(value, float) or math.isfinite(value) else None


class Same(unittest.TestCase):
    def same(self, got, wanted, what, slack=1e-9, least=1e-12):
        """Whether two values of JSON or of a row are equal, numbers to rounding."""
        got = finite(got)
        if isinstance(wanted, float) and isinstance(got, (int, float)):
            self.assertLessEqual(abs(got - wanted), max(least, slack * abs(wanted)), what)
        else:
            self.assertEqual(got, wanted, what)


@unittest.skipUnless(HAS_COMMAND, f"no command {BIN}: make builds it")
class Experiments(Same):
    def compare(self, name, sweep=False, **params):
        rows = lab.perform(name, sweep=sweep, **params)
        wanted = command("lab", name, "--json", *flags_of(params), *([] if sweep else ["--no-sweep"]))
        self.assertEqual(len(rows), len(wanted), name)
        for row, want in zip(rows, wanted):
            what = f"{name}: {row.quantity} {row.params}"
            self.assertEqual(
                (row.quantity, row.kind, row.rare), (want["quantity"], want["kind"], want["rare"]), what
            )
            self.assertEqual({k: finite(v) for k, v in row.params.items()}, want["params"], what)
            for field in ("theory", "measured", "se"):
                self.same(getattr(row, field), want[field], f"{what} {field}")
            for field in ("low", "high"):
                self.same(getattr(row, field), want[field], f"{what} {field}", least=1e-9)
            if row.se > 1e-9:
                self.same(row.z, want["z"], f"{what} z", 1e-5, 1e-5)
            self.assertEqual(row.holds, want["holds"], what)

    def test_every_experiment(self):
        for made in lab.experiments():
            with self.subTest(made.name):
                self.compare(made.name, trials=2000, seed=3)

    def test_parameters(self):
        self.compare("magnitude", n=5, C=3.0, sigma2=0.2, trials=3000)
        self.compare("one-vs-two", trials=1000, n=4)

    def test_sweeps(self):
        for name in ("copy", "extract"):
            self.compare(name, trials=500, sweep=True)

    def test_threads_change_nothing(self):
        one, two = (lab.perform("magnitude", trials=3000, threads=threads) for threads in (1, 2))
        self.assertEqual(repr(one), repr(two))  # NaN is not equal to itself

    def test_what_there_is(self):
        help_text = output(BIN, "lab")
        for made in lab.experiments():
            self.assertIn(made.name, help_text)
            words = output(BIN, "lab", made.name, "--help")
            for flag in made.flags:
                self.assertIn(f"--{flag.name} ", words)
            for quantity in made.quantities:
                self.assertIn(f"  {quantity}\n", words)


class Performing(unittest.TestCase):
    def test_refusals(self):
        refused = {
            "no experiment 'nothing'": lambda: lab.perform("nothing"),
            "no experiment None": lambda: lab.perform(None),
            "n = nan is not allowed": lambda: lab.perform("magnitude", n=math.nan),
            "n = 1 is not allowed": lambda: lab.perform("magnitude", n=1),
            "n = 2.5 is not allowed": lambda: lab.perform("magnitude", n=2.5),
            "C = 'x' is not a number": lambda: lab.perform("magnitude", C="x"),
            "sigma2 = -1": lambda: lab.perform("magnitude", sigma2=-1),
            "trials = 0": lambda: lab.perform("magnitude", trials=0),
            "seed = -1": lambda: lab.perform("magnitude", seed=-1),
            "threads = 0": lambda: lab.perform("magnitude", threads=0),
            "d: 3 is less than n 10": lambda: lab.perform("magnitude", n=10, d=3),
        }
        for words, attempt in refused.items():
            with self.subTest(words), self.assertRaisesRegex(ValueError, re.escape(words)):
                attempt()
        with self.assertRaisesRegex(TypeError, "has no parameter 'x'"):
            lab.perform("magnitude", x=1)

    def test_progress_and_its_exception(self):
        seen = []
        lab.perform("magnitude", trials=200000, progress=lambda done, total: seen.append((done, total)))
        self.assertTrue(seen)
        self.assertEqual(seen[-1][0], seen[-1][1])

        def stop(done, total):
            raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            lab.perform("magnitude", trials=10**11, progress=stop)
        with self.assertRaisesRegex(LookupError, "enough"):
            lab.design("average", sigma2=0.5, trials=10**8, progress=stop)

    def interrupted(self, call):
        """Ctrl-C during the work."""
        asked = threading.Event()

        def progress(done, total):
            if not asked.is_set():
                asked.set()
                threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()

        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with self.assertRaises(KeyboardInterrupt):
                call(progress)
        finally:
            signal.signal(signal.SIGINT, before)
        self.assertTrue(asked.is_set())

    def test_keyboard_interrupt(self):
        self.interrupted(lambda progress: lab.perform("magnitude", trials=10**11, progress=progress))
        self.interrupted(
            lambda progress: lab.design("average", n=50, sigma2=0.5, trials=10**8, progress=progress)
        )

    def test_other_threads_run_meanwhile(self):
        """The GIL is free: another thread ends the work."""
        ended = threading.Event()
        threading.Timer(0.2, ended.set).start()

        def progress(done, total):
            if ended.is_set():
                raise LookupError("ended")

        self.assertRaises(LookupError, lab.perform, "magnitude", trials=10**11, progress=progress)

    def test_pandas(self):
        table = lab.perform("copy").to_pandas()
        self.assertTrue({"n", "quantity", "theory", "measured", "holds"} <= set(table.columns))

    def test_conclusion(self):
        rows = lab.perform("magnitude", trials=2000)
        self.assertIn("n = 10, C = 10", rows.conclusion)
        self.assertEqual(rows.experiment, "magnitude")


@unittest.skipUnless(HAS_COMMAND, f"no command {BIN}: make builds it")
class Designs(Same):
    def compare(self, task, file=None, **params):
        """`file`: where the command finds the keys."""
        made = lab.design(task, **params)
        (want,) = command("design", task, "--json", *flags_of({**params, "keys": file} if file else params))
        self.assertEqual(
            (made.task, made.heads, made.prescribed, made.best_heads, made.advice),
            (want["task"], want["heads"], want["prescribed"], want["best_heads"], want["advice"]),
        )
        self.same(made.scale, want["scale"], "scale")
        self.same(made.norm, want["norm"], "norm")
        self.assertEqual(made.queries.shape, (want["heads"], want["d"]))
        self.assertLessEqual(np.abs(made.queries - np.array(want["queries"])).max(), 1e-9)
        for got, by in zip(made.by_heads, want["by_heads"], strict=True):
            self.assertEqual(got.heads, by["heads"])
            self.same(got.scale, by["scale"], "scale")
            self.same(got.mse, by["mse"], "mse")
        for row, line in zip(made.rows, want["rows"], strict=True):
            what = f"{task} {row.quantity} {row.item}"
            self.assertEqual(
                (row.quantity, row.item, row.rare, row.approximate),
                (line["quantity"], line["item"], line["rare"], line["kind"] == "approximate"),
                what,
            )
            for field in ("predicted", "measured", "se", "low", "high"):
                self.same(getattr(row, field), line[field], f"{what} {field}")
            if row.se > 1e-9:
                self.same(row.z, line["z"], f"{what} z", 1e-5, 1e-5)

    def test_copy(self):
        self.compare("copy", items=3)

    def test_average_with_noise(self):
        self.compare("average", n=10, items=(3, 7), sigma2=0.5, noisy="a", C=10, trials=3000)

    def test_weights(self):
        self.compare("weights", items=(3, 7), weights=(0.8, 0.2), tau="sqrt")

    def test_heads(self):
        self.compare("heads", n=12, items=range(4), sigma2=0.3, trials=2000, seed=5)

    def test_random_keys(self):
        self.compare("average", keys="random", n=20, d=30, seed=2, alpha=0.01, trials=500)

    def test_keys_of_my_own(self):
        keys = np.random.default_rng(0).standard_normal((6, 9)).astype("f4")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "keys.npy")
            np.save(path, keys)
            self.compare("average", path, keys=keys, items=(1, 4))


class DesignRefusals(unittest.TestCase):
    def test_refusals(self):
        refused = {
            "task = 'sum'": ("sum", {}),
            "items = 10": ("copy", {"items": 10}),
            "one twice": ("average", {"items": (1, 1)}),
            "one item can be copied": ("copy", {"items": (1, 2)}),
            "weights are needed": ("weights", {}),
            "weights go with": ("average", {"weights": (0.5, 0.5)}),
            "the sum is": ("weights", {"weights": (0.5, 0.6)}),
            "heads goes with": ("average", {"heads": 2}),
            "does not divide": ("heads", {"items": (0, 1, 2, 3), "heads": 3}),
            "orthonormal keys": ("copy", {"n": 5, "d": 4}),
            "shape (3,)": ("copy", {"keys": [1.0, 2.0, 3.0]}),
            "not all finite": ("copy", {"keys": [[math.nan, 1.0]]}),
            "give one of them": ("copy", {"keys": np.eye(3), "n": 3}),
            "eps = 1": ("copy", {"eps": 1}),
            "noisy = 'b'": ("copy", {"noisy": "b"}),
        }
        for words, (task, params) in refused.items():
            with self.subTest(words), self.assertRaisesRegex(ValueError, re.escape(words)):
                lab.design(task, **params)


@unittest.skipUnless(HAS_COMMAND, f"no command {BIN}: make builds it")
class Sheets(Same):
    SHEETS = "000", "001", "002", "003", "004"

    def test_both_readings(self):
        """The statements of a drawn sheet; docs/PYTHON.md has the number of all statements."""
        for sheet in sample(self.SHEETS, 1):
            for reading in ("charity", "letter"):
                wanted = command("sheets", sheet, "--json", "--reading", reading)
                self.assertGreater(len(wanted), 10)
                for judgement, want in zip(lab.sheets(sheet, reading=reading), wanted, strict=True):
                    for field, value in want.items():
                        self.same(getattr(judgement, field), value, f"{judgement.id} {field}", 1e-5, 1e-9)

    def test_disputes(self):
        text = " ".join(output(BIN, "sheets").split())
        found = lab.disputes()
        self.assertEqual(len(found), 14)
        for dispute in found:
            for words in (dispute.question, dispute.sides, dispute.right):
                self.assertIn(" ".join(words.split()), text)
        of_one = lab.disputes(*sample(self.SHEETS, 1)[:1])
        self.assertTrue(0 < len(of_one) < 14 and set(of_one) < set(found), of_one)

    def test_refusals(self):
        self.assertRaisesRegex(ValueError, "sheet = '005'", lab.sheets, "005")
        self.assertRaisesRegex(ValueError, "reading = 'x'", lab.sheets, reading="x")


@unittest.skipUnless(HAS_COMMAND, f"no command {BIN}: make builds it")
class Grades(Same):
    def compare(self, path, *flags, **params):
        got = lab.grade(path, **params)
        (want,) = command("grade", path, "--json", *flags)
        self.assertEqual(got.student, want["student"])
        self.same(got.points, float(want["points"]), path)
        self.same(got.of, float(want["of"]), path)
        for part, line, known in zip(got.parts, want["parts"], lab.parts(), strict=True):
            what = f"{path} {part.question} {part.part}"
            for field in ("question", "part", "verdict", "error"):
                self.assertEqual(getattr(part, field), line[field], what)
            for field in ("points", "of", "computed", "claimed"):
                value = line[field]
                self.same(
                    getattr(part, field),
                    None if value is None else float(value),
                    f"{what} {field}",
                    1e-5,
                    1e-9,
                )
            # The command prints no solution of a part that has all its points.
            right = float(line["points"]) == float(line["of"])
            solution = "; ".join(known.solution) if right else line.get("solution", "")
            self.assertEqual(part.solution, solution, what)

    def test_examples(self):
        names = sorted(name for name in os.listdir(ANSWERS) if name.endswith(".json"))
        self.assertTrue(names)
        for name in names:
            with self.subTest(name):
                self.compare(os.path.join(ANSWERS, name))

    def test_rubric_and_seed(self):
        path = os.path.join(ANSWERS, sorted(n for n in os.listdir(ANSWERS) if n.endswith(".json"))[0])
        rubric = {"points": {"1b-i": {"M": 5}, "1e": 3}, "credit": {"limit": 0.25, "slip": 0.75}}
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "rubric.json")
            with open(file, "w", encoding="utf-8") as out:
                json.dump(rubric, out)
            self.compare(path, "--rubric", file, "--seed", 7, rubric=rubric, seed=7)
            self.compare(path, "--rubric", file, rubric=file)

    def test_template(self):
        want = json.loads(output(BIN, "grade", "--template"))
        got = lab.template()
        self.assertEqual(set(got), set(want) - {"_help"})
        for question, parts in want.items():
            if isinstance(parts, dict):
                self.assertEqual(got[question], {k: v for k, v in parts.items() if k != "_help"})
        empty = lab.grade(want)
        self.assertEqual((empty.points, {part.verdict for part in empty.parts}), (0.0, {"empty"}))

    def test_solutions_are_right(self):
        answers = {}
        for part in lab.parts():
            texts = list(part.solution)
            answers.setdefault(part.question, {})[part.name] = texts[0] if part.texts == 1 else texts
        graded = lab.grade(answers)
        self.assertEqual(graded.points, graded.of)


@unittest.skipUnless(HAS_COMMAND, f"no command {BIN}: make builds it")
class Solutions(Same):
    def test_examples(self):
        names = sorted(os.listdir(SOLUTIONS))
        self.assertTrue(names)
        for name in names:
            path = os.path.join(SOLUTIONS, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            got = lab.judge(pathlib.Path(path))
            # A NaN equals nothing, not even itself.
            self.assertEqual(repr(lab.judge(text)), repr(got))
            *claims, last = command("judge", "--json", path)
            self.assertGreater(len(claims), 10)
            for claim, want in zip(got.claims, claims, strict=True):
                del want["file"]
                for field, value in want.items():
                    what = f"{name} line {claim.line} {field}"
                    if field in ("computed", "expected"):
                        self.same(getattr(claim, field), value and float(value), what, 1e-5, 1e-9)
                    else:
                        self.assertEqual(getattr(claim, field), value, what)
            self.assertEqual([vars(one) for one in got.letters], last["letters"])
            for one, want in zip(got.questions, last["questions"], strict=True):
                self.assertEqual(
                    (one.question, one.of, one.words), (want["question"], want["of"], want["words"])
                )
                self.same(one.points, float(want["points"]), name)
            self.assertEqual(vars(got.coverage), last["coverage"])
            self.same(got.points, float(last["points"]), name)
            self.assertEqual(got.of, last["of"])
            for conflict, want in zip(got.conflicts, last["conflicts"], strict=True):
                self.assertEqual((list(conflict.claims), conflict.words), (want["claims"], want["words"]))

    def test_refusals(self):
        self.assertEqual(lab.judge("").claims, [])
        for bad, words in (
            ("q\0", "solution: byte 2: this is not UTF-8"),
            ("q\ud800", "solution: character 2: this is not UTF-8"),
            (" " * ((1 << 20) + 1), "solution: 1048577 bytes: more than 1048576"),
        ):
            with self.assertRaises(ValueError) as caught:
                lab.judge(bad)
            self.assertEqual(str(caught.exception), words)
        self.assertRaisesRegex(TypeError, "bytes where a text", lab.judge, b"q")
        self.assertRaises(FileNotFoundError, lab.judge, pathlib.Path("/nowhere.md"))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "latin.txt")
            path.write_bytes(b"na\xefve")
            with self.assertRaises(ValueError) as caught:
                lab.judge(path)
            self.assertEqual(str(caught.exception), f"{path}: byte 3: this is not UTF-8")


class GradeRefusals(unittest.TestCase):
    def test_refusals(self):
        refused = {
            "no question '9z'": {"9z": {}},
            "1b-i: no part 'X'": {"1b-i": {"X": "1"}},
            "1b-i: a list where an object": {"1b-i": []},
            "student: a control character": {"student": "a\nb"},
            "student: a number where a text": {"student": 3},
            "the character U+0000": {"1b-i": {"M": "A\0B"}},
            "half a character": {"1b-i": {"M": "\ud800"}},
        }
        for words, answers in refused.items():
            with self.subTest(words), self.assertRaisesRegex(ValueError, re.escape(words)):
                lab.grade(answers)
        for text, evidence in ((True, "true where a text should be"), ("A ^^ T", "column 4")):
            part = lab.grade({"1b-i": {"M": text}}).part("1b-i", "M")
            self.assertEqual((part.verdict, part.points), ("unread", 0.0))
            self.assertIn(evidence, part.evidence)
        self.assertRaisesRegex(ValueError, "neither points", lab.grade, {}, rubric={"x": {}})
        self.assertRaisesRegex(
            ValueError, "credit.limit: 2 is outside 0..1", lab.grade, {}, rubric={"credit": {"limit": 2}}
        )
        self.assertRaises(FileNotFoundError, lab.grade, "/nowhere.json")

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (
                ("twice.json", '{"1b-i": {}, "1b-i": {}}'),
                ("list.json", "[]"),
                ("cut.json", "{"),
                ("deep.json", "[" * 100000),
            ):
                path = os.path.join(folder, name)
                write(path, text)
                with self.subTest(name), self.assertRaisesRegex(ValueError, name):
                    lab.grade(path)


class Package(unittest.TestCase):
    def test_links_to_nothing_but_the_c_library(self):
        folder = os.path.dirname(attend.__file__)
        for name in ("_lab.abi3.so", os.path.join("_libs", "_theory.so")):
            listed = output("readelf", "-d", os.path.join(folder, name))
            needed = {line.split("[")[1].rstrip("]") for line in listed.splitlines() if "(NEEDED)" in line}
            self.assertLessEqual(
                {library.split(".")[0] for library in needed}, {"libc", "libm", "libpthread"}, name
            )

    def test_without_the_extension(self):
        code = (
            "import sys; sys.modules['attend._lab'] = None\n"
            "import attend\n"
            "try: attend.lab\n"
            "except ImportError as error: print(error)"
        )
        self.assertIn("librandom123-dev", output(sys.executable, "-c", code))
