# SPDX-License-Identifier: MIT
"""Sentences of the laboratory and its documents, against numbers at the parameters that they name."""

import json
import math
import os
import re
import unittest

from harness import CliTest, attend, main

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TRIALS = "2000"


def phi(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def run(*args):
    """The rows of an experiment at its parameters, by quantity, and what it prints last."""
    args = "lab", *map(str, args), "--no-sweep", "--trials", TRIALS
    rows = [json.loads(line) for line in attend(*args, "--json").stdout.splitlines()]
    return {row["quantity"]: row for row in rows}, " ".join(attend(*args).stdout.split())


def question(name):
    """The words of a question, from the source."""
    with open(os.path.join(ROOT, "lab", "report", "questions.c"), encoding="utf-8") as file:
        part = file.read().split(f'.id = "{name}"')[1].split(".id =")[0]
    return "".join(re.findall(r'"((?:\\.|[^"\\])*)"', part)).replace("\\\\", "\\")


def design(*args):
    return json.loads(attend("design", *map(str, args), "--json").stdout.splitlines()[0])


class Experiments(CliTest):
    def test_two_heads_beyond_the_crossover(self):
        rows, sentence = run("heads", "--C", 2.3)
        lost = phi((math.log(9) / 2.3 - 1) / math.sqrt(0.5))
        self.assertAlmostEqual(rows["p_head1_loses"]["theory"], lost, delta=1e-9)
        self.assertLess(rows["crossover_C"]["theory"], 2.3)
        words = question("1e")
        self.assertIn(f"{rows['crossover_C']['theory']:.2f} at $n = 10$", words)
        self.assertIn("half of the samples", words)
        self.assertAlmostEqual(lost, 0.475, delta=5e-4)
        self.assertIn(f"{100 * phi(-math.sqrt(2)):.0f}%", words)
        self.assertIn("Head 1 loses v_a", sentence)

    def test_the_variance_of_head_1(self):
        rows, _ = run("heads")
        words = question("1d-ii")
        self.assertIn(f"{rows['var_c1']['theory']:.2f} at $n = 10$, $C = 10$", words)
        self.assertIn(f"{rows['var_c1_given_positive']['theory']:.2f} where", words)
        p = phi(math.sqrt(2))
        self.assertIn(f"{1 / (p * (1 - p)):.1f} times smaller", words)

    def test_a_bottleneck_hands_at_most_m_values_on(self):
        rows, sentence = run("variants")
        self.assertIn("at most m values", sentence)
        self.assertLessEqual(rows["bottleneck_copied"]["measured"], rows["bottleneck_copied"]["theory"])

    def test_tokens_are_moved(self):
        """With few tokens as well the permutation that is drawn is not the identity."""
        for tokens in 2, 3:
            for seed in range(1, 9):
                args = "permute", "--T", tokens, "--d", 2, "--mask", "causal", "--seed", seed
                rows, _ = run(*args)
                for name in "defect_rows", "defect_columns":
                    self.assertGreater(rows[name]["measured"], 1e-6, (args, name))

    def test_normalised_keys_keep_a_sign(self):
        rows, _ = run("remedies", "--remedy", "qk-norm")
        self.assertAlmostEqual(rows["var_a"]["theory"], 0.0181, delta=5e-5)
        p = phi(-math.sqrt(2))  # the share of turned keys, each near v_b
        self.assertAlmostEqual(rows["var_a"]["theory"], p * (1 - p) / 4, delta=5e-5)
        with open(os.path.join(ROOT, "docs", "LAB.md"), encoding="utf-8") as file:
            self.assertIn("keep the sign of a length", file.read().replace("\n", " "))

    def test_equal_weights_have_no_variance_and_a_large_error(self):
        rows, sentence = run("remedies", "--remedy", "cap", "--cap", 0.001)
        self.assertLess(rows["var_a"]["theory"], 1e-8)
        self.assertAlmostEqual(rows["mse"]["theory"], 1 / 2 - 1 / 10, delta=1e-3)
        self.assertIn("Apart from the bias, which only mse includes", sentence)
        rows, sentence = run("heads", "--queries", "unscaled")
        self.assertLess(rows["mse_two"]["theory"], rows["mse_one"]["theory"])
        self.assertLess(rows["mse_one"]["theory"], 1 / 2 - 1 / 10)
        self.assertIn("1/2 - 1/n with equal weights on all keys", sentence)

    def test_the_limit_of_tokens_and_heads_is_in_the_help(self):
        said = attend("lab", "permute", "--help").stdout
        most = int(re.search(r"h T T is at most (\d+)", said)[1])
        self.assertEqual(attend("lab", "permute", "--T", "2048", "--d", "64", "--h", "4").returncode, 2)
        self.assertGreater(4 * 2048**2, most)
        self.assertEqual(2 * 2048**2, most)


class Design(unittest.TestCase):
    def test_without_noise_one_head_reaches_any_leak(self):
        said = attend("design", "average", "--items", "3,7", "--eps", "1e-6").stdout
        leak = re.search(r"(?m)^leak +(\S+)", said)
        self.assertLessEqual(float(leak[1]), 1.000001e-6)
        self.assertIn("one head reaches any leak by its scale", said)

    def test_an_error_of_rounding_is_0(self):
        said = attend("design", "average", "--n", "2", "--items", "0,1").stdout
        errors = re.findall(r"(?m)^ +[12] +\S+ +(\S+)$", said)
        self.assertEqual(errors, ["0", "0"])

    def test_long_queries_are_named(self):
        args = "design", "weights", "--items", "1,2", "--weights", "0.8,0.2", "--n", "20"
        said = attend(*args).stdout
        self.assertIn("queries  20 numbers each", said)
        query = json.loads(attend(*args, "--json").stdout.splitlines()[0])["queries"][0]
        self.assertEqual(len(query), 20)
        norm = re.search(r"\|q\| ([\d.]+);", said)
        self.assertAlmostEqual(float(norm[1]) / math.hypot(*query), 1, delta=1e-5)


class Sheets(unittest.TestCase):
    def test_a_difference_of_one_over_the_gap(self):
        """002-6: its threshold is that of weights 1/2 +- 1/(4 gap)."""
        lines = attend("sheets", "002", "--json").stdout.splitlines()
        row = next(row for row in map(json.loads, lines) if row["id"] == "002-6")
        self.assertIn("a difference of 1/gap", row["holds_when"])
        told = float(re.search(r"below 0.01 from ([\d.]+) at n = 10", row["holds_when"])[1])
        self.assertAlmostEqual(told / (math.sqrt(2) / 4 / 0.01), 1, delta=2e-3)


if __name__ == "__main__":
    main()
