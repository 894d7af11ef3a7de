# SPDX-License-Identifier: MIT
"""attend grade --tensors: files, exercises, output, the example of the document, --make-tensors."""

import json
import os
import re
import subprocess
import sys

import numpy as np
from numpy_attention import attention, merge, rotate, split, triangle
from tensors_case import ROOT, Tensors
from harness import SEED, main, write_safetensors


class Files(Tensors):
    def setUp(self):
        super().setUp()
        self.q, self.k, self.v = self.draw(5, 8), self.draw(5, 8), self.draw(5, 6)
        self.write(q=self.q, k=self.k, v=self.v)
        self.out = attention(self.q, self.k, self.v)

    def unread(self, task, *says):
        self.assertEqual((task["verdict"], task["points"]), ("unread", 0))
        for word in says:
            self.assertIn(word, task["message"])

    def test_without_an_exercise(self):
        self.write(out=self.out, causal=attention(self.q, self.k, self.v, seen=triangle(5, 5)))
        tasks = self.grade()
        self.assertEqual(
            [(t["task"], t["verdict"]) for t in tasks], [("attention", "right"), ("causal", "right")]
        )
        text = self.succeed("grade", "--tensors", ".")
        self.assertIn(".: 2 of 2 points\n", text)
        self.assertIn("exponentials of scores without the row max", text)
        os.remove(self.path("causal.npy"))
        self.assertEqual(len(self.grade()), 1)

    def test_a_bad_result_costs_its_own_points(self):
        self.exercise(
            *({"out": name} for name in ("a.npy", "b.npy", "c.npy", "d.npy", "e.safetensors:x", "f.npy"))
        )
        self.write(b=np.arange(30).reshape(5, 6), c=self.out.astype(complex), d=self.out[:, :5], f=self.out)
        with open(self.path("e.safetensors"), "wb") as file:
            file.write(b"\0" * 9)
        tasks = self.grade()
        self.unread(tasks[0], "a.npy", "No such file")
        self.unread(tasks[1], "b.npy", "int64", "f64, f32, f16 or bf16")
        self.unread(tasks[2], "c.npy", "complex128")
        self.assertEqual(tasks[3]["verdict"], "wrong")
        self.assertIn("shape (5, 5): (5, 6) is needed", tasks[3]["message"])
        self.unread(tasks[4], "e.safetensors")
        self.assertEqual(tasks[5]["verdict"], "right")

    def test_axes_of_one_do_not_matter(self):
        self.right(self.out[None, None])
        self.write(q=self.q[None], k=self.k[None], v=self.v[None])
        self.right(self.out)

    def test_fortran_order_and_safetensors(self):
        self.right(np.asfortranarray(self.out))
        names = {"q": self.q, "k": self.k, "v": self.v}
        write_safetensors(self.path("in.safetensors"), {n: ("F64", x) for n, x in names.items()})
        self.exercise({n: "in.safetensors:" + n for n in names})
        self.right(self.out)

    def test_inputs_of_the_teacher(self):
        os.mkdir(self.path("theirs"))
        np.save(self.path("theirs/out.npy"), self.out)
        # The student's own exercise.json and inputs are not read.
        np.save(self.path("theirs/q.npy"), np.zeros((5, 8)))
        with open(self.path("theirs/exercise.json"), "w", encoding="utf-8") as file:
            file.write("{")
        self.exercise({"points": 3})
        said = self.succeed("grade", "--tensors", "theirs", "--exercise", "exercise.json")
        self.assertIn("theirs: 3 of 3 points", said)

    def test_gradescope(self):
        self.exercise({"name": "plain", "points": 2}, {"causal": "top-left"})
        self.write(out=self.out)
        results = json.loads(self.succeed("grade", "--tensors", ".", "--gradescope"))
        self.assertEqual(set(results), {"tests", "extra_data"})
        first, second = results["tests"]
        self.assertEqual(
            (first["name"], first["number"], first["score"], first["max_score"], first["visibility"]),
            ("plain", "1", 2, 2, "visible"),
        )
        self.assertTrue(first["output"].startswith("right\n"))
        self.assertEqual((second["number"], second["score"], second["max_score"]), ("2", 0, 1))
        self.assertIn("attention without the mask", second["output"])
        self.assertIn("no-subtract", results["extra_data"]["equal_slips"])

    def test_bad_exercises(self):
        for task, *says in (
            ({"quey": "q.npy"}, "quey"),
            ({"q": 3}, "q: a number"),
            ({"points": -1}, "points: -1"),
            ({"points": "1"}, "points: a text"),
            ({"causal": "left"}, "causal", "'left'", "top-left"),
            ({"heads": 2}, "heads", "packed"),
            ({"layout": "packed"}, "heads"),
            ({"layout": "packed", "heads": 3, "kv_heads": 2}, "kv_heads"),
            ({"layout": "packed", "heads": 3}, "q.npy", "3 heads"),
            ({"kind": "copy"}, "wanted"),
            ({"kind": "copy", "wanted": [1, 2]}, "one key"),
            ({"kind": "copy", "wanted": [1.5]}, "1.5"),
            ({"kind": "average", "wanted": [1, 1]}, "twice"),
            ({"kind": "copy", "wanted": [9]}, "key 9", "5 keys"),
            ({"wanted": [1]}, "wanted"),
            ({"base": 1}, "base: 1"),
            ({"v": "absent.npy"}, "absent.npy"),
            ({"mask": "q.npy"}, "q.npy", "bool"),
        ):
            with self.subTest(task=task):
                self.exercise(task)
                self.refuse("grade", "--tensors", ".", says=("task", *says))
        self.exercise({"name": "a"}, {"name": "a"})
        self.refuse("grade", "--tensors", ".", says=("task 2", "another 'a'"))
        for text, say in (
            ("{", "line 1"),
            ("[]", "object"),
            ("{}", "tasks"),
            ('{"tasks": []}', "tasks"),
            ('{"tasks": [{}]}', "name"),
            ('{"tasks": [1]}', "task 1"),
        ):
            with open(self.path("exercise.json"), "w", encoding="utf-8") as file:
                file.write(text)
            self.refuse("grade", "--tensors", ".", says=("exercise.json", say))

    def test_bad_inputs(self):
        self.exercise({})
        for name, array, *says in (
            ("q", np.full((5, 8), np.inf), "q.npy", "inf"),
            ("q", self.draw(5, 7), "d of q and k", "7 and 8"),
            ("k", self.draw(4, 8), "rows of k and v", "4 and 5"),
            ("q", self.draw(8), "q.npy", "(8,)"),
            ("q", np.zeros((0, 8)), "q.npy", "empty"),
            ("v", np.ones((5, 6), int), "v.npy", "int64"),
        ):
            with self.subTest(name=name, says=says):
                self.write(q=self.q, k=self.k, v=self.v)
                self.write(**{name: array})
                self.refuse("grade", "--tensors", ".", says=says)
        self.write(q=self.q, k=self.k, v=self.v, mask=np.zeros((5, 5), bool))
        self.exercise({"mask": "mask.npy"})
        self.refuse("grade", "--tensors", ".", says="no query sees a key")
        self.exercise({"rotary": "pairs"})
        self.write(q=self.q[:, :7], k=self.k[:, :7])
        self.refuse("grade", "--tensors", ".", says=("even", "7"))

    def test_sizes(self):
        ones = lambda *shape: np.ones(shape, np.float32)
        for shapes in (
            ((1, 1), (1, 1), (1, 1)),
            ((1, 3), (4, 3), (4, 1)),
            ((2, 1, 1, 1), (2, 1, 1, 1), (2, 1, 1, 2)),
        ):
            q, k, v = (self.draw(*shape) for shape in shapes)
            self.write(q=q, k=k, v=v)
            self.right(attention(q, k, v))
            os.remove(self.path("out.npy"))
            self.unread(self.grade()[0], "out.npy")
        self.write(q=ones(1, 1), k=ones(1 << 18, 1), v=ones(1 << 18, 1))
        self.assertEqual(self.verdict(ones(1, 1))["verdict"], "right")
        self.write(q=ones(2048, 1), k=ones(1024, 1), v=ones(1024, 1))
        self.refuse("grade", "--tensors", ".", says=("q.npy", "1048576 scores"))
        self.write(q=ones(2048, 1), k=ones(1, 1), v=ones(1, 1024))
        self.refuse("grade", "--tensors", ".", says=("q.npy", "of the result"))

    def test_usage(self):
        self.refuse("grade", "--tensors", "absent", says=("absent", "folder"))
        self.refuse("grade", "--exercise", "x.json", says="--tensors")
        self.refuse("grade", "--tensors", ".", "--csv", says="--tensors")
        self.refuse("grade", "--tensors", ".", "--json", "--gradescope", says="--json")
        self.refuse("grade", "--tensors", ".", "--exercise", "absent.json", says="absent.json")
        self.refuse("grade", "--make-tensors", ".", says=("--make-tensors", "exists"))
        self.refuse("grade", "--make-tensors", "x", "--json", says="--make-tensors")


class Document(Tensors):
    def text(self, *path):
        with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
            return file.read()

    def test_the_example_prints_what_is_shown(self):
        section = self.text("docs", "JUDGING.md").partition("## Exercises in code")[2]
        program = re.search(r"^```python\n(.*?)^```$", section, re.M | re.S)[1]
        shown = re.search(r"^\$ attend grade --tensors exercise\n(.*?)^```$", section, re.M | re.S)[1]
        with open(self.path("solution.py"), "w", encoding="utf-8") as file:
            file.write(program)
        self.succeed("grade", "--make-tensors", "exercise")
        subprocess.run([sys.executable, "solution.py"], cwd=self.dir, check=True)
        # Differences of rounding are those of the machine.
        masked = lambda text: re.sub(r"difference \de-\d\d", "difference", text)
        self.assertEqual(masked(self.succeed("grade", "--tensors", "exercise")), masked(shown))

    def test_every_slip_is_documented_and_tested(self):
        names = re.findall(r'^    \{"([a-z0-9-]+)"', self.text("tools", "tensors", "tensors_slips.c"), re.M)
        self.assertGreater(len(names), 55)
        document, tests = self.text("docs", "JUDGING.md"), self.text(
            "tests", "tensors", "test_grade_tensors.py"
        )
        for name in names:
            self.assertIn(f"`{name}`", document)
            self.assertRegex(tests, rf'"{name}"')


class Made(Tensors):
    """The exercise that the command writes."""

    def solve(self, folder):
        load = lambda name: np.load(os.path.join(folder, name + ".npy"))
        q, k, v = load("q"), load("k"), load("v")
        a, b, c, g, u = (load(n) for n in ("q_heads", "k_heads", "v_heads", "k_groups", "v_groups"))
        a, b, c, g, u = split(a, 4), split(b, 4), split(c, 4), split(g, 2), split(u, 2)
        at = np.arange(6)
        return {
            "attention": attention(q, k, v),
            "causal": attention(q, k, v, seen=triangle(5, 7, 2)),
            "large": attention(q, k, v, 500),
            "heads": merge(attention(a, b, c)),
            "grouped": merge(attention(a, np.repeat(g, 2, 1), np.repeat(u, 2, 1), seen=triangle(6, 6))),
            "rope": merge(attention(rotate(a, at), rotate(b, at), c)),
            "q_copy": 20 * k[2],
            "q_average": 20 * (k[1] + k[4]),
        }

    def test_every_slip_is_distinct_and_the_solution_is_right(self):
        self.succeed("grade", "--make-tensors", "made", "--seed", SEED)
        for name, out in self.solve(self.path("made")).items():
            np.save(self.path(f"made/{name}.npy"), out)
        graded = json.loads(self.succeed("grade", "--tensors", "made", "--json"))
        self.assertEqual([t["verdict"] for t in graded["tasks"]], ["right"] * 8, graded)
        self.assertEqual(graded["equal_slips"], [])
        self.assertEqual(graded["points"], graded["of"])

    def test_the_same_seed_writes_the_same_files(self):
        for folder in "one", "two":
            self.succeed("grade", "--make-tensors", folder, "--seed", 5)
        self.assertEqual(len(os.listdir(self.path("one"))), 9)
        for name in os.listdir(self.path("one")):
            with open(self.path("one/" + name), "rb") as a, open(self.path("two/" + name), "rb") as b:
                self.assertEqual(a.read(), b.read(), name)


if __name__ == "__main__":
    main()
