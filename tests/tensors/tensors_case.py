# SPDX-License-Identifier: MIT
"""What the tests of exercises in code share: a folder of tensors, and their verdicts."""

import json
import os
import sys

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "cli"))
from harness import SEED, CliTest  # noqa: E402


class Tensors(CliTest):
    def setUp(self):
        super().setUp()
        self.rng = np.random.default_rng(SEED)

    def draw(self, *shape, dtype=np.float64):
        return self.rng.standard_normal(shape).astype(dtype)

    def write(self, **arrays):
        for name, array in arrays.items():
            np.save(self.path(name + ".npy"), array)

    def exercise(self, *tasks):
        tasks = [{"name": f"task {n}", **task} for n, task in enumerate(tasks)]
        with open(self.path("exercise.json"), "w", encoding="utf-8") as file:
            json.dump({"tasks": tasks}, file)

    def grade(self):
        return json.loads(self.succeed("grade", "--tensors", ".", "--json"))["tasks"]

    def verdict(self, out, dtype=None):
        """Of the first task, whose result is `out`."""
        with np.errstate(all="ignore"):
            self.write(out=np.asarray(out) if dtype is None else np.asarray(out, dtype))
        return self.grade()[0]

    def right(self, out, mark="right", **kwargs):
        task = self.verdict(out, **kwargs)
        self.assertEqual((task["verdict"], task["slips"]), (mark, []), task["message"])
        self.assertEqual(task["points"], task["of"])
        return task

    def wrong(self, out, **kwargs):
        task = self.verdict(out, **kwargs)
        self.assertEqual((task["verdict"], task["slips"]), ("wrong", []), task["message"])
        self.assertIn("none of the usual slips", task["message"])
        self.assertEqual(task["points"], 0)
        return task

    def slip(self, names, out, **kwargs):
        task = self.verdict(out, **kwargs)
        self.assertEqual((task["verdict"], task["slips"]), ("slip", names.split()), task["message"])
        self.assertIn("your result is that of", task["message"])
        self.assertEqual(task["points"], 0)
        return task
