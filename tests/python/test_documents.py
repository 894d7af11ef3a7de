# SPDX-License-Identifier: MIT
"""docs/PYTHON.md, docstrings and examples/python: the shown output is the output."""

import doctest
import glob
import importlib
import inspect
import os
import pkgutil
import re
import sys
import tempfile
import unittest

import torch
from setting import ROOT, np, read, run

import attend


class Documents(unittest.TestCase):
    def test_python_md(self):
        text = read(os.path.join(ROOT, "docs", "PYTHON.md"))
        blocks = re.findall(r"^```pycon\n(.*?)^```$", text, re.M | re.S)
        self.assertGreater(len(blocks), 5)
        test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "PYTHON.md", None, 0)
        lines = []
        failed, tried = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=lines.append)
        self.assertEqual(failed, 0, "".join(lines))
        self.assertGreater(tried, 25)

    def test_keywords_are_all_there(self):
        """Every argument of attention() is in a span of code."""
        text = read(os.path.join(ROOT, "docs", "PYTHON.md"))
        for name in inspect.signature(attend.attention).parameters:
            self.assertRegex(text, rf"`[^`\n]*\b{name}\b[^`\n]*`", name)


class Docstrings(unittest.TestCase):
    def modules(self):
        yield attend
        for found in pkgutil.iter_modules(attend.__path__, "attend."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)

    def test_examples(self):
        """Docstrings may use np, torch and attend, and rng, a generator."""
        finder, total = doctest.DocTestFinder(), 0
        for module in self.modules():
            names = {"np": np, "torch": torch, "attend": attend, "rng": np.random.default_rng(0)}
            for test in finder.find(module, extraglobs=names):
                if not test.examples:
                    continue
                lines = []
                failed, tried = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(
                    test, out=lines.append
                )
                self.assertEqual(failed, 0, "".join(lines))
                total += tried
        self.assertGreater(total, 15)

    def test_everything_public_has_one(self):
        for name in attend.__all__:
            self.assertTrue(getattr(attend, name).__doc__, name)


class Examples(unittest.TestCase):
    pass


def example(path):
    def test(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(sys.executable, "-B", path, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stdout)

    return test


for path in glob.glob(os.path.join(ROOT, "examples", "python", "*.py")):
    if os.path.basename(path) != "sentences.py":  # needs weights: test_models.py runs it
        setattr(Examples, f"test_{os.path.basename(path)[:-3]}", example(path))
