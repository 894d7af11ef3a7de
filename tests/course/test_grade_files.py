# SPDX-License-Identifier: MIT
"""attend grade: whole files of twelve kinds, and small cases, each with its verdict."""

import csv
import io
import json
import os
import tempfile
import unittest

import answer_files
from harness import CliTest, attend, main


def texts(text):
    return text.split(" | ") if isinstance(text, str) and " | " in text else text


def form(answers):
    """A form of "1b-ii.q": text."""
    made = {}
    for part, text in answers.items():
        question, name = part.rsplit(".", 1)
        made.setdefault(question, {})[name] = texts(text)
    return made


def write(path, content):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)


def grade(folder, *flags):
    """The graded parts of every form of a folder, by the name of the form."""
    done = attend("grade", "--json", folder, *flags)
    if done.returncode:
        raise AssertionError(done.stderr)
    return {
        (row := json.loads(line))["file"].removesuffix(".json"): {
            f"{part['question']}.{part['part']}": part for part in row["parts"]
        }
        for line in done.stdout.splitlines()
    }


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory(prefix="attend-grade-") as folder:
            for name, answers in answer_files.FILES.items():
                write(os.path.join(folder, f"{name}.json"), form({p: a[0] for p, a in answers.items()}))
            cls.graded = grade(folder)
            cls.hinted = grade(folder, "--hints")
            cls.csv = list(csv.reader(io.StringIO(attend("grade", "--csv", folder).stdout)))

    def test_every_part_of_every_file(self):
        self.assertEqual(len(answer_files.FILES), 12)
        for name, answers in answer_files.FILES.items():
            for part, (_, verdict, *words) in answers.items():
                with self.subTest(file=name, part=part):
                    found = self.graded[name][part]
                    self.assertEqual(found["verdict"], verdict, found)
                    for word in words:
                        self.assertIn(word, found["error"], found)

    def test_every_file_has_a_row(self):
        self.assertEqual([row[0] for row in self.csv[1:]], sorted(answer_files.FILES))
        total = {row[0]: float(row[-2]) for row in self.csv[1:]}
        self.assertEqual((total["s06-empty"], total["s11-prose"]), (0, 0))

    def test_full_marks_show_no_counterexample(self):
        for parts in self.graded.values():
            for found in parts.values():
                if found["points"] == found["of"]:
                    for words in ("wanted", "largest", "computed", "claimed", "wrong"):
                        self.assertNotIn(words, found["evidence"], found)

    def test_no_solution_is_the_answer_that_is_wrong(self):
        for name, answers in answer_files.FILES.items():
            for part, (text, verdict, *_) in answers.items():
                if verdict in ("wrong", "unread"):
                    solution = self.graded[name][part].get("solution", "")
                    self.assertNotEqual(solution.split("; "), texts(text), (name, part))

    def test_hints_are_not_about_another_query(self):
        """The query of s03 has scores of 1 where the hint would say 0."""
        self.assertNotIn("hint", self.hinted["s03-subtle"]["1b-ii.weight"])
        self.assertIn("hint", self.hinted["s10-parenthesis"]["1b-ii.weight"])


class Cases(unittest.TestCase):
    def test_cases(self):
        self.assertGreaterEqual(len(answer_files.CASES), 60)
        with tempfile.TemporaryDirectory(prefix="attend-grade-") as folder:
            for number, (queries, part, text, *_) in enumerate(answer_files.CASES):
                write(os.path.join(folder, f"{number:02}.json"), form({**queries, part: text}))
            graded = grade(folder)
        for number, (queries, part, text, verdict, words) in enumerate(answer_files.CASES):
            with self.subTest(queries=queries, part=part, text=text):
                found = graded[f"{number:02}"][part]
                self.assertEqual(found["verdict"], verdict, found)
                self.assertIn(words, f"{found['error']} {found['evidence']}", found)


if __name__ == "__main__":
    main()
