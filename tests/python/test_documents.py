# SPDX-License-Identifier: MIT
"""docs/PYTHON.md and examples/python: what they show is what happens."""

import doctest
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

from setting import ROOT, run_cases


class Documents(unittest.TestCase):
    def test_python_md(self):
        with open(os.path.join(ROOT, "docs", "PYTHON.md"), encoding="utf-8") as file:
            text = file.read()
        blocks = re.findall(r"^```pycon\n(.*?)^```$", text, re.M | re.S)
        self.assertGreater(len(blocks), 5)
        test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "PYTHON.md", None, 0)
        lines = []
        failed, tried = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=lines.append)
        self.assertEqual(failed, 0, "".join(lines))
        self.assertGreater(tried, 25)

    def test_keywords_are_all_there(self):
        """Every argument of attention() is in a span of code."""
        import inspect

        import attend

        with open(os.path.join(ROOT, "docs", "PYTHON.md"), encoding="utf-8") as file:
            text = file.read()
        for name in inspect.signature(attend.attention).parameters:
            self.assertRegex(text, rf"`[^`\n]*\b{name}\b[^`\n]*`", name)


class Examples(unittest.TestCase):
    pass


def run(path):
    def test(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-B", path], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
            )
        self.assertEqual(done.returncode, 0, done.stdout)

    return test


for path in glob.glob(os.path.join(ROOT, "examples", "python", "*.py")):
    if os.path.basename(path) != "sentences.py":  # needs weights: test_models.py runs it
        setattr(Examples, f"test_{os.path.basename(path)[:-3]}", run(path))


if __name__ == "__main__":
    run_cases()
