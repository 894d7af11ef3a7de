#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`attend lab`: the listing, rows in three forms, figures, bad flags, Ctrl-C."""

import csv
import io
import json
import math
import os
import signal
import xml.etree.ElementTree as ElementTree

import harness
import numpy as np

NAMES = (
    "copy extract average window magnitude heads one-vs-two how-many-heads remedies "
    "permute positions dispersion phases capacity variants"
).split()
KEYS = "experiment params quantity theory measured se z".split()
MAGNITUDE = "mean_w var_w mean_abs_dev p_outside_10_90 modes".split()
HEADS = (
    "mean_w1 var_w1 p_head1_loses var_c1 var_c2 cov_c1_c2 coeff_a coeff_b coeff_var_one "
    "coeff_var_two mse_one mse_two"
).split()


def logit_normal(n, C, sigma2):
    """Moments of w = p_a by quadrature: mean, Var w, E|w - 1/2|, P outside .1 .. .9."""
    mu, T = -math.log1p((n - 2) * math.exp(-C)), C * math.sqrt(sigma2)
    x = np.linspace(-12, 12, 2_000_001)
    weight = np.exp(-x * x / 2)
    weight /= weight.sum()
    y = mu + T * x
    w = 0.5 * (1 + np.tanh(y / 2))
    mean = (w * weight).sum()
    limit = math.log(9)
    cdf = lambda t: 0.5 * math.erfc(-t / math.sqrt(2))
    outside = cdf((-limit - mu) / T) + cdf((-limit + mu) / T)
    return (
        mean,
        ((w - mean) ** 2 * weight).sum(),
        (abs(w - 0.5) * weight).sum(),
        outside,
    )


class LabTest(harness.CliTest):
    def rows(self, *args, **kwargs):
        lines = self.succeed("lab", *args, "--json", **kwargs).splitlines()
        return [json.loads(line) for line in lines]

    def given(self, *args, **kwargs):
        """The rows of exactly the given parameters, by quantity."""
        rows = self.rows(*args, "--no-sweep", **kwargs)
        names = [row["quantity"] for row in rows]
        self.assertEqual(len(names), len(set(names)), names)
        return dict(zip(names, rows))

    def assert_agrees(self, row):
        what = f"{row['quantity']} {row['params']}: {row}"
        self.assertGreater(row["se"], 0, what)
        self.assertLessEqual(abs(row["z"]), 4, what)
        self.assertEqual(row["z"], (row["measured"] - row["theory"]) / row["se"], what)


class Listing(LabTest):
    def test_lists_every_experiment(self):
        text = self.succeed("lab")
        table = text.split("experiments:\n")[1].split("\n\n")[0]
        self.assertEqual([line.split()[0] for line in table.splitlines()], NAMES)
        self.assertEqual(text, self.succeed("lab", "--help"))
        self.assertEqual(text, self.succeed("help", "lab"))

    def test_help_of_each_has_its_flags_and_an_example_that_runs(self):
        for name in NAMES:
            text = self.succeed("lab", name, "--help")
            for word in ("--seed", "--trials", "--threads", "--json", "--csv", "--svg"):
                self.assertIn(word, text, name)
            example = text.splitlines()[-1].split()
            self.assertEqual(example[:3], ["attend", "lab", name])
            rows = self.succeed(*example[1:], "--trials", "100", "--no-sweep")
            self.assertIn("quantity", rows, name)
            self.assertLessEqual(max(map(len, text.splitlines())), 100, name)

    def test_help_says_that_weights_set_their_number(self):
        text = " ".join(self.succeed("lab", "average", "--help").split())
        self.assertRegex(text, r"--w WORD [^-]* sets m")
        row = json.loads(
            self.succeed("lab", "average", "--w", "3,2,1", "--json").splitlines()[0]
        )
        self.assertEqual(row["params"]["m"], 3)

    def test_an_unknown_name_is_refused_with_the_names(self):
        self.refuse("lab", "magnitudes", says=["magnitudes", *NAMES])
        self.refuse("lab", "", says=NAMES)
        self.refuse("lab", "--json", says=NAMES)


class Magnitude(LabTest):
    def test_a_million_trials(self):
        rows = self.given("magnitude", "--C", "10", "--n", "10", "--trials", "1000000")
        self.assertEqual(list(rows)[: len(MAGNITUDE)], MAGNITUDE)
        for name in MAGNITUDE[:4]:
            self.assert_agrees(rows[name])
        self.assertLess(abs(rows["var_w"]["theory"] - 0.1953), 5e-5)
        self.assertLess(abs(rows["p_outside_10_90"]["theory"] - 0.756), 5e-5)
        self.assertEqual(rows["modes"]["theory"], 2)
        self.assertEqual(rows["modes"]["measured"], 2)
        self.assertEqual((rows["modes"]["se"], rows["modes"]["z"]), (0, None))

    def test_theory_is_the_quadrature(self):
        for n, C, sigma2 in ((10, 10, 0.5), (2, 3, 0.5), (1000, 7, 0.5), (50, 4, 0.1)):
            args = "--n", n, "--C", C, "--sigma2", sigma2, "--trials", 20000
            rows = self.given("magnitude", *map(str, args))
            for name, expected in zip(MAGNITUDE, logit_normal(n, C, sigma2)):
                self.assertLess(abs(rows[name]["theory"] - expected), 1e-6, (name, args))
                self.assert_agrees(rows[name])

    def test_se_is_what_it_is_said_to_be(self):
        row = self.given("magnitude", "--trials", "5000")["p_outside_10_90"]
        p = row["measured"]
        self.assertAlmostEqual(row["se"], math.sqrt(p * (1 - p) / 5000), 15)

    def test_part_i_beside_part_ii(self):
        rows = self.given("magnitude", "--trials", "2000")
        self.assertEqual(rows["var_w_part_i"]["params"]["sigma2"], 0)
        self.assertEqual(rows["var_w_part_i"]["measured"], 0)
        self.assertEqual(rows["var_w_part_i"]["z"], None)
        noisy = self.given("magnitude", "--alpha", "0.01", "--trials", "20000")
        self.assert_agrees(noisy["var_w_part_i"])
        self.assert_agrees(noisy["var_w"])

    def test_sweep_rows_have_their_own_parameters(self):
        rows = self.rows("magnitude", "--trials", "2000", "--C", "9")
        self.assertTrue(all(list(row)[:7] == KEYS for row in rows))
        first = [row["params"]["C"] for row in rows[: len(MAGNITUDE)]]
        self.assertEqual(first, [9.0] * len(MAGNITUDE))
        self.assertGreater(len({row["params"]["C"] for row in rows}), 8)
        for row in rows:
            if row["z"] is not None:
                self.assert_agrees(row)


class Heads(LabTest):
    def test_rows_and_their_names(self):
        rows = self.given("heads", "--trials", "50000")
        names = HEADS + [f"{name}_given_positive" for name in HEADS]
        self.assertEqual(list(rows), names + ["crossover_C"])
        for row in rows.values():
            if row["z"] is not None:
                self.assert_agrees(row)
        self.assertLess(abs(rows["crossover_C"]["theory"] - 2.17), 0.006)

    def test_plus_minus_gives_three_quarters_and_one_quarter(self):
        rows = self.given("heads", "--queries", "plus-minus", "--sigma2", "0", "--C", "50")
        for name, share in (("coeff_a", 0.75), ("coeff_b", 0.25)):
            self.assertLess(abs(rows[name]["theory"] - share), 1e-12)
            self.assertLess(abs(rows[name]["measured"] - share), 1e-12)
            self.assertEqual((rows[name]["se"], rows[name]["z"]), (0, None))

    def test_two_heads_are_steadier(self):
        rows = self.given("heads", "--C", "50", "--n", "10", "--trials", "200000")
        one, two = rows["coeff_var_one"], rows["coeff_var_two"]
        self.assertEqual(round(one["theory"] / two["theory"], 1), 12.5)
        self.assert_agrees(one)
        self.assert_agrees(two)

    def test_own_queries_mean_what_they_say(self):
        same = self.given("heads", "--queries", "10a,10b", "--trials", "2000")
        means = self.given("heads", "--queries", "means", "--trials", "2000")
        for name in HEADS:
            self.assertEqual(same[name]["measured"], means[name]["measured"], name)
        own = self.given("heads", "--queries", "2a-b,3b", "--trials", "50000")
        self.assertEqual(own["coeff_a"]["params"]["queries"], "2a-b,3b")
        for name in HEADS:
            if own[name]["z"] is not None:
                self.assert_agrees(own[name])

    def test_noisy_keys(self):
        for noisy in ("both", "all"):
            rows = self.given("heads", "--noisy", noisy, "--trials", "50000")
            self.assertGreater(rows["var_c2"]["measured"], 0.05)
            for name in HEADS:
                if rows[name]["z"] is not None:
                    self.assert_agrees(rows[name])


class Forms(LabTest):
    def test_numbers_are_the_same_for_any_thread_count(self):
        for args in (["magnitude"], ["heads", "--alpha", "0.001", "--n", "16"]):
            outputs = {
                self.succeed("lab", *args, "--trials", "3000", "--json", "--threads", t)
                for t in ("1", "2", "3")
            }
            self.assertEqual(len(outputs), 1, args)

    def test_another_seed_is_another_sample(self):
        a, b = (
            self.given("magnitude", "--trials", "5000", "--seed", seed)["mean_w"]
            for seed in ("1", "18446744073709551615")
        )
        self.assertEqual(a["theory"], b["theory"])
        self.assertNotEqual(a["measured"], b["measured"])
        self.assert_agrees(b)

    def test_csv_has_the_numbers_of_json(self):
        args = "heads", "--trials", "2000", "--no-sweep"
        text = self.succeed("lab", *args, "--csv")
        table = list(csv.DictReader(io.StringIO(text)))
        rows = self.rows(*args)
        self.assertEqual(len(table), len(rows))
        for line, row in zip(table, rows):
            self.assertEqual(line["quantity"], row["quantity"])
            self.assertEqual(line["queries"], row["params"]["queries"])
            self.assertEqual(float(line["C"]), row["params"]["C"])
            for key in ("theory", "measured", "se", "z"):
                number = float(line[key]) if line[key] else None
                self.assertEqual(number, row[key], (row["quantity"], key))

    def test_table_says_what_it_shows(self):
        text = self.succeed("lab", "magnitude", "--trials", "1000", "--no-sweep")
        for word in ("theory", "measured", "se", "z", "var_w", "logit-normal", "seed=1"):
            self.assertIn(word, text)

    def test_svg_is_one_file_with_every_figure(self):
        self.succeed("lab", "magnitude", "--trials", "2000", "--svg", "out.svg")
        root = ElementTree.parse(self.path("out.svg")).getroot()
        self.assertTrue(root.tag.endswith("svg"))
        with open(self.path("out.svg"), encoding="utf-8") as file:
            text = file.read()
        for title in ("Variance of the weight", "Distance from one half"):
            self.assertIn(title, text)
        self.assertEqual(os.listdir(self.dir), ["out.svg"])


class BadFlags(LabTest):
    def test_values_that_are_not_allowed(self):
        for flag, value, allowed in (
            ("--C", "nan", "from 0 to 1000"),
            ("--C", "inf", "from 0 to 1000"),
            ("--C", "-1", "from 0 to 1000"),
            ("--C", "ten", "from 0 to 1000"),
            ("--C", "0x10", "from 0 to 1000"),
            ("--n", "1", "whole number from 2 to 1000000"),
            ("--n", "2.5", "whole number from 2 to 1000000"),
            ("--n", "1e9", "whole number from 2 to 1000000"),
            ("--trials", "-5", "whole number from 1"),
            ("--trials", "0", "whole number from 1"),
            ("--threads", "0", "whole number from 1"),
            ("--seed", "-1", "whole number from 0"),
            ("--seed", "18446744073709551616", "whole number from 0"),
            ("--sigma2", "-0.5", "from 0"),
            ("--alpha", "1e999", "from 0"),
        ):
            self.refuse("lab", "magnitude", flag, value, says=[flag, value, allowed])

    def test_flags_that_do_not_go_together(self):
        self.refuse("lab", "magnitude", "--d", "5", "--n", "10", says=["--d", "5", "10"])
        self.refuse("lab", "magnitude", "--json", "--csv", says=["--json", "--csv"])

    def test_unknown_and_incomplete_flags(self):
        self.refuse("lab", "magnitude", "--sigma", "1", says=["--sigma", "--sigma2"])
        self.refuse("lab", "magnitude", "--C", says="--C needs a value")
        self.refuse("lab", "magnitude", "10", says="unexpected argument '10'")
        self.refuse("lab", "heads", "--noisy", "b", says=["'b'", "a|both|all"])

    def test_queries_that_are_not(self):
        for queries in ("a", "2a-b", "a,b,a", "x,y", "means,", "a b,b"):
            self.refuse(
                "lab", "heads", "--queries", queries, says=["--queries", queries, "2a-b,3b"]
            )

    def test_files_that_cannot_be_written(self):
        for path in ("no/such/dir.svg", ".", "/dev/null/x"):
            self.refuse("lab", "magnitude", "--svg", path, says=["--svg", path])

    def test_a_full_disk_is_a_failure(self):
        self.say_to_full("lab", "magnitude", "--trials", "1000")


class Stopping(LabTest):
    def test_ctrl_c_ends_with_what_was_measured(self):
        out, err = self.interrupt(
            *("lab", "magnitude", "--trials", "1000000000", "--json"),
            number=signal.SIGINT,
            until=lambda job: harness.wait_for_work(job, 2),
            status=130,
        )
        self.assertEqual(err.count("\n"), 1)
        self.assertIn("stopped", err)
        rows = {row["quantity"]: row for row in map(json.loads, out.splitlines())}
        self.assertEqual(list(rows)[: len(MAGNITUDE)], MAGNITUDE)
        self.assert_agrees(rows["var_w"])
        self.assertLess(rows["var_w"]["se"], 2e-3)


if __name__ == "__main__":
    harness.main()
