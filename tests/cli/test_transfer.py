#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`attend lab transfer`: the error of rounded keys, predicted and measured."""

import csv
import io
import json
import math
import xml.etree.ElementTree as ElementTree

import dense
import harness
import numpy as np
from problem import Problem

FORMATS = "int8", "fp8", "bf16"
QUANTITIES = "error_statistic", "error_delta", "score_noise"

# All finite numbers of E4M3, without the sign.
E4M3 = np.array(
    [m * 2.0**-9 for m in range(8)]
    + [(8 + m) * 2.0 ** (e - 10) for e in range(1, 16) for m in range(8)][:-1]
)


def step_of(x, bits, smallest):
    """Distance of neighbours among numbers with this many bits."""
    exponent = np.floor(np.log2(np.maximum(np.abs(x), 1e-300)))
    return 2.0 ** (np.maximum(exponent, smallest) - bits + 1)


def round_keys(k, form):
    """k (n, d) rounded, and the variance expected of each entry's error."""
    if form == "int8":
        step = np.abs(k).max(1, keepdims=True) / 127 + np.zeros_like(k)
        rounded = np.clip(np.rint(k / step), -127, 127) * step
    elif form == "fp8":
        scale = np.abs(k).max() / E4M3[-1]
        nearest = np.abs(np.abs(k / scale)[..., None] - E4M3).argmin(-1)
        rounded = np.sign(k) * E4M3[nearest] * scale
        step = step_of(k / scale, 4, -6) * scale
    else:
        step = step_of(k, 8, -126)
        rounded = np.rint(k / step) * step
    exact = np.abs(rounded - k) < 1e-9 * step
    return rounded, np.where(exact, 0, step**2 / 12)


def expected(q, k, v, b, h, form, **rule):
    """The printed numbers of head (b, h), from dense attention and T24 by definition."""
    g = h // (q.shape[1] // k.shape[1])
    length = rule["lengths"][b] if "lengths" in rule else k.shape[2]
    rounded, u = k[b, g].copy(), np.zeros_like(k[b, g])
    rounded[:length], u[:length] = round_keys(k[b, g, :length], form)
    moved = k.copy()
    moved[b, g] = rounded
    out, _, weights = dense.attention(q, k, v, **rule)
    other = dense.attention(q, moved, v, **rule)[0]
    scale = rule.get("scale") or 1 / math.sqrt(q.shape[3])
    rows = [i for i in range(q.shape[2]) if weights[b, h, i].sum() > 0]
    delta = statistic = score = score_moved = 0
    for i in rows:
        p, c, x = weights[b, h, i], out[b, h, i], q[b, h, i]
        far = ((v[b, g] - c) ** 2).sum(1)
        e2 = scale**2 * (u @ x**2)
        delta += (p**2 * e2 * far).sum()
        statistic += scale**2 * (x @ x) * (p**2 * far).sum() * u[:length].mean()
        score += (p * e2).sum()
        score_moved += (p * (scale * (rounded - k[b, g]) @ x) ** 2).sum()
    size = (out[b, h, rows] ** 2).sum()
    error = math.sqrt(((other - out)[b, h, rows] ** 2).sum() / size)
    return {
        "error_statistic": (math.sqrt(statistic / size), error),
        "error_delta": (math.sqrt(delta / size), error),
        "score_noise": (math.sqrt(score / len(rows)), math.sqrt(score_moved / len(rows))),
    }


class TransferTest(harness.CliTest):
    def rows(self, *flags):
        rows = self.objects("lab", "transfer", "--json", *flags)
        for row in rows:
            self.assertEqual(row["experiment"], "transfer")
            self.assertIn(row["quantity"], QUANTITIES)
            self.assertEqual(row["kind"], "first-order")
        return rows


class Tensors(TransferTest):
    def layer(self, **shape):
        return Problem(self, **{"nq": 9, "nk": 13, "q_size": 2, **shape}).values

    inputs = "--q", "q.npy", "--k", "k.npy", "--v", "v.npy"

    def check(self, values, *flags, **rule):
        rows = self.rows(*self.inputs, *flags)
        nb, hq = values[0].shape[:2]
        self.assertEqual(len(rows), nb * hq * len(FORMATS) * len(QUANTITIES))
        for row in rows:
            at = row["params"]
            want = expected(*values, at["b"], at["h"], at["format"], **rule)
            for shown, number in zip(("theory", "measured"), want[row["quantity"]]):
                near = math.isclose(row[shown], number, rel_tol=1e-9, abs_tol=1e-15)
                self.assertTrue(near, f"{shown} of {row}, not {number}")

    def test_causal_gqa_of_two_batches(self):
        self.check(self.layer(), "--causal", "top-left", causal="top-left")

    def test_scale_window_and_lengths(self):
        flags = "--scale", "0.3", "--window-left", "4", "--key-lengths", "13,7"
        rule = {"scale": 0.3, "left": 4, "lengths": [13, 7]}
        self.check(self.layer(dtype="f64"), *flags, **rule)

    def test_what_lies_beyond_the_key_length_is_no_key(self):
        values = self.layer(nb=1)
        k = values[1].astype("f4")
        k[:, :, 9:] = np.inf
        self.save("k.npy", k)
        q, _, v = values
        k[:, :, 9:] = 0
        self.check((q, k.astype("f8"), v), "--key-lengths", "9", lengths=[9])

    def test_offsets_leave_rows_without_keys(self):
        self.check(self.layer(), "--causal", "offset:-3,2", causal="offset", offset=[-3, 2])

    def test_masks(self):
        values = self.layer()
        for shape in (9, 13), (4, 9, 13), (2, 1, 9, 13), (2, 4, 1, 13):
            mask = np.random.default_rng(2).random(shape) < 0.6
            mask[..., 0] = True
            self.save("mask.npy", mask)
            self.check(values, "--mask", "mask.npy", mask=mask)

    def test_layouts_and_ranks(self):
        self.check(self.layer(layout="blhd"), "--layout", "blhd")
        self.check(self.layer(nb=1, rank=3))
        self.check(self.layer(nb=1, hq=1, hkv=1, rank=2))
        self.check(self.layer(nq=1, nk=2, d=1, dv=1))

    def test_f16(self):
        self.check(self.layer(dtype="f16"))

    def test_keys_that_bf16_holds_have_no_error(self):
        self.layer(dtype="bf16")
        rows = self.rows(*self.inputs, "--dtype", "bf16", "--format", "bf16")
        for row in rows:
            self.assertEqual((row["theory"], row["measured"]), (0, 0), row)

    def test_some_rows_are_looked_at(self):
        values = self.layer(nq=64, nk=64)
        few = self.rows(*self.inputs, "--rows", "5")
        many = self.rows(*self.inputs)
        for x, y in zip(few, many):
            same = x["quantity"] == "error_statistic"
            self.assertEqual(x["measured"] == y["measured"], same, x)
        self.assertEqual(len(few), len(many))
        self.check(values)

    def test_threads_and_forms(self):
        self.layer()
        outputs = {self.succeed("lab", "transfer", *self.inputs, "--json", "--threads", t) for t in "12"}
        self.assertEqual(len(outputs), 1)
        text = self.succeed("lab", "transfer", *self.inputs, "--csv", "--svg", "t.svg")
        for line, row in zip(csv.DictReader(io.StringIO(text)), self.rows(*self.inputs), strict=True):
            self.assertEqual(line["format"], row["params"]["format"])
            self.assertEqual(float(line["theory"]), row["theory"])
        ElementTree.parse(self.path("t.svg"))
        table = self.succeed("lab", "transfer", *self.inputs)
        self.assertIn("b=1 h=3 format=bf16", table)

    def test_refused(self):
        self.layer()
        self.refuse("lab", "transfer", "--q", "q.npy", "--k", "k.npy", says="--v")
        self.refuse("lab", "transfer", "--causal", "top-left", says="--q")
        self.refuse("lab", "transfer", *self.inputs, "--head", "copy", says="--head")
        self.refuse("lab", "transfer", *self.inputs, "--n=5", says="--n")
        self.refuse("lab", "transfer", *self.inputs, "--trials", "5", says="--trials")
        self.refuse("lab", "transfer", *self.inputs, "--softcap", "5", says="--softcap")
        self.refuse("lab", "transfer", *self.inputs, "--rows", "0", says="--rows")
        self.refuse("lab", "transfer", *self.inputs, "--format", "int4", says="int4")
        self.save("v.npy", np.zeros((2, 2, 12, 6), "f4"))
        self.refuse("lab", "transfer", *self.inputs, says=["v.npy", "12", "13"])
        for name in ("q", "k", "v"):
            self.save(f"{name}.npy", np.zeros((1, 1, 0, 8), "f4"))
        self.refuse("lab", "transfer", *self.inputs, says=["q.npy", "0, 8", "axis is 0"])
        self.save("q.npy", np.zeros((1, 1, 4, 8), "f4"))
        self.refuse("lab", "transfer", *self.inputs, says=["k.npy", "0, 8", "axis is 0"])
        self.refuse(
            *("lab", "transfer", "--q", "q.npy", "--k", "k.npy", "--v", "no.npy"), says=["--v", "no.npy"]
        )


class Synthetic(TransferTest):
    def test_own_rows_come_first(self):
        rows = self.rows("--head", "average", "--n", "32", "--d", "16", "--trials", "40")
        for row, (form, name) in zip(rows, [(f, q) for f in FORMATS for q in QUANTITIES]):
            self.assertEqual(row["quantity"], name)
            self.assertEqual(row["params"], {"head": "average", "S": 2, "n": 32, "d": 16, "format": form})
        heads = {row["params"]["head"] for row in rows}
        self.assertEqual(heads, {"diffuse", "condensed", "copy", "average"})

    def test_prediction_is_near_where_scores_move_little(self):
        for row in self.rows("--trials", "100"):
            if row["quantity"] == "error_delta" and row["measured"] > 1e-5:
                noisy = row["params"]["S"] > 4 and row["params"]["format"] == "fp8"
                ratio = row["measured"] / row["theory"]
                self.assertLess(abs(ratio - 1), 0.25 if noisy else 0.12, row)

    def test_one_format(self):
        rows = self.rows("--format", "fp8", "--no-sweep", "--trials", "20")
        self.assertEqual([row["params"]["format"] for row in rows], ["fp8"] * 3)
        all_rows = self.rows("--no-sweep", "--trials", "20")
        self.assertEqual(rows[1]["measured"], all_rows[4]["measured"])

    def test_same_numbers_for_any_thread_count(self):
        flags = "lab", "transfer", "--json", "--trials", "60", "--no-sweep", "--n", "30"
        outputs = {self.succeed(*flags, "--threads", t) for t in "123"}
        self.assertEqual(len(outputs), 1)
        self.assertNotIn(self.succeed(*flags, "--seed", "2"), outputs)

    def test_odd_sizes(self):
        for n, d in (2, 1), (3, 5), (17, 33):
            for head in "diffuse", "condensed", "copy", "average":
                flags = "--n", n, "--d", d, "--head", head, "--trials", 3, "--no-sweep"
                self.assertEqual(len(self.rows(*map(str, flags))), 9)

    def test_svg(self):
        self.rows("--trials", "8", "--svg", "t.svg")
        ElementTree.parse(self.path("t.svg"))
        text = harness.read(self.path("t.svg"))
        for title in "predicted and measured", "random heads by":
            self.assertIn(title, text)

    def test_help_and_its_example(self):
        text = self.succeed("lab", "transfer", "--help")
        for word in (*QUANTITIES, *FORMATS, "--head", "--q", "--rows", "--format"):
            self.assertIn(word, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 88)
        example = text.splitlines()[-1].split()
        self.assertEqual(len(self.succeed(*example[1:]).splitlines()), 3)
        self.assertRegex(self.succeed("lab"), r"\n  transfer +Rounded keys")

    def test_refused(self):
        self.refuse("lab", "transfer", "--head", "local", says="local")
        self.refuse("lab", "transfer", "--n", "1", says=["--n", "2 to 65536"])
        self.refuse("lab", "transfer", "--S", "-1", says="--S")
        self.refuse("lab", "transfer", "--json", "--csv", says="--csv")
        self.refuse("lab", "transfers", says=["place", "transfer"])

    def test_ctrl_c_ends_with_what_was_measured(self):
        out, err = self.stop("lab", "transfer", "--trials", "1000000000", "--json")
        self.assertIn("stopped", err)
        row = json.loads(out.splitlines()[1])
        self.assertAlmostEqual(row["measured"] / row["theory"], 1, 1)
