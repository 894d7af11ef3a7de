# SPDX-License-Identifier: MIT
"""attend grade on a class: courses, rosters, reports, feedback, and the zip's refusals."""

import csv
import html.parser
import io
import json
import os
import unittest

from harness import CliTest, main

# The public numbers and points of the handouts.
COURSES = {
    "w21": {"1(a)": 2, "1(b)": 4, "1(c)i": 2, "1(c)ii": 3, "1(d)i": 1, "1(d)ii": 2},
    "w22": {
        **{"1(a)i": 1, "1(a)ii": 2, "1(a)iii": 1, "1(a)iv": 1, "1(b)i": 3, "1(b)ii": 4},
        **{"1(c)i": 2, "1(c)ii": 3, "1(d)i": 1, "1(d)ii": 2},
    },
    "w26": {
        **{"1(a)i": 2, "1(a)ii": 1, "1(b)": 2, "1(c)i": 2, "1(c)ii": 3, "1(d)i": 1, "1(d)ii": 2, "1(e)": 1},
        **{"2(a)i": 3, "2(a)ii": 1, "2(b)i": 1, "2(b)ii": 1},
    },
}


NAMES = "adalbert", "boris", "evelyn", "maxim"


class Page(html.parser.HTMLParser):
    """The texts of a page, and whether its elements nest."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.nests = [], [], True
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        self.nests &= bool(self.open) and self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


class Class(CliTest):
    def form(self, name, questions=None, **more):
        os.makedirs(self.path("class"), exist_ok=True)
        with open(self.path(f"class/{name}.json"), "w", encoding="utf-8") as file:
            json.dump({**(questions or {}), **more}, file)

    def roster(self, text, name="roster.csv"):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def table(self, *args, status=0):
        done = self.attend("grade", "class", "--csv", *args)
        self.assertEqual(done.returncode, status, done.stderr)
        return list(csv.reader(io.StringIO(done.stdout))), done.stderr


class Courses(Class):
    def test_numbers_and_points_are_those_of_the_handouts(self):
        self.form("a")
        for course, points in COURSES.items():
            told = self.succeed("grade", "class", "--json", "--course", course)
            parts = json.loads(told)["parts"]
            of = {}
            for part in parts:
                of[part["number"]] = of.get(part["number"], 0) + part["of"]
            self.assertEqual(of, points)
            rows, _ = self.table("--course", course)
            self.assertEqual(rows[0], ["student", "file", *points, "total", "of"])
            self.assertEqual(float(rows[1][-1]), sum(points.values()))

    def test_a_template_has_the_parts_of_the_course(self):
        self.form("a")
        for course in COURSES:
            form = json.loads(self.succeed("grade", "--template", "--course", course))
            parts = json.loads(self.succeed("grade", "class", "--json", "--course", course))["parts"]
            asked = {(q, p) for q in form if q[0].isdigit() for p in form[q] if p != "_help"}
            self.assertEqual(asked, {(part["question"], part["part"]) for part in parts})
            for part in parts:
                self.assertTrue(form[part["question"]]["_help"][part["part"]].startswith(part["number"]))

    def test_lines_have_the_course_s_numbers(self):
        self.form("a", {"1b-ii": {"q": "C (k_a + k_b)"}, "1a-i": {"sum": "1"}})
        told = self.succeed("grade", "class", "--course", "w26")
        self.assertRegex(told, r"\n  1\(b\)   q +right in the limit +1/1\n")
        self.assertNotIn("1a-i", told)  # this course does not ask it
        self.assertIn("for a person:", told)
        self.assertIn("1(e) the summary in words", told)

    def test_a_rubric_changes_the_course_s_points(self):
        self.form("a")
        with open(self.path("rubric.json"), "w", encoding="utf-8") as file:
            json.dump({"points": {"1b-ii": {"q": 5}}}, file)
        rows, _ = self.table("--course", "w26", "--rubric", "rubric.json")
        self.assertEqual(rows[1][-1], "24")
        with open(self.path("rubric.json"), "w", encoding="utf-8") as file:
            json.dump({"points": {"1a-i": {"sum": 5}}}, file)
        self.refuse("grade", "class", "--course", "w26", "--rubric", "rubric.json", says=("1a-i sum", "w26"))

    def test_unknown_courses_are_refused(self):
        self.form("a")
        self.refuse("grade", "class", "--course", "w99", says=("--course", "w99", "w26"))


class Rosters(Class):
    def test_every_student_of_the_roster_has_a_row(self):
        right = {"1b-i": {"M": "A A^T"}}
        self.form("x", right, id="17")
        self.form("18", right)
        self.form("y", right, student="zoe ÅKERBLOM")
        self.form("lee", right)
        self.roster(
            '\ufeffname,e-mail,id\n"Doe, Ada",a@b,17\nBob,,18\nZoe Åkerblom,,19\r\nLee,,20\nMax,,21\n'
        )
        rows, _ = self.table("--roster", "roster.csv")
        self.assertEqual(rows[0][:3], ["id", "student", "file"])
        self.assertEqual([row[0] for row in rows[1:]], ["17", "18", "19", "20", "21"])
        self.assertEqual(rows[1][1:3], ["Doe, Ada", "x.json"])
        self.assertEqual([row[2] for row in rows[1:]], ["x.json", "18.json", "y.json", "lee.json", ""])
        self.assertEqual([row[-2] for row in rows[1:]], ["4", "4", "4", "4", "0"])

    def test_names_are_compared_in_any_case(self):
        self.form("y", {"1b-i": {"M": "A A^T"}}, student="adalbert")
        self.roster("id;name\n1;ADALBERT\n")
        rows, _ = self.table("--roster", "roster.csv")
        self.assertEqual(rows[1][:3], ["1", "ADALBERT", "y.json"])

    def test_answers_of_no_student_and_second_answers_are_named(self):
        self.form("a", id="1")
        self.form("b", id="1")
        self.form("c", id="9")
        self.roster("id,name\n1,Ada\n")
        rows, messages = self.table("--roster", "roster.csv", status=2)
        self.assertEqual([row[2] for row in rows[1:]], ["a.json", "b.json", "c.json"])
        self.assertIn("b.json: a second answer of '1'", messages)
        self.assertIn("c.json: no student of the roster", messages)

    def test_no_cell_is_a_formula(self):
        self.form("a", id="=1")
        self.roster("id,name\n=1,+cmd\n")
        rows, _ = self.table("--roster", "roster.csv")
        self.assertEqual(rows[1][:2], ["'=1", "'+cmd"])

    def test_other_separators_are_quoted(self):
        self.form("a", student="Ada;=1+1")
        self.assertIn('"Ada;=1+1",a.json', self.succeed("grade", "class", "--csv"))

    def test_bad_rosters(self):
        self.form("a")
        for text, *says in (
            ("", "line 1", "id"),
            ("number,name\n1,Ada\n", "line 1", "'id' and 'name'"),
            ("id,name\n1,Ada\n\n1,Bob\n", "line 4", "'1'", "second"),
            ("id,name\n1,Ada\n,Bob\n", "line 3", "no id"),
            ("id,name\n1\n", "line 2", "no name"),
            ("id,name\n1," + "a" * 300 + "\n", "line 2", "255"),
        ):
            with self.subTest(text=text[:20]):
                self.roster(text)
                self.refuse("grade", "class", "--csv", "--roster", "roster.csv", says=("roster.csv", *says))
        self.refuse("grade", "class", "--roster", "absent.csv", says="absent.csv")


class Reports(Class):
    def make(self):
        for name, M in zip(NAMES, ("A^T", "A A^T", "A  ^T", "A (")):
            self.form(name, {"1b-i": {"M": M}}, student=f"{name} <b>")

    def test_the_page_of_a_class(self):
        self.make()
        with open(self.path("class/zoe.json"), "w", encoding="utf-8") as file:
            file.write("{")
        done = self.attend("grade", "class", "--report", "class.html")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        with open(self.path("class.html"), encoding="utf-8") as file:
            page = Page(file.read())
        self.assertTrue(page.nests)
        self.assertEqual(page.open, [])
        text = " ".join("".join(page.text).split())
        for words in (
            *("4answers", "1without a form that can be read", "Hardest parts", "Errors by name"),
            *(
                "A^T in place of A A^T",
                "Equal formulas without full marks",
                "For a person",
                "adalbert <b>, evelyn <b>",
            ),
            *("maxim <b>1b-i MA (column", "zoe", "a key is missing", "411 (25 %)25 %"),
        ):
            self.assertIn(words, text)
        self.assertNotIn("boris", text)  # nothing of his is to be shown

    def test_the_page_without_names(self):
        self.make()
        self.succeed("grade", "class", "--report", "class.html", "--anonymous")
        with open(self.path("class.html"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("answer 1, answer 3", text)
        self.assertEqual([name for name in NAMES if name in text], [])

    def test_feedback_of_each_student(self):
        self.make()
        self.form("7", {"1b-i": {"M": "A"}}, id="../7")
        self.roster("id,name\n../7,Ada\n8,Max\n")
        self.attend("grade", "class", "--feedback", "texts", "--roster", "roster.csv")
        self.assertEqual(
            sorted(os.listdir(self.path("texts"))),
            ["8.txt", "_._7.txt", "adalbert.txt", "boris.txt", "evelyn.txt", "maxim.txt"],
        )
        with open(self.path("texts/adalbert.txt"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("adalbert <b>: 0 of 74 points", text)
        self.assertIn("A^T in place of A A^T", text)
        with open(self.path("texts/8.txt"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "Max: no grade: no file was handed in\n")

    def test_nothing_names_a_student(self):
        self.make()
        for flags in (["--csv"], ["--json"], [], ["--summary"]):
            told = self.succeed("grade", "class", "--anonymous", *flags)
            self.assertEqual([name for name in NAMES if name in told], [])
        self.roster("id,name\n1,adalbert\n2,boris\n3,evelyn\n4,maxim\n")
        rows, _ = self.table("--anonymous", "--roster", "roster.csv", status=2)
        self.assertEqual(rows[0][:2], ["student", "file"])
        self.assertEqual(rows[1][:2], ["answer 1", ""])

    def test_places_that_cannot_be_written(self):
        self.make()
        self.refuse("grade", "class", "--report", "none/class.html", says=("--report", "none/class.html"))
        with open(self.path("file"), "w", encoding="utf-8"):
            pass
        self.refuse("grade", "class", "--feedback", "file", says=("--feedback", "file"))


class Usage(Class):
    def test_what_does_not_go_together(self):
        self.form("a")
        self.refuse("grade", "class", "--gradescope", "--report", "x.html", says=("--gradescope", "one file"))
        self.refuse("grade", "class", "--autograder", "x.zip", says=("--autograder", "alone"))
        self.refuse("grade", "--autograder", "x.zip", "--csv", says=("--autograder", "alone"))
        self.refuse("grade", "--template", "--roster", "x", says=("--template", "alone"))
        self.assertFalse(os.path.exists(self.path("x.html")) or os.path.exists(self.path("x.zip")))

    def test_ids_of_forms(self):
        self.form("a", id=17)
        self.roster("id,name\n17,Ada\n")
        rows, _ = self.table("--roster", "roster.csv")
        self.assertEqual(rows[1][2], "a.json")
        self.form("a", id=["x"])
        self.refuse("grade", "class/a.json", says=("id", "a list"))


if __name__ == "__main__":
    main()
