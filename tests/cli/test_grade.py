# SPDX-License-Identifier: MIT
"""attend grade: the sheets' own answers, ten others, forms, rubrics, and bad files."""

import csv
import functools
import io
import json
import os
import re
import shlex
import shutil
import tempfile
import unittest

import answers
from harness import CliTest, attend, main

HERE = os.path.dirname(os.path.abspath(__file__))
SHEETS = os.path.join(HERE, "..", "..", "examples", "answers")

# The part of an answer, and the equivalent statement of the sheet.  Without parts that have no single
# equivalent statement, such as 1d-ii.heads of sheet 001.
STATEMENTS = {
    "000": {
        "1a-ii.condition": "000-1",
        "1b-ii.q": "000-2",
        "1c-i.q": "000-3",
        "1c-ii.scores": "000-8",
        "1c-ii.weight": "000-10",
        "1c-ii.closer": "000-11",
        "1d-i.queries": "000-13",
        "1d-i.outputs": "000-15",
        "1d-ii.output": "000-16",
    },
    "001": {
        "1a-i.sum": "001-1",
        "1a-i.bounds": "001-1",
        "1a-ii.condition": "001-2",
        "1a-iii.output": "001-3",
        "1b-i.M": "001-10",
        "1b-i.coordinates": "001-7",
        "1b-ii.weight": "001-11",
        "1c-i.q": "001-12",
        "1c-ii.scores": "001-15",
        "1c-ii.weight": "001-16",
        "1c-ii.ends": "001-17",
        "1d-i.queries": "001-19",
        "1d-i.outputs": "001-19",
        "1d-ii.compared": "001-24",
    },
    "002": {
        "1a-i.weight": "002-1",
        "1a-i.sum": "002-2",
        "1a-ii.condition": "002-3",
        "1a-iii.output": "002-4",
        "1b-ii.q": "002-9",
        "1b-ii.scores": "002-7",
        "1b-ii.limit": "002-9",
        "1c-i.scores": "002-15",
        "1c-ii.spread": "002-20",
        "1d-i.queries": "002-21",
        "1d-i.outputs": "002-23",
        "1d-ii.heads": "002-24",
        "1d-ii.correlation": "002-25",
        "2a-i.moved": "002-10",
        "2a-i.scores": "002-12",
        "2a-i.weights": "002-13",
        "2a-i.output": "002-14",
    },
    "003": {
        "1a-i.sum": "003-1",
        "1a-ii.condition": "003-2",
        "1a-iii.output": "003-3",
        "1b-i.M": "003-5",
        "1b-ii.q": "003-7",
        "1b-ii.limit": "003-7",
        "1c-i.output": "003-8",
        "1d-i.queries": "003-12",
        "1d-i.outputs": "003-12",
        "1d-ii.heads": "003-14",
        "1d-ii.compared": "003-15",
    },
    "004": {
        "1a-i.weight": "004-1",
        "1a-i.sum": "004-2",
        "1a-i.bounds": "004-2",
        "1a-ii.condition": "004-3",
        "1a-iii.output": "004-4",
        "1a-iv.needs": "004-5",
        "1b-i.M": "004-7",
        "1b-i.coordinates": "004-7",
        "1b-ii.weight": "004-8",
        "1c-i.scores": "004-11",
        "1c-ii.weight": "004-15",
        "1d-i.queries": "004-17",
        "1d-i.outputs": "004-17",
        "1d-ii.output": "004-19",
    },
}
VERDICTS = {"holds": "right", "limit": "limit", "slip": "slip", "fails": "wrong"}
# Lists whose statement is about the wrong items.
PARTLY = {("000", "1c-ii.scores"), ("002", "1d-i.outputs")}


@functools.cache
def sheets_graded():
    return grade(SHEETS)


def grade(*args, status=0):
    """The objects that `attend grade --json` prints, by file name."""
    done = attend("grade", "--json", *args)
    if done.returncode != status:
        raise AssertionError(f"{done.returncode}: {done.stderr}")
    return {(row := json.loads(line))["file"]: row for line in done.stdout.splitlines()}


def parts(row):
    return {f"{part['question']}.{part['part']}": part for part in row["parts"]}


class Sheets(unittest.TestCase):
    def test_verdicts_are_those_of_the_statements(self):
        lines = attend("sheets", "--json").stdout.splitlines()
        verdict = {(row := json.loads(line))["id"]: row["verdict"] for line in lines}
        rows = sheets_graded()
        self.assertEqual(sorted(rows), [f"sheet-00{s}.json" for s in range(5)])
        for sheet, statements in STATEMENTS.items():
            graded = parts(rows[f"sheet-{sheet}.json"])
            for part, statement in statements.items():
                with self.subTest(sheet=sheet, part=part, statement=statement):
                    self.assertEqual(
                        graded[part]["verdict"],
                        "partly" if (sheet, part) in PARTLY else VERDICTS[verdict[statement]],
                        graded[part]["evidence"],
                    )

    def test_errors_of_the_sheets_are_named(self):
        rows = sheets_graded()
        for sheet, part, words in (
            ("000", "1c-ii.scores", "only k_a"),
            ("001", "1b-i.M", "A^T in place of A A^T"),
            ("001", "1b-ii.weight", "counted by n"),
            ("001", "1d-i.queries", "unscaled"),
            ("002", "1a-ii.condition", "long key"),
            ("002", "1d-i.queries", "mu_a +- mu_b"),
            ("003", "1c-i.output", "values"),
            ("004", "1c-i.scores", "a score is a number"),
        ):
            self.assertIn(words, parts(rows[f"sheet-{sheet}.json"])[part]["error"])


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory(prefix="attend-grade-") as folder:
            answers.write_forms(folder)
            cls.rows = grade(folder)

    def test_five_are_right_in_different_notation(self):
        right = [name for name in self.rows if name.startswith("right")]
        self.assertEqual(len(right), 5)
        for name in right:
            for part, found in parts(self.rows[name]).items():
                with self.subTest(name=name, part=part):
                    self.assertIn(found["verdict"], ("right", "limit"), found)
                    self.assertEqual(found["points"], found["of"], found)

    def test_five_are_wrong_in_different_ways(self):
        self.assertEqual(len(answers.WRONG), 5)
        for name, expected in answers.WRONG.items():
            graded = parts(self.rows[f"{name}.json"])
            answered = {p for p, found in graded.items() if found["verdict"] != "empty"}
            self.assertEqual(answered, set(expected))
            for part, (_, verdict, words) in expected.items():
                with self.subTest(name=name, part=part):
                    found = graded[part]
                    self.assertEqual(found["verdict"], verdict, found)
                    self.assertIn(words, found["error"], found)
                    self.assertTrue(found["evidence"])

    def test_numbers_that_decide(self):
        """Answers against independent arithmetic."""
        plus_minus = parts(self.rows["wrong-plus-minus.json"])
        self.assertAlmostEqual(plus_minus["1d-i.queries"]["computed"], 0.75)
        squares = parts(self.rows["wrong-squares.json"])
        self.assertAlmostEqual(squares["1c-ii.limit"]["computed"], 0.25)
        limits = parts(self.rows["wrong-limits.json"])
        self.assertAlmostEqual(limits["1d-ii.limit"]["computed"], 0.018116, places=6)
        # Phi(-sqrt 2), the fraction of draws in which head 1 fails as C grows.
        self.assertAlmostEqual(squares["1d-ii.lose"]["computed"], 0.0786496, places=6)


class Forms(CliTest):
    def form(self, name="form.json", **questions):
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump({k.replace("_", "-"): v for k, v in questions.items()}, file)
        return name

    def test_template_parses_as_it_is(self):
        with open(self.path("form.json"), "w", encoding="utf-8") as file:
            file.write(self.succeed("grade", "--template"))
        row = grade(self.path("form.json"))["form.json"]
        self.assertEqual(row["points"], 0)
        self.assertEqual({p["verdict"] for p in row["parts"]}, {"empty"})
        form = json.loads(self.succeed("grade", "--template"))
        asked = {f"{q}.{p}" for q in form for p in form[q] if q[0].isdigit()}
        asked = {part for part in asked if not part.endswith("_help")}
        self.assertEqual(asked, set(parts(row)))

    def test_blanks_are_no_answer(self):
        name = self.form(**{"1b-i": {"M": "   "}, "1d-i": {"queries": [" ", "\t"]}, "1e": {"better": " "}})
        row = grade(self.path(name))[name]
        self.assertEqual({p["verdict"] for p in row["parts"]}, {"empty"})

    def test_byte_order_mark_is_skipped(self):
        with open(self.path("bom.json"), "wb") as file:
            file.write(b'\xef\xbb\xbf{"1b-i": {"M": "A A^T"}}')
        row = grade(self.path("bom.json"))["bom.json"]
        self.assertEqual(parts(row)["1b-i.M"]["verdict"], "right")

    def test_worlds_come_from_seed_and_name(self):
        name = self.form(**{"2a-i": {"scores": "S"}})
        first = self.succeed("grade", "--json", name)
        self.assertEqual(first, self.succeed("grade", name, "--json"))
        os.mkdir(self.path("class"))
        shutil.copy(self.path(name), self.path("class"))
        self.assertEqual(first, self.succeed("grade", "--json", "class"))
        shutil.copy(self.path(name), self.path("other.json"))

        def number(text):
            return parts(json.loads(text))["2a-i.scores"]["computed"]

        self.assertNotEqual(number(first), number(self.succeed("grade", "--json", "other.json")))
        self.assertNotEqual(number(first), number(self.succeed("grade", "--json", name, "--seed", "2")))
        self.assertEqual(first, self.succeed("grade", "--json", "--seed=1", name))

    def test_threads_change_nothing(self):
        one = self.succeed("grade", "--json", SHEETS, "--threads", "1")
        self.assertEqual(one, self.succeed("grade", "--json", SHEETS, "--threads", "3"))

    def check_results(self, results):
        """The format that the harness of Gradescope documents for results.json."""
        texts = {"output", "visibility", "stdout_visibility", "output_format", "name_format"}
        visibilities = {"hidden", "after_due_date", "after_published", "visible"}
        self.assertLessEqual(
            set(results), texts | {"score", "execution_time", "extra_data", "tests", "leaderboard"}
        )
        for values in (results, *results["tests"]):
            for name, value in values.items():
                if name in ("score", "max_score", "execution_time"):
                    self.assertIs(type(value) in (int, float) and value >= 0, True, name)
                elif name in texts | {"name", "number", "status", "name_format"}:
                    self.assertIs(type(value), str, name)
            for name in {"visibility", "stdout_visibility"} & set(values):
                self.assertIn(values[name], visibilities)
        names = {
            "score",
            "max_score",
            "status",
            "name",
            "number",
            "output",
            "visibility",
            "tags",
            "extra_data",
        }
        for test in results["tests"]:
            self.assertLessEqual(set(test), names)
            self.assertLessEqual(test["score"], test["max_score"])

    def test_results_for_gradescope(self):
        """A test for each part, with number, score, max_score, output and visibility."""
        file = os.path.join(SHEETS, "sheet-002.json")
        told = json.loads(self.succeed("grade", "--gradescope", file))
        self.check_results(told)
        want = grade(file)["sheet-002.json"]
        self.assertAlmostEqual(told["score"], want["points"])
        self.assertEqual(len(told["tests"]), len(want["parts"]))
        for test, part in zip(told["tests"], want["parts"]):
            self.assertEqual(test["name"], f"{part['question']} {part['part']}")
            self.assertEqual(test["number"], part["question"])
            self.assertEqual((test["score"], test["max_score"]), (part["points"], part["of"]))
            self.assertEqual(test["visibility"], "visible")
            self.assertIn(part["evidence"], test["output"])
            self.assertIn(part.get("solution", ""), test["output"])
        hinted = self.succeed("grade", "--gradescope", "--hints", file)
        self.assertIn("hint: ", hinted)
        self.assertNotIn("solution: ", hinted)
        with open(self.path("bad.json"), "w", encoding="utf-8") as bad:
            bad.write("{")
        done = self.attend("grade", "--gradescope", "bad.json")
        told = json.loads(done.stdout)
        self.check_results(told)
        self.assertEqual((told["score"], told["tests"]), (0, []))
        self.assertIn("line 1", told["output"])
        self.refuse("grade", "--gradescope", file, "bad.json", says="one file")

    def test_a_class_in_a_table(self):
        os.mkdir(self.path("class"))
        for name, M in (("a", "A^T"), ("b", "A A^T"), ("c", "A^T"), ("d", "A (")):
            with open(self.path(f"class/{name}.json"), "w", encoding="utf-8") as file:
                json.dump({"1b-i": {"M": M}}, file)
        with open(self.path("class/e.json"), "w", encoding="utf-8") as file:
            file.write("{")
        told = self.attend("grade", "--summary", "class").stdout
        self.assertIn("4 answers, 1 without a form that can be read; 1 of 74 points on average", told)
        self.assertRegex(told, r"\n  1b-i   M +4 +1 +25 %\n")
        self.assertRegex(told, r"\n      2  1b-i M: A\^T in place of A A\^T")

    def test_a_class_in_csv(self):
        os.mkdir(self.path("class"))
        for name, student in (("b", 'He said "hi", then left'), ("a", ""), ("c", "Zoe")):
            with open(self.path(f"class/{name}.json"), "w", encoding="utf-8") as file:
                json.dump({"student": student, "1b-i": {"M": "A A^T"}}, file)
        with open(self.path("class/notes.txt"), "w", encoding="utf-8") as file:
            file.write("not a form")
        rows = list(csv.reader(io.StringIO(self.succeed("grade", "--csv", "class"))))
        self.assertEqual(rows[0][:3], ["student", "file", "1a-i"])
        self.assertEqual(rows[0][-2:], ["total", "of"])
        self.assertEqual([row[0] for row in rows[1:]], ["a", 'He said "hi", then left', "Zoe"])
        at = rows[0].index("1b-i")
        for row in rows[1:]:
            self.assertEqual(len(row), len(rows[0]))
            self.assertEqual((row[at], row[-2]), ("4", "4"))

    def test_bad_files_do_not_stop_a_class(self):
        good = self.form("good.json", **{"1b-i": {"M": "A A^T"}})
        with open(self.path("bad.json"), "w", encoding="utf-8") as file:
            file.write('{"1b-i":')
        done = self.attend("grade", "--csv", "bad.json", good, "absent.json")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stderr.splitlines()), 2)
        self.assertIn("bad.json: line 1", done.stderr)
        self.assertIn("absent.json", done.stderr)
        rows = list(csv.reader(io.StringIO(done.stdout)))  # every file has a row
        self.assertEqual([row[1] for row in rows[1:]], ["bad.json", "good.json", "absent.json"])
        self.assertEqual([row[-2:] for row in rows[1:]], [["0", "74"], ["4", "74"], ["0", "74"]])
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})

    def test_what_cannot_be_read_costs_its_part_alone(self):
        texts = {"1b-i": {"M": "A A^T", "coordinates": "c ("}, "1b-ii": {"scores": ["C", "C ln", 0]}}
        name = self.form(**texts, **{"1a-i": {"sum": 1}, "1e": {"better": "Two"}})
        graded = parts(grade(self.path(name))[name])
        self.assertEqual(graded["1b-i.M"]["verdict"], "right")
        self.assertEqual(graded["1b-i.coordinates"]["verdict"], "unread")
        self.assertIn("column 4", graded["1b-i.coordinates"]["evidence"])
        self.assertEqual(graded["1b-ii.scores"]["verdict"], "partly")
        self.assertAlmostEqual(graded["1b-ii.scores"]["points"], 2 / 3)
        self.assertEqual(graded["1a-i.sum"]["verdict"], "right")
        self.assertEqual(graded["1e.better"]["verdict"], "limit")

    def test_one_text_for_a_list(self):
        name = self.form(**{"1b-ii": {"scores": "C; C; 0"}, "1d-i": {"outputs": "v_a, (v_b)"}})
        graded = parts(grade(self.path(name))[name])
        self.assertEqual(graded["1b-ii.scores"]["verdict"], "right")
        self.assertEqual(graded["1d-i.outputs"]["verdict"], "limit")

    def test_what_no_question_has_is_left_out(self):
        name = self.form(**{"1b-i": {"M": "A A^T", "N": "A"}, "9z": {}})
        done = self.attend("grade", "--json", name)
        self.assertEqual(done.returncode, 2)
        self.assertIn("1b-i: no part 'N'", done.stderr)
        self.assertIn("no question '9z'", done.stderr)
        self.assertEqual(parts(json.loads(done.stdout))["1b-i.M"]["verdict"], "right")

    def test_no_cell_is_a_formula(self):
        for student in "=1+1", "+cmd", "-2", "@x":
            with open(self.path("form.json"), "w", encoding="utf-8") as file:
                json.dump({"student": student}, file)
            rows = list(csv.reader(io.StringIO(self.succeed("grade", "--csv", "form.json"))))
            self.assertEqual(rows[1][0], "'" + student)

    def test_evidence_at_the_query_of_the_word(self):
        """At |q| = 1 the weight of v_j is 1/(1 + (n - 1)/e), whatever the scale."""
        name = self.form(**{"1a-iv": {"needs": "aligned"}})
        told = self.succeed("grade", name)
        self.assertIn("|q| = 1:", told)
        self.assertNotIn("1e+09", told)

    def test_names_of_heads_are_those_of_the_query(self):
        name = self.form(
            **{"1d-i": {"queries": ["C mu_a", "C mu_b"]}, "1d-ii": {"heads": ["constant", "constant"]}}
        )
        found = parts(grade(self.path(name))[name])["1d-ii.heads"]
        self.assertIn("head 1 feels gamma", found["error"])

    def test_hints_do_not_tell_the_solution(self):
        name = self.form(**{"1b-i": {"M": "A^T"}})
        self.assertIn("solution: A A^T", self.succeed("grade", name))
        told = self.succeed("grade", name, "--hints")
        self.assertIn("hint: ", told)
        self.assertNotIn("solution", told)
        part = parts(json.loads(self.succeed("grade", name, "--hints", "--json")))
        self.assertIn("hint", part["1b-i.M"])
        self.assertNotIn("solution", part["1b-i.M"])

    def test_rubric(self):
        name = self.form(**{"1b-i": {"M": "A A^T"}, "2a-i": {"moved": "X P"}})
        rubric = self.form(
            "rubric.json",
            points={"1b-i": {"M": 7.5}, "2a-i": 12, "1e": 0},
            credit={"slip": 0.25, "_help": "a quarter"},
        )
        row = json.loads(self.succeed("grade", "--json", name, "--rubric", rubric))
        part = parts(row)
        self.assertEqual(part["1b-i.M"]["points"], 7.5)
        self.assertEqual(part["1e.better"]["of"], 0)
        self.assertAlmostEqual(sum(p["of"] for q, p in part.items() if "2a-i." in q), 12)
        self.assertAlmostEqual(part["2a-i.moved"]["points"], 12 / 6 / 4)
        for content, says in (
            ({"points": {"1z": 3}}, ("points", "1z")),
            ({"points": {"1b-i": {"N": 3}}}, ("points.1b-i", "'N'")),
            ({"points": {"1b-i": {"M": -1}}}, ("points.1b-i.M", "-1")),
            ({"points": {"1b-i": "many"}}, ("points.1b-i", "a text")),
            ({"points": []}, ("points", "a list")),
            ({"credit": {"slip": 2}}, ("credit.slip", "2")),
            ({"credit": {"wrong": 1}}, ("credit", "wrong")),
            ({"bonus": 1}, ("bonus",)),
        ):
            with open(self.path("bad.json"), "w", encoding="utf-8") as file:
                json.dump(content, file)
            self.refuse("grade", name, "--rubric", "bad.json", says=("bad.json", *says))

    def test_text(self):
        told = self.succeed("grade", os.path.join(SHEETS, "sheet-001.json"))
        self.assertIn("sheet 001: ", told.splitlines()[0])
        self.assertRegex(told, r"1b-i +M +wrong +0/4")
        self.assertIn("not answered:", told)
        self.assertLessEqual(max(map(len, told.splitlines()[1:])), 88)

    def test_help(self):
        self.assertIn("example:", self.succeed("grade", "--help"))


class Documentation(CliTest):
    """docs/JUDGING.md: its commands print the shown output, and its table is the rubric."""

    def setUp(self):
        super().setUp()
        root = os.path.join(HERE, "..", "..")
        os.symlink(os.path.join(root, "examples"), self.path("examples"))
        with open(os.path.join(root, "docs", "JUDGING.md"), encoding="utf-8") as file:
            # The rest is for test_tensor_exercises.py.
            self.text = file.read().partition("\n## Exercises in code\n")[0]

    def test_commands_print_what_is_shown(self):
        blocks = re.findall(r"^```console\n(.*?)^```$", self.text, re.M | re.S)
        commands = re.findall(r"^\$ (.*)\n((?:[^$\n].*\n)*)", "".join(blocks), re.M)
        self.assertGreaterEqual(len(commands), 6)
        for command, shown in commands:
            words, _, file = command.partition(" > ")
            printed = self.succeed(*shlex.split(words)[1:])
            if file:
                with open(self.path(file), "w", encoding="utf-8") as form:
                    form.write(printed)
            lines = iter(printed.splitlines())
            for line in shown.splitlines():
                self.assertIn(line, lines, command)  # one after the other
        self.assertTrue(os.path.exists(self.path("form.json")))

    def test_forms_and_rubrics_are_taken(self):
        form, rubric = re.findall(r"^```json\n(.*?)^```$", self.text, re.M | re.S)
        for name, content in (("form", form), ("rubric", rubric)):
            with open(self.path(f"{name}.json"), "w", encoding="utf-8") as file:
                file.write(content)
        self.succeed("grade", "form.json", "--rubric", "rubric.json")

    def test_table_is_the_rubric(self):
        table = re.findall(r"^\| (\S+) \| `(\S+)` \|.*\| (\S+) \|$", self.text, re.M)
        row = grade(os.path.join(SHEETS, "sheet-000.json"))["sheet-000.json"]
        of = [(p["question"], p["part"], f"{p['of']:g}") for p in row["parts"]]
        self.assertEqual(table, of)
        self.assertIn(f"{row['of']:g} points in all", self.text)


class BadFiles(CliTest):
    """One line that names file, position and reason; status 2; no standard output."""

    def bad(self, content, *says):
        data = content if isinstance(content, bytes) else content.encode()
        with open(self.path("form.json"), "wb") as file:
            file.write(data)
        self.refuse("grade", "form.json", says=("form.json", *says))

    def test_json(self):
        for content, *says in (
            (b"", "line 1"),
            ("{", "line 1"),
            ('{"student": "x",}', "line 1"),
            ('{"1b-i": {"M": "A"}} extra', "line 1"),
            ("[]", "a list"),
            ('"text"', "a text"),
            ('{"student": "a", "student": "b"}', "line 1", "duplicate"),
            ('{"1b-i": {"M": "A",\n "M": "B"}}', "line 2", "duplicate"),
            (b'{"student": "\xff"}', "line 1", "decode byte 0xff"),
            (b'{"student": "a\x00b"}', "line 1"),
            ('{"student": "a\\u0000b"}', "line 1"),
            ("[" * 5000, "line 1"),
            (b" " * 300020, "300020 bytes", "262144"),
            (b"\xef\xbb\xbf[]", "a list"),
        ):
            with self.subTest(content=content[:40]):
                self.bad(content, *says)

    def test_fields(self):
        for content, *says in (
            ({"1b-iii": {"M": "A"}}, "1b-iii"),
            ({"1b-i": {"N": "A"}}, "1b-i", "'N'"),
            ({"help": "me"}, "help"),
            ({"1b-i": "A"}, "1b-i", "a text"),
            ({"student": 7}, "student", "a number"),
            ({"student": "a\nb"}, "student", "control"),
            ({"student": "a" * 300}, "student", "200"),
        ):
            with self.subTest(content=content):
                with open(self.path("form.json"), "w", encoding="utf-8") as file:
                    json.dump(content, file)
                done = self.attend("grade", "form.json")
                self.assertEqual(done.returncode, 2)
                self.assertEqual(len(done.stderr.splitlines()), 1)
                for words in ("form.json", *says):
                    self.assertIn(words, done.stderr)

    def unread(self, question, part, content, *says):
        with open(self.path("form.json"), "w", encoding="utf-8") as file:
            json.dump({question: {part: content}}, file)
        found = parts(grade(self.path("form.json"))["form.json"])[f"{question}.{part}"]
        self.assertEqual((found["verdict"], found["points"]), ("unread", 0), found)
        for words in says:
            self.assertIn(words, found["evidence"])

    def test_parts(self):
        for question, part, content, *says in (
            ("1b-i", "M", True, "true where a text"),
            ("1b-i", "M", ["A", "B"], "2 texts where 1 is asked"),
            ("1d-i", "queries", "C mu_a", "1 text where 2 are asked"),
            ("1d-i", "queries", ["C mu_a"], "1 text"),
            ("1d-i", "queries", ["C mu_a", ""], "text 2", "empty"),
            ("1d-i", "queries", ["C mu_a", True], "true"),
            ("1e", "better", "three", "three", "one|two|same"),
        ):
            with self.subTest(content=content):
                self.unread(question, part, content, *says)
        with open(self.path("form.json"), "w", encoding="utf-8") as file:
            json.dump({"1b-i": {"M": 3.5, "coordinates": None}}, file)
        graded = parts(grade(self.path("form.json"))["form.json"])
        self.assertEqual(graded["1b-i.M"]["verdict"], "wrong")
        self.assertIn("1 x 1", graded["1b-i.M"]["evidence"])
        self.assertEqual(graded["1b-i.coordinates"]["verdict"], "empty")

    def test_formulas(self):
        for formula, *says in (
            ("A (", "column 4"),
            ("A $ B", "column 3", "$"),
            ("mu_a", "mu_a"),
            ("1/d A", "column 5", "division"),
            ("(" * 40 + "A" + ")" * 40, "nested"),
            ("A+" * 600 + "A", "1000 bytes"),
            ("a" * 40, "31 bytes"),
            ("exp A B", "exp needs its argument in parentheses"),
            ("ln d m", "ln needs its argument in parentheses"),
            ("d²", "column 2", "'²'", "^2"),
        ):
            with self.subTest(formula=formula[:20]):
                self.unread("1b-i", "M", formula, *says)

    def test_places(self):
        self.refuse("grade", "absent.json", says="absent.json")
        os.mkdir(self.path("none"))
        self.refuse("grade", "none", says=("none", "no *.json"))
        self.refuse("grade", "/dev/null", says=("/dev/null", "not a file"))
        os.mkfifo(self.path("f.json"))  # a pipe without a writer: opening it would block
        self.refuse("grade", "f.json", says=("f.json", "not a file"))
        self.refuse("grade", ".", says=("f.json", "not a file"))

    def test_usage(self):
        self.refuse("grade", says="--template")
        self.refuse("grade", "--template", "x.json", says="--template")
        self.refuse("grade", "x.json", "--csv", "--json", says=("--csv", "--json"))
        self.refuse("grade", "x.json", "--sed", "1", says="--seed")
        self.refuse("grade", "x.json", "--seed", "x", says="--seed")
        self.refuse("grade", "x.json", "--rubric", "absent.json", says="absent.json")


if __name__ == "__main__":
    main()
