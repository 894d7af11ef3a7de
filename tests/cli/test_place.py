#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`attend lab place`: heads of tensors on the maps, from files of `attend stats`."""

import csv
import io
import json
import math
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import harness
import numpy as np
from problem import Problem

PLACES = (
    "rows keys spread freezing_spread condensed_share scale scale_min scale_max alpha "
    "score_noise usable_share fragile_share"
).split()
LAWS = "entropy sum_squares leak".split()
PAIRS = "p_swap p_outside_10_90".split()


def phi(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def place_row(s, noise):
    """The rows of `attend lab place` for one row of scores s, by definition."""
    n, order = len(s), np.sort(s)[::-1]
    T = noise * math.hypot(order[0], order[1])
    p = np.exp(s - s.max())
    p /= p.sum()
    found = {
        "keys": n,
        "spread": s.std(),
        "freezing_spread": math.sqrt(2 * math.log(n)),
        "score_noise": T,
        "condensed_share": s.std() > math.sqrt(2 * math.log(n)),
        "fragile_share": order[0] - order[1] < T,
        "swap": phi((order[1] - order[0]) / T),
    }
    if n > 2:
        C = order[:2].mean() - order[2:].mean()
        found |= {
            "scale": C,
            "scale_min": math.log(n),
            "scale_max": C / T,
            "alpha": T**2 / (4 * C**2),
            "usable_share": math.log(n) < C < C / T,
            "leak": 1 - np.sort(p)[-2:].sum(),
            "leak_law": (n - 2) / (2 * math.exp(C) + n - 2),
        }
    return found


def place_head(scores, noise):
    rows = [place_row(s, noise) for s in scores if len(s) >= 2]
    names = {name for row in rows for name in row}
    means = {x: np.mean([row[x] for row in rows if x in row]) for x in names}
    return means | {"rows": len(rows)}


class PlaceTest(harness.CliTest):
    def layer(self, hq=4, **shape):
        """Random tensors in files, heads of spreads 0.5, 1.5, 4.5, ...; as doubles."""
        size = 0.5 * 3.0 ** np.arange(hq)[:, None, None]
        shape = {"hq": hq, "nq": 23, "nk": 29, "q_size": size, **shape}
        return Problem(self, **shape).values[:2]

    def stats(self, *flags):
        inputs = "--q", "q.npy", "--k", "k.npy"
        self.succeed("stats", *inputs, "--top", "2", "--out", "s.safetensors", *flags)

    def place(self, *flags):
        """Rows by head and quantity; with few rows each is checked, which takes time."""
        if "--rows" not in flags:
            flags += "--rows", "2"
        rows = self.objects("lab", "place", "--stats", "s.safetensors", "--json", *flags)
        heads = {}
        for row in rows:
            self.assertEqual(row["experiment"], "place")
            at = row["params"]["b"], row["params"]["h"]
            self.assertNotIn(row["quantity"], heads.setdefault(at, {}), at)
            heads[at][row["quantity"]] = row
        return heads

    def scores(self, q, k, b, h, sees, scale=None):
        s = q[b, h] @ k[b, h * k.shape[1] // q.shape[1]].T
        s *= 1 / math.sqrt(q.shape[3]) if scale is None else scale
        return [row[sees(i, np.arange(len(row)))] for i, row in enumerate(s)]

    def check(self, q, k, heads, sees, noise=0.1, scale=None, tolerance=2e-4):
        self.assertEqual(len(heads), q.shape[0] * q.shape[1])
        for (b, h), rows in heads.items():
            want = place_head(self.scores(q, k, b, h, sees, scale), noise)
            for name in PLACES:
                shown = rows[name]["measured"]
                shown = rows[name]["theory"] if shown is None else shown
                self.assertAlmostEqual(
                    shown / want[name] if want[name] else shown,
                    1 if want[name] else 0,
                    delta=tolerance,
                    msg=f"{name} of {b, h}: {shown}, not {want[name]}",
                )
            self.assertAlmostEqual(rows["leak"]["measured"], want["leak"], 4)
            self.assertAlmostEqual(rows["leak"]["theory"], want["leak_law"], 4)


class Statistics(PlaceTest):
    def test_causal_gqa_of_two_batches(self):
        q, k = self.layer()
        self.stats("--causal", "top-left")
        self.check(q, k, self.place(), lambda i, j: j <= i)

    def test_noise_and_scale(self):
        q, k = self.layer(dtype="f64", nq=7)
        self.stats("--scale", "0.6")
        heads = self.place("--noise", "0.4")
        self.check(q, k, heads, lambda i, j: j >= 0, 0.4, 0.6, 1e-9)
        self.assertEqual(heads[0, 0]["spread"]["params"]["noise"], 0.4)

    def test_rows_without_keys_and_of_one_key(self):
        q, k = self.layer(nb=1)
        self.stats("--causal", "offset:-3", "--window-left", "9")
        heads = self.place()
        self.check(q, k, heads, lambda i, j: (j <= i - 3) & (j >= i - 12))
        self.assertEqual(heads[0, 0]["rows"]["measured"], 19)

    def test_a_head_without_rows(self):
        self.layer(nb=2, nq=3)
        self.stats("--key-lengths", "0,29")
        heads = self.place()
        self.assertEqual(heads[0, 1]["rows"]["measured"], 0)
        self.assertIsNone(heads[0, 1]["spread"]["measured"])
        self.assertNotIn("entropy", heads[0, 1])
        self.assertEqual(heads[1, 1]["rows"]["measured"], 3)
        text = self.succeed("lab", "place", "--stats", "s.safetensors")
        self.assertIn("no row has two keys", text)

    def test_two_keys_have_no_window(self):
        self.layer(nk=2, nq=5)
        self.stats()
        heads = self.place()
        self.assertIsNone(heads[0, 0]["scale"]["measured"])
        self.assertGreater(heads[0, 0]["spread"]["measured"], 0)

    def test_one_key_alone(self):
        self.layer(nk=1, nq=5)
        self.stats()
        self.assertEqual(self.place()[1, 3]["rows"]["measured"], 0)

    def test_ranks_and_layouts(self):
        for rank, flags in (3, ()), (2, ()), (4, ("--layout", "blhd")):
            q, k = self.layer(
                nb=1,
                hq=1 if rank == 2 else 4,
                hkv=1 if rank == 2 else 2,
                rank=rank,
                layout="blhd" if flags else "bhld",
            )
            self.stats(*flags)
            heads = self.place("--q", "q.npy", "--k", "k.npy", "--trials", "50", *flags)
            self.check(q, k, heads, lambda i, j: j >= 0)

    def test_bf16(self):
        q, k = self.layer(dtype="bf16")
        self.stats("--dtype", "bf16")
        flags = "--q", "q.npy", "--k", "k.npy", "--dtype", "bf16", "--trials", "50"
        self.check(q, k, self.place(*flags), lambda i, j: j >= 0)

    def test_random_scores_are_near_their_law(self):
        """The law at the S and n of the rows, by drawing scores here."""
        rng = np.random.default_rng(3)
        self.layer(nb=1, hq=3, hkv=1, nq=200, nk=300, d=64)
        self.stats()
        for rows in self.place("--rows", "40").values():
            s = rng.standard_normal((2000, 300)) * rows["spread"]["measured"]
            p = np.exp(s - s.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            entropy = -(p * np.log(np.maximum(p, 1e-300))).sum(1).mean()
            self.assertAlmostEqual(rows["entropy"]["theory"], entropy, delta=0.05)
            self.assertAlmostEqual(rows["entropy"]["measured"], entropy, delta=0.15)
            squares = (p**2).sum(1).mean()
            self.assertAlmostEqual(rows["sum_squares"]["theory"], squares, delta=0.02)

    def test_a_shifted_bias_has_its_place_too(self):
        """With statistics alone any rule is accepted."""
        self.layer()
        self.save("bias.npy", np.full((23, 29), 3, "f4"))
        self.stats("--bias", "bias.npy", "--softcap", "20")
        self.assertEqual(len(self.place()), 8)


class Pairs(PlaceTest):
    def test_swaps_are_those_of_theory(self):
        q, k = self.layer(nb=1, hq=4, hkv=2)
        self.stats("--causal", "bottom-right")
        heads = self.place("--q", "q.npy", "--k", "k.npy", "--rows", "99")
        for (b, h), rows in heads.items():
            want = place_head(self.scores(q, k, b, h, lambda i, j: j <= i + 6), 0.1)
            self.assertAlmostEqual(rows["p_swap"]["theory"], want["swap"], 5)
            for name in PAIRS:
                self.assertTrue(rows[name]["holds"], rows[name])

    def test_same_numbers_for_any_thread_count(self):
        self.layer(nb=1)
        self.stats("--causal", "top-left")
        flags = "--q", "q.npy", "--k", "k.npy", "--trials", "300", "--json", "--rows", "3"
        outputs = {
            self.succeed("lab", "place", "--stats", "s.safetensors", *flags, "--threads", t) for t in "123"
        }
        self.assertEqual(len(outputs), 1)
        other = self.succeed("lab", "place", "--stats", "s.safetensors", *flags, "--seed", 2)
        self.assertNotIn(other, outputs)


class Forms(PlaceTest):
    def test_csv_has_the_numbers_of_json(self):
        self.layer(nb=1)
        self.stats()
        few = "--rows", "2"
        text = self.succeed("lab", "place", "--stats", "s.safetensors", "--csv", *few)
        table = list(csv.DictReader(io.StringIO(text)))
        heads = self.place()
        self.assertEqual(len(table), sum(map(len, heads.values())))
        for line in table:
            row = heads[int(line["b"]), int(line["h"])][line["quantity"]]
            for key in ("theory", "measured"):
                number = float(line[key]) if line[key] else None
                self.assertEqual(number, row[key], line)

    def test_table_ends_with_a_line_a_head(self):
        self.layer(nb=1)
        self.stats()
        text = self.succeed("lab", "place", "--stats", "s.safetensors", "--rows", "2")
        table = text.split("which is\n")[1].split("\n\n")[0].splitlines()
        self.assertEqual([line.split()[1] for line in table], list("0123"))
        self.assertIn("spread, leaks", table[0])
        self.assertIn("condensed, noise decides", table[3])

    def test_svg_has_the_maps(self):
        self.layer(nb=1)
        self.stats()
        inputs = "--q", "q.npy", "--k", "k.npy", "--trials", "50"
        titles = ["Spread of the scores", "Entropy beside", "usable scales", "change places"]
        for flags, count in ((), 3), (inputs, 4):
            self.place("--svg", "place.svg", *flags)
            ElementTree.parse(self.path("place.svg"))
            text = harness.read(self.path("place.svg"))
            self.assertEqual([t in text for t in titles], [True] * count + [False] * (4 - count))

    def test_help(self):
        text = self.succeed("lab", "place", "--help")
        for word in PLACES + LAWS + PAIRS + ["--stats", "--noise", "--rows", "--svg"]:
            self.assertIn(word, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 88)
        self.assertRegex(self.succeed("lab"), r"\n  place +Heads of tensors")

    def test_the_example_runs(self):
        self.layer()
        lines = self.succeed("lab", "place", "--help").split("example:\n")[1].splitlines()
        for line in lines:
            self.succeed(*line.split()[1:])
        ElementTree.parse(self.path("place.svg"))


class Refused(PlaceTest):
    def setUp(self):
        super().setUp()
        self.layer()
        self.stats()
        self.good = "lab", "place", "--stats", "s.safetensors"
        self.pairs = *self.good, "--q", "q.npy", "--k", "k.npy"

    def rewrite(self, change):
        tensors = harness.read_safetensors(self.path("s.safetensors"))
        change(tensors)
        harness.write_safetensors(self.path("t.safetensors"), tensors)
        return "lab", "place", "--stats", "t.safetensors"

    def test_flags(self):
        self.refuse("lab", "place", says="--stats")
        self.refuse(*self.good, "--q", "q.npy", says=["--q needs --k"])
        self.refuse(*self.good, "--k", "k.npy", says=["--k needs --q"])
        self.refuse(*self.good, "--noise", "-1", says=["--noise", "-1"])
        self.refuse(*self.good, "--rows", "0", says=["--rows", "0"])
        self.refuse(*self.good, "--trials", "0", says=["--trials", "0"])
        self.refuse(*self.good, "--seed", "x", says=["--seed", "x"])
        self.refuse(*self.good, "--json", "--csv", says=["--json", "--csv"])
        self.refuse(*self.good, "--causal", "top-left", says="--causal")
        self.refuse(*self.good, "--svg", "no/such/x.svg", says=["--svg", "no/such/x.svg"])

    def test_files(self):
        self.refuse("lab", "place", "--stats", "q.npy", says=["q.npy", "FILE.safetensors"])
        self.refuse("lab", "place", "--stats", "no.safetensors", says="no.safetensors")
        harness.write(self.path("bad.safetensors"), b"nonsense")
        self.refuse("lab", "place", "--stats", "bad.safetensors", says="bad.safetensors")
        harness.write_safetensors(self.path("x.safetensors"), {"q": ("F32", np.zeros((2, 3), "f4"))})
        self.refuse(
            *("lab", "place", "--stats", "x.safetensors"),
            says=["x.safetensors", "'keys'", "attend stats --out"],
        )

    def test_missing_columns(self):
        for name in "raw_variance", "margin", "n_eff":
            args = self.rewrite(lambda tensors: tensors.pop(name))
            self.refuse(*args, says=["t.safetensors", f"'{name}'", "attend stats --out"])
        args = self.rewrite(lambda tensors: tensors.pop("top_keys"))
        self.succeed(*args)
        self.refuse(
            *(*args, "--q", "q.npy", "--k", "k.npy"),
            says=["t.safetensors", "'top_keys'", "attend stats --top 2 --out"],
        )

    def test_columns_that_do_not_fit(self):
        def cut(t):
            t["margin"] = "F32", t["margin"][1][:, :, :-1]

        def whole(t):
            t["max"] = "I64", t["max"][1].astype("i8")

        def flat(t):
            t["keys"] = "F32", t["keys"][1].reshape(1, 2, 4, 23)

        def one(t):
            t["top_keys"] = "I64", t["top_keys"][1][..., :1]

        self.refuse(*self.rewrite(cut), says=["'margin'", "(2, 4, 22)", "'keys'"])
        self.refuse(*self.rewrite(whole), says=["'max'", "int64", "f32 or f64"])
        self.refuse(*self.rewrite(flat), says=["'keys'", "(1, 2, 4, 23)"])
        self.refuse(
            *(*self.rewrite(one), "--q", "q.npy", "--k", "k.npy"),
            says=["'top_keys'", "(2, 4, 23, 1)", "--top 2"],
        )

    def test_keys_that_are_not_there(self):
        def beyond(t):
            keys = t["top_keys"][1].copy()
            keys[...] = 29
            t["top_keys"] = "I64", keys

        self.refuse(
            *(*self.rewrite(beyond), "--q", "q.npy", "--k", "k.npy"), says=["top_keys", "29 is not a key"]
        )

    def test_tensors_that_are_not_those_of_the_file(self):
        q = np.load(self.path("q.npy"))
        self.save("fewer.npy", q[:, :, :-1])
        self.save("other.npy", -q)
        self.refuse(*self.good, "--q", "fewer.npy", "--k", "k.npy", says=["fewer.npy", "22"])
        self.refuse(*self.good, "--q", "other.npy", "--k", "k.npy", says=["b=0 h=0 i="])
        self.refuse(*self.pairs, "--scale", "1", says=["--scale", "b=0 h=0 i="])
        self.refuse(*self.good, "--q", "no.npy", "--k", "k.npy", says=["--q", "no.npy"])
        q[1, 3, 5] *= 1.01
        self.save("last.npy", q)
        last = *self.good, "--q", "last.npy", "--k", "k.npy", "--rows", "99"
        self.refuse(*last, says=["b=1 h=3 i=5"])
        self.save("bias.npy", np.arange(29, dtype="f4"))
        self.stats("--bias", "bias.npy")
        self.refuse(*self.pairs, says=["bias", "b=0 h=0 i="])


PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "WATCH.md")


class Page(harness.CliTest):
    """The maps in docs/WATCH.md: the programs run, and print the shown output."""

    def near(self, shown, printed):
        if shown == printed:
            return True
        try:
            shown, printed = float(shown.rstrip("%")), float(printed.rstrip("%"))
        except ValueError:
            return False
        return abs(shown - printed) <= max(1e-6, 2e-3 * abs(shown))

    def test_commands_print_what_is_shown(self):
        text = harness.read(PAGE).split("\n## Real heads")[1]
        (program,) = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
        subprocess.run([sys.executable, "-c", program], cwd=self.dir, check=True)
        blocks = "\n".join(re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S))
        printed, count = [], 0
        for line in filter(None, blocks.splitlines()):
            cells = line.split()
            if line.startswith("$ "):
                printed = [x.split() for x in self.succeed(*cells[2:]).splitlines()]
                count += 1
                continue
            same = [len(cells) == len(other) and all(map(self.near, cells, other)) for other in printed]
            self.assertTrue(any(same), f"not printed: {line}")
        self.assertGreater(count, 5)


class Stopping(PlaceTest):
    def test_ctrl_c_ends_with_what_was_measured(self):
        self.layer()
        self.stats()
        out, err = self.stop(
            *("lab", "place", "--stats", "s.safetensors", "--q", "q.npy", "--k", "k.npy"),
            *("--trials", "1000000000", "--json"),
        )
        self.assertIn("stopped after 0 of 8 heads", err)
        names = [json.loads(line)["quantity"] for line in out.splitlines()]
        self.assertEqual(names[: len(PLACES)], PLACES)
