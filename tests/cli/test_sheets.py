# SPDX-License-Identifier: MIT
"""attend sheets: rows, words and usage; no verdict is written in the source."""

import collections
import functools
import glob
import itertools
import json
import math
import os
import re
import unittest

from harness import CliTest, attend, main, sample

KEYS = (
    "id sheet line says quote quoted_line verdict reading readings_agree invariant "
    "holds_when measured expected evidence"
).split()
SHARES = {"000": 16, "001": 26, "002": 32, "003": 18, "004": 21}
WORDS = {"holds": "true", "limit": "true in the limit", "fails": "false", "slip": "slip"}
VERDICTS = set(WORDS)
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "..", "..", "lab", "sheets")


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


@functools.cache  # judging every statement takes seconds
def said(*args):
    done = attend("sheets", *args)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"{done.returncode}: {done.stderr}")
    return done.stdout


def rows(*args):
    lines = said("--json", *args).splitlines()
    return [json.loads(line, parse_constant=refuse_constant) for line in lines]


class Rows(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.all = rows()
        cls.by_id = {row["id"]: row for row in cls.all}

    def test_every_statement_once_in_the_order_of_lines(self):
        ids = [f"{s}-{i}" for s, share in SHARES.items() for i in range(1, share + 1)]
        self.assertEqual(len(self.all), len(ids))
        self.assertEqual({row["id"] for row in self.all}, set(ids))
        places = [(row["sheet"], row["quoted_line"]) for row in self.all]
        self.assertEqual(places, sorted(places))

    def test_keys_and_types(self):
        for row in self.all:
            self.assertEqual(list(row), KEYS)
            self.assertEqual(row["sheet"], row["id"][:3])
            self.assertIsInstance(row["line"], int)
            self.assertIn(row["verdict"], VERDICTS)
            self.assertEqual(row["reading"], "charity")
            for key in "readings_agree", "invariant":
                self.assertIsInstance(row[key], bool)
            self.assertLess(abs(row["quoted_line"] - row["line"]), 9, row["id"])
            for key in "says", "quote", "holds_when", "evidence":
                self.assertIsInstance(row[key], str)
                self.assertGreater(len(row[key].strip()), 3, (row["id"], key))
            for key in "measured", "expected":
                self.assertIsInstance(row[key], (float, int, type(None)))

    def test_every_verdict_occurs_and_says_why(self):
        counts = collections.Counter(row["verdict"] for row in self.all)
        self.assertEqual(set(counts), VERDICTS)
        for row in self.all:
            verdict, evidence = row["verdict"], row["evidence"]
            if verdict == "limit":
                self.assertIn("[True ", row["holds_when"], row["id"])
                self.assertRegex(evidence, "The error vanishes|True as", row["id"])
            elif verdict == "slip":
                self.assertIn("As printed", evidence, row["id"])
                self.assertIn("With one symbol repaired (", evidence, row["id"])
            elif verdict == "fails":
                self.assertRegex(evidence, "(?i)counterexample|at each of|would mend it", row["id"])
                if row["measured"] is not None:
                    self.assertNotEqual(row["measured"], row["expected"], row["id"])

    def test_faults_of_the_scan_are_named(self):
        for name, words in (
            ("001-20", "N_n for v_a"),
            ("002-31", "lost the minus"),
            ("003-3", "may be at fault"),
            ("004-9", "may be at fault"),
            ("004-17", "Hu for mu_a"),
        ):
            self.assertRegex(self.by_id[name]["evidence"], f"The scan .*{words}", name)

    def test_a_reason_counts_by_the_letter(self):
        """Facts that the exercise gives, with a reason that does not give them."""
        letter = {row["id"]: row["verdict"] for row in rows("--reading", "letter")}
        for name, verdict in ("000-5", "limit"), ("000-11", "holds"):
            self.assertEqual((self.by_id[name]["verdict"], letter[name]), (verdict, "fails"), name)

    def test_readings(self):
        letter = rows("--reading", "letter")
        self.assertEqual([row["id"] for row in letter], [row["id"] for row in self.all])
        for strict, row in zip(letter, self.all):
            self.assertEqual(strict["reading"], "letter")
            agree = strict["verdict"] == row["verdict"]
            self.assertEqual((strict["readings_agree"], row["readings_agree"]), (agree, agree), row["id"])
        # An equality that is wrong, and a limit that the sheet itself calls a limit.
        by_id = {row["id"]: row for row in letter}
        self.assertFalse(by_id["000-15"]["readings_agree"])
        self.assertTrue(by_id["000-2"]["readings_agree"])

    def test_a_sheet_is_its_share(self):
        for sheet in {"004", *sample(SHARES, 1)}:
            own = rows(sheet)
            self.assertEqual(len(own), SHARES[sheet])
            self.assertEqual(own, [row for row in self.all if row["sheet"] == sheet])

    def test_numbers_against_formulas(self):
        """Deciding numbers, computed here at the point that the evidence names."""

        def point(row):
            found = re.search(r"at n = (\d+)(?:, \S+ = ([\d.]+))?", row["evidence"])
            return int(found[1]), float(found[2] or 1)

        def softmax(row, top, tops):
            n, scale = point(row)
            weight = math.exp(top * scale)
            return weight / (tops * weight + n - tops)

        cases = {
            "000-2": lambda row: softmax(row, 1, 2),
            "002-9": lambda row: softmax(row, 1, 2),
            "001-19": lambda row: math.e / (math.e + point(row)[0] - 1),
            "003-12": lambda row: math.e / (math.e + point(row)[0] - 1),
            "003-9": lambda row: point(row)[1] ** 2 * (2e-10 + 0.5),
            "003-10": lambda row: point(row)[1] ** 2 * 2e-10,
            "003-17": lambda row: (math.e + 1) / 2 / (math.e + point(row)[0] - 1),
            "003-18": lambda row: math.e / (math.e + point(row)[0] - 1),
            "004-20": lambda row: math.e / (math.e + point(row)[0] - 1),
            "002-22": lambda row: math.exp(-50) / (math.exp(50) + math.exp(-50)),
            "004-16": lambda row: 1 / (1 + math.exp(-0.2)),
        }
        for name, formula in cases.items():
            row = self.by_id[name]
            ratio = row["measured"] / formula(row)
            self.assertAlmostEqual(ratio, 1, delta=1e-9, msg=name)
        # Shares of gamma ~ N(1, 1/2): in [.5, 1.5], below -1, below 0.
        letter = {row["id"]: row for row in rows("--reading", "letter")}
        shares = {"001-13": math.erf(0.5), "000-12": math.erfc(2) / 2, "002-19": math.erfc(1) / 2}
        for name, share in shares.items():
            self.assertAlmostEqual(letter[name]["measured"], share, delta=1e-9)

    def test_thresholds_against_theory(self):
        """The point where |c - (v_a+v_b)/2| passes 0.01, against holds_when."""
        for n in 10, 1000:

            def error(scale, n=n):
                weight = math.exp(scale) / (2 * math.exp(scale) + n - 2)
                other = 1 / (2 * math.exp(scale) + n - 2)
                return math.sqrt(2 * (weight - 0.5) ** 2 + (n - 2) * other**2)

            low, high = 0.0, 50.0
            while high - low > 1e-6:
                middle = (low + high) / 2
                low, high = (middle, high) if error(middle) > 0.01 else (low, middle)
            condition = self.by_id["000-2"]["holds_when"]
            told = re.search(rf"([\d.]+) at n = {n}\b", condition)
            self.assertTrue(told, condition)
            self.assertAlmostEqual(float(told[1]) / high, 1, delta=0.012)


class Words(CliTest):
    def test_table(self):
        table = said("001")
        self.assertIn('"choose M = A^T"', table)
        for i in range(1, SHARES["001"] + 1):
            self.assertRegex(table, rf"(?m)^ +\d+  001-{i} +(true|true in the limit|false|slip)(;|$)")
        lines = [int(line) for line in re.findall(r"(?m)^ +(\d+)  001-", table)]
        self.assertEqual(lines, sorted(lines))
        self.assertRegex(table, r"(?m)^Sheet 001, a scan\b")
        self.assertRegex(table.splitlines()[-1], "^true: .*true in the limit: .*slip: .*false: ")
        self.assertIn("contradict", table)
        self.assertRegex(table, r"(?m)^read by charity; .* differs on [1-9]")
        counts = re.search(r"(?m)^001 +(\d+) +(\d+) +(\d+) +(\d+)$", table)
        self.assertEqual(sum(map(int, counts.groups())), SHARES["001"])

    def test_explain_tells_more(self):
        by_letter = {row["id"]: row for row in rows("--reading", "letter")}
        for row in rows("001"):
            shown = re.search(rf"(?m)^ +\d+  {row['id']} +(.*)$", said("001"))[1]
            self.assertEqual(shown.split(";")[0], WORDS[row["verdict"]])
            if not row["readings_agree"]:
                self.assertIn("by the letter: " + WORDS[by_letter[row["id"]]["verdict"]], shown)
        long = said("001", "--explain", "--reading=letter")
        self.assertGreater(len(long), 2 * len(said("001")))
        self.assertRegex(long, r"(?m)^read by the letter; .* differs on [1-9]")
        words = " ".join(long.split())
        for row in rows("--reading", "letter"):
            if row["sheet"] == "001":
                self.assertIn(" ".join(row["evidence"].split()), words)
                self.assertIn(" ".join(row["holds_when"].split()), words)
        self.assertLessEqual(max(map(len, long.splitlines())), 110)

    def test_order_of_words(self):
        self.assertEqual(said("--json", "004"), said("004", "--json"))

    def test_help(self):
        done = attend("sheets", "--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("example:", done.stdout)
        self.assertIn("sheets", attend("--help").stdout)

    def test_misuse(self):
        for args, named in (
            (["005"], "005"),
            (["0"], "'0'"),
            (["000", "001"], "001"),
            (["--jsn"], "--json"),
            (["--reading", "spirit"], "spirit"),
            (["--reading"], "--reading"),
            (["--json=1"], "--json"),
            ([""], "''"),
        ):
            done = attend("sheets", *args)
            self.assertEqual(done.returncode, 2, args)
            self.assertEqual(done.stdout, "", args)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertTrue(done.stderr.startswith("attend sheets: "), done.stderr)
            self.assertIn(named, done.stderr)


class Source(unittest.TestCase):
    """Statements contain claims; only the judge computes verdicts."""

    def read(self, pattern):
        files = sorted(glob.glob(os.path.join(SOURCE, pattern)))
        self.assertTrue(files, pattern)
        for path in files:
            with open(path, encoding="utf-8") as file:
                yield os.path.basename(path), file.read()

    def test_statements_hold_no_verdicts(self):
        found = 0
        for name, text in self.read("sheet_*.c"):
            found += 1
            self.assertNotRegex(text, r"LAB_(HOLDS|LIMIT|FAILS|SLIP)|verdict", name)
            # Text of the sheets may contain such a word; other text must not.
            quiet = re.sub(r'LAB_SAYS\("[^"]*", \d+,\s*(?:"(?:\\.|[^"\\])*"\s*)+', "", text)
            self.assertNotRegex(quiet, r"(?i)\b(holds|fails|slips?|limits?)\b", name)
        self.assertEqual(found, len(SHARES))

    def test_high_is_one_number(self):
        """A deviation is compared with the letter `high`, on every sheet."""
        found = 0
        for name, text in self.read("sheet_*.c"):
            found += len(re.findall(r"\bD_\w+ > high\b", text))
            self.assertNotRegex(text, r"\b[DV]_\w+ [<>] [\d.]*[1-9]", name)
        self.assertGreater(found, 1)

    def test_the_judge_knows_no_statement(self):
        for name, text in self.read("../judge/*.[ch]"):
            self.assertNotRegex(text, r'"00[0-4]-\d', name)
            self.assertNotRegex(text, r"strcmp\([^)]*->id", name)

    def test_verdicts_are_assigned_in_one_place(self):
        for name, text in itertools.chain(self.read("*.c"), self.read("../judge/*.c")):
            if re.search(r"(\.|->)verdict\s*=[^=]", text):
                self.assertEqual(name, "judge.c")


if __name__ == "__main__":
    main()
