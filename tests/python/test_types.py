# SPDX-License-Identifier: MIT
"""Type hints hold under mypy --strict."""

import os
import shutil
import sys
import tempfile
import unittest

from setting import ROOT, run, write

USER = """
import attend
import numpy as np

x = np.ones((1, 2, 5, 8), np.float32)
context = attend.Context(threads=2, isa=None)
n: int = context.threads
s: attend.Stats = attend.stats(x, x, causal="bottom-right", context=context)
heads: list[attend.Head] = s.heads()
name: str = heads[0].character
i: attend.Inspection = attend.inspect(x, x, pooled=4)
version: str = attend.__version__
weight: float = attend.theory.copy_weight(10, 2.0)
shape: tuple[int, ...] = attend.theory.copy_weight(10, x).shape
mean: float = attend.theory.weight_mean(attend.theory.Law(0.0, 1.0))
holds: bool | None = attend.lab.perform("magnitude", n=10)[0].holds
points: float = attend.lab.grade({}).points
"""
WRONG = {
    "import attend\nattend.attention(1, 2, 3, layout=7)\n": "layout",
    "import attend\nattend.attention(1, 2, 3, colour=7)\n": "colour",
    'import attend\nattend.Context(threads="two")\n': "threads",
    "import attend\nx: int = attend.stats(1, 2)\n": "Stats",
    "import attend\nattend.theory.weight_mean(0.5)\n": "Law",
    'import attend\nattend.lab.sheets(reading="x")\n': "reading",
}


class Types(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Outside of the sources: mypy finds the package as a user's program does, by py.typed."""
        cls.dir = tempfile.mkdtemp(prefix="attend-types-")
        cls.addClassCleanup(shutil.rmtree, cls.dir)

    def mypy(self, *arguments):
        config = os.path.join(ROOT, "pyproject.toml")
        cache = os.path.join(ROOT, "build", "mypy")
        flags = "--strict", "--config-file", config, "--cache-dir", cache
        return run(sys.executable, "-m", "mypy", *flags, *arguments, cwd=self.dir)

    def test_the_package(self):
        done = self.mypy("-p", "attend")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_program_that_uses_it(self):
        write(os.path.join(self.dir, "user.py"), USER)
        done = self.mypy("user.py")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_programs_that_are_wrong(self):
        for x, (text, word) in enumerate(WRONG.items()):
            name = f"wrong_{x}.py"
            write(os.path.join(self.dir, name), text)
        done = self.mypy(*(f"wrong_{x}.py" for x in range(len(WRONG))))
        for x, word in enumerate(WRONG.values()):
            lines = [line for line in done.stdout.splitlines() if line.startswith(f"wrong_{x}.py:2")]
            self.assertTrue(any(word in line for line in lines), (word, done.stdout))
