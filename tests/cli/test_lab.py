#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`attend lab`: the listing, rows in three forms, figures, bad flags, Ctrl-C."""

import csv
import io
import json
import math
import os
import xml.etree.ElementTree as ElementTree

import harness
from harness import EXPERIMENTS
from theory import LAB

KEYS = "experiment params quantity theory measured se z".split()
MORE = "kind holds rare low high distance".split()
MAGNITUDE = "mean_w var_w mean_abs_dev p_outside_10_90 modes p_copy_90 mean_error".split()
HEADS = (
    "mean_w1 var_w1 p_head1_loses var_c1 var_c2 cov_c1_c2 coeff_a coeff_b coeff_var_one "
    "coeff_var_two mse_one mse_two"
).split()


class LabTest(harness.CliTest):
    def rows(self, *args, **kwargs):
        return self.objects("lab", *args, "--json", **kwargs)

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
        self.assertEqual([line.split()[0] for line in table.splitlines()], EXPERIMENTS)
        self.assertEqual(text, self.succeed("lab", "--help"))
        self.assertEqual(text, self.succeed("help", "lab"))

    def test_help_of_each_has_its_flags_and_an_example_that_runs(self):
        for name in EXPERIMENTS:
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
        row = self.rows("average", "--w", "3,2,1")[0]
        self.assertEqual(row["params"]["m"], 3)

    def test_an_unknown_name_is_refused_with_the_names(self):
        self.refuse("lab", "magnitudes", says=["magnitudes", *EXPERIMENTS])
        self.refuse("lab", "", says=EXPERIMENTS)
        self.refuse("lab", "--json", says=EXPERIMENTS)


class Magnitude(LabTest):
    def test_a_million_trials(self):
        rows = self.given("magnitude", "--C", "10", "--n", "10", "--trials", "1000000")
        self.assertEqual(list(rows)[: len(MAGNITUDE)], MAGNITUDE)
        for name in MAGNITUDE[:4] + MAGNITUDE[5:]:
            self.assert_agrees(rows[name])
            self.assertIs(rows[name]["holds"], True)
        self.assertLess(abs(rows["var_w"]["theory"] - 0.1953), 5e-5)
        self.assertLess(abs(rows["p_outside_10_90"]["theory"] - 0.756), 5e-5)
        self.assertEqual(rows["modes"]["theory"], 2)
        self.assertEqual(rows["modes"]["measured"], 2)
        self.assertEqual((rows["modes"]["se"], rows["modes"]["z"]), (0, None))

    def test_it_is_the_theory_of_these_parameters(self):
        for n, C, sigma2 in ((2, 3, 0.5), (1000, 7, 0.5), (50, 4, 0.1)):
            args = "--n", n, "--C", C, "--sigma2", sigma2, "--trials", 20000
            rows = self.given("magnitude", *map(str, args))
            for name in MAGNITUDE[:4]:
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
        self.assertTrue(all(list(row) == KEYS + MORE for row in rows))
        first = [row["params"]["C"] for row in rows[: len(MAGNITUDE)]]
        self.assertEqual(first, [9.0] * len(MAGNITUDE))
        self.assertGreater(len({row["params"]["C"] for row in rows}), 8)
        for row in rows:
            if row["z"] is not None:
                self.assert_agrees(row)

    def test_a_copy_is_of_a_or_of_b(self):
        """A leak is not a copy: at C = 1 p_a is often below .1, but no weight reaches .9."""
        rows = self.given("magnitude", "--C", "1", "--n", "10")
        self.assertGreater(rows["p_outside_10_90"]["theory"], 0.12)
        self.assertLess(rows["p_copy_90"]["theory"], 1e-3)
        self.assertLess(rows["p_copy_90"]["measured"], 1e-3)
        for n, C, sigma2 in ((10, 1, 0.5), (10, 4, 0.5), (1000, 9, 0.3), (2, 3, 1)):
            args = "--n", n, "--C", C, "--sigma2", sigma2
            rows = self.given("magnitude", *map(str, args))
            law, low = LAB.law_one_head(n, C, sigma2), 1 - 0.9 * (1 + (n - 2) * math.exp(-C))
            copies = 1 - LAB.weight_cdf(law, 0.9)
            copies += LAB.weight_cdf(law, low) if low > 0 else 0
            self.assertLess(abs(rows["p_copy_90"]["theory"] - copies), 1e-12, args)
            for name in "p_copy_90", "mean_error":
                self.assertIs(rows[name]["holds"], True, (name, args))

    def test_the_error_of_c_is_not_only_the_distance_from_one_half(self):
        rows = self.given("magnitude", "--C", "0.5", "--n", "10")
        self.assertAlmostEqual(rows["mean_error"]["theory"], 0.558, delta=5e-4)
        product = rows["mean_abs_dev"]["theory"] * math.sqrt(2)
        self.assertAlmostEqual(product, 0.493, delta=5e-4)
        self.assert_agrees(rows["mean_error"])

    def test_the_error_of_c_is_exact(self):
        """By mpmath to 40 digits; at n = 2 it is sqrt(2) E|w - 1/2|."""
        known = (
            (10, 10, 0.5, 0.599095656215352499),
            (10, 1000, 0.5, 0.706000681196371209),
            (3, 5, 0.5, 0.502916562585761746),
            (1000, 7, 0.5, 0.495502715921860367),
            (2, 1000, 100, 0.707028567903737323),
        )
        for n, C, sigma2, error in known:
            args = "--n", n, "--C", C, "--sigma2", sigma2, "--trials", 100
            rows = self.given("magnitude", *map(str, args))
            self.assertLess(abs(rows["mean_error"]["theory"] - error), 1e-12, args)
        product = math.sqrt(2) * rows["mean_abs_dev"]["theory"]
        self.assertLess(abs(product - error), 1e-12)


class Rounding(LabTest):
    """f32 rounding errors are not compared with theory, and are not reported as chance."""

    def test_scores_that_are_all_0(self):
        for args in (
            ("window", "--C", "0"),
            ("heads", "--C", "0", "--alpha", "0.01"),
            ("magnitude", "--C", "0", "--alpha", "0.01"),
            ("remedies", "--C", "0", "--alpha", "0.01"),
            ("phases", "--n", "4096", "--S", "1e-6"),
        ):
            rows = self.given(*args, "--trials", "300")
            self.assertTrue(any(row["holds"] for row in rows.values()), args)
            for row in rows.values():
                self.assertIsNot(row["holds"], False, (args, row))
                self.assertIsNone(row["z"], (args, row))

    def test_spreads_below_those_of_f32_claim_nothing(self):
        for C in (1e-6, 1e-5):
            rows = self.given("window", "--n", "2", "--C", str(C), "--trials", "20000")
            # Var of logistic(Y), Y ~ N(0, 4 alpha C^2), is that / 16 to 1e-12 here.
            expected = 4 * 0.01 * C * C / 16
            self.assertAlmostEqual(rows["var_w"]["theory"] / expected, 1, 9)
            self.assertIsNone(rows["var_w"]["holds"])
            self.assertIsNone(rows["var_w"]["z"])
            self.assertIs(rows["mean_w"]["holds"], True)

    def test_spreads_above_are_judged(self):
        rows = self.given("window", "--n", "2", "--C", "0.1", "--trials", "20000")
        for name in ("var_w", "mse", "abs_dev_share", "var_score_gap"):
            self.assert_agrees(rows[name])


class Sentences(LabTest):
    """Sentences below the table are true at the parameters of the run."""

    def said(self, *args):
        text = self.succeed("lab", *args, "--no-sweep")
        return " ".join(text.split("forms: ")[1].split()[1:])

    def test_one_vs_two(self):
        args = "one-vs-two", "--alpha", "1", "--C", "100", "--trials", "4000"
        rows, said = self.given(*args), self.said(*args)
        for name, words in (("mse_one", "with one head"), ("mse_two", "with two")):
            self.assertIn(f"{rows[name]['measured']:.3g} {words}", said)
        self.assertIn("two heads come closer", said)
        self.assertNotIn("tend", said)
        # Phi(-1/sigma)/4 (1 + 1/(n-1)) and 1/2, at n = 10 and sigma2 = 1/2.
        limit = 0.5 * math.erfc(1) / 4 * (1 + 1 / 9)
        said = self.said("one-vs-two", "--trials", "4000")
        self.assertIn(f"tend to 0.5 with one head and {limit:.3g} with two", said)

    def test_remedies(self):
        args = "remedies", "--noisy", "both", "--C", "50", "--trials", "40000"
        said = self.said(*args)
        for remedy in ("plain", "two-heads"):
            row = self.given(*args, "--remedy", remedy)["var_a"]
            self.assertIs(row["holds"], True)
            self.assertIn(f"{remedy} {row['theory']:.3g}", said)
        self.assertNotIn("as steady as", said)

    def test_average(self):
        for args, m in ((("--m", "4"), 4), ((), 2)):
            said = self.said("average", "--n", "10", *args)
            beta = math.log((10 - m) * 0.99 / (m * 0.01))
            self.assertIn(f"{m} keys equally", said)
            self.assertIn(f"the {10 - m} others", said)
            self.assertIn(f"most 0.01 takes a beta of {beta:.4g}", said)
        self.assertIn("nothing leaks at any scale", self.said("average", "--n", "2"))

    def test_window(self):
        said = self.said("window", "--n", "2", "--alpha", "0", "--C", "0.1")
        self.assertIn("Of two keys nothing leaks at any C, and nothing is noisy", said)
        self.assertIn("the mean leak is 0, and Var w = 0,", said)
        said = self.said("window", "--trials", "1000")
        self.assertIn(f"from C = {math.log(8 * 0.99 / 0.02):.3g} on", said)
        self.assertIn("small while C << 5.", said)

    def test_a_bottleneck_hands_through_no_fewer_than_0(self):
        args = "variants", "--n", "3", "--m", "1", "--beta", "3"
        rows = self.given(*args)
        # R = 1 p^T: the error is 3 |p|^2 - 2 sum p + 3 = 3 |p|^2 + 1, above n = 3.
        p = math.exp(3) / (math.exp(3) + 2)
        error = 3 * (p * p + (1 - p) ** 2 / 2) + 1
        self.assertGreater(error, 3)
        self.assertAlmostEqual(rows["bottleneck_error"]["measured"], error, 10)
        self.assertEqual(rows["bottleneck_copied"]["measured"], 0)
        self.assertIs(rows["bottleneck_copied"]["holds"], True)


class Rare(LabTest):
    def test_means_that_few_draws_decide(self):
        for args, name, most in (
            (("magnitude", "--n", "2", "--sigma2", "100"), "mean_abs_dev", 0.5),
            (("magnitude", "--n", "2", "--sigma2", "100"), "mean_error", 1.5**0.5),
            (("window", "--n", "100", "--alpha", "100"), "abs_dev_share", 0.5),
        ):
            row = self.given(*args, "--C", "1000", "--trials", "4000")[name]
            self.assertTrue(row["rare"], row)
            self.assertIs(row["holds"], True, row)
            self.assertTrue(row["low"] <= row["theory"] <= row["high"] <= most, row)
            self.assertLess(row["high"] - row["low"], 0.05, row)

    def test_few_events_are_marked_and_have_an_interval(self):
        row = self.given("magnitude", "--C", "1", "--trials", "50000")["p_copy_90"]
        self.assertTrue(row["rare"])
        self.assertIsNone(row["z"])
        self.assertTrue(row["low"] <= row["measured"] <= row["high"])
        self.assertTrue(row["low"] <= row["theory"] <= row["high"])
        many = self.given("magnitude", "--trials", "50000")["p_copy_90"]
        self.assertEqual((many["rare"], many["low"], many["high"]), (False, None, None))

    def test_a_mean_that_rests_on_few_trials(self):
        """A leak of mostly 1e-4 and, in a few trials, near 1."""
        rows = self.given("window", "--alpha", "0.03", "--n", "3", "--trials", "500")
        leak = rows["mean_leak"]
        self.assertTrue(leak["rare"])
        self.assertTrue(leak["low"] <= leak["theory"] <= leak["high"])
        self.assertIs(leak["holds"], True)

    def test_limits_claim_nothing(self):
        rows = self.rows("phases", "--S", "3.5", "--trials", "200", "--no-sweep")
        limits = [row for row in rows if row["kind"] == "asymptotic"]
        self.assertTrue(limits)
        for row in limits:
            self.assertIsNone(row["holds"])
            self.assertIsNone(row["z"])
            off = abs(row["measured"] - row["theory"]) / abs(row["theory"])
            self.assertAlmostEqual(row["distance"], off, places=12)
        entropy = next(row for row in limits if row["quantity"] == "entropy_limit")
        self.assertGreater(entropy["distance"], 1)

    def test_the_count_is_of_the_rows(self):
        args = "phases", "--n", "256", "--trials", "100"
        rows = self.rows(*args)
        text = self.succeed("lab", *args)
        exact = [r["holds"] for r in rows if r["kind"] == "exact" and r["holds"] is not None]
        bounds = [r["holds"] for r in rows if r["kind"] == "bound"]
        limits = [r for r in rows if r["kind"] in ("asymptotic", "first-order")]
        self.assertIn(
            f"within 4 se of theory: {sum(exact)} of {len(exact)} rows; "
            f"bounds held: {sum(bounds)} of {len(bounds)}; "
            f"limits and first-order forms: {len(limits)}",
            " ".join(text.split()),
        )

    def test_shares_of_weights_that_underflow(self):
        """At C = 1000 p_a and p_b are often both 0 in floats; their scores are not."""
        rows = self.given("window", "--alpha", "1", "--C", "1000", "--trials", "20000")
        cdf = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))
        outside = 2 * cdf(-math.log(9) / 2000)
        row = rows["p_share_outside_10_90"]
        self.assertAlmostEqual(row["theory"], outside, places=6)
        self.assertTrue(row["rare"] and row["low"] <= outside <= row["high"], row)
        self.assertAlmostEqual(rows["var_score_gap"]["theory"], 4e6, delta=1)
        for name in ("var_share", "abs_dev_share", "var_score_gap"):
            self.assertIs(rows[name]["holds"], True, rows[name])


class Captions(LabTest):
    """Sentences below figures and rows are true at the parameters of the run."""

    def captions(self, *args):
        self.succeed("lab", *args, "--trials", "2000", "--svg", "f.svg")
        text = " ".join(ElementTree.fromstring(harness.read(self.path("f.svg"))).itertext())
        return " ".join(text.split())

    def test_magnitude_with_isotropic_noise(self):
        text = self.captions("magnitude", "--n", "6", "--alpha", "0.5")
        self.assertIn(f"{LAB.window_limit(6, 0.5, 0.5).variance[0]:.3g}", text)

    def test_heads_say_what_was_measured(self):
        args = "lab", "heads", "--no-sweep"
        bad = self.succeed(*args, "--queries", "plus-minus", "--C", "2")
        bad = " ".join(bad.split())
        self.assertIn("two heads come less near to the average than one", bad)
        self.assertRegex(bad, r"average 0\.2[12]\d* with two heads, 0\.1[45]\d* with one")
        good = " ".join(self.succeed(*args, "--C", "10").split())
        self.assertIn("two heads come nearer to the average than one", good)

    def test_capacity_of_two_targets(self):
        self.assertIn("the two queries are the same", self.captions("capacity", "--m", "2"))
        self.assertIn("pinv evens them out", self.captions("capacity", "--m", "4"))

    def test_window_shows_noise(self):
        rows = self.given("window", "--trials", "2000")
        self.assertGreater(rows["var_w"]["params"]["alpha"], 0)
        self.assertGreater(rows["var_w"]["measured"], 0.05)


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
        for args in (["magnitude"], ["heads", "--alpha", "0.001", "--n", "16", "--no-sweep"]):
            outputs = {
                self.succeed("lab", *args, "--trials", "3000", "--json", "--threads", t) for t in ("1", "3")
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
            self.assertEqual(line["kind"], row["kind"])
            self.assertEqual(line["holds"], json.dumps(row["holds"]).replace("null", ""))
            self.assertEqual(line["rare"], str(int(row["rare"])))
            for key in ("theory", "measured", "se", "z", "low", "high", "distance"):
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
        text = harness.read(self.path("out.svg"))
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
            self.refuse("lab", "heads", "--queries", queries, says=["--queries", queries, "2a-b,3b"])

    def test_files_that_cannot_be_written(self):
        for path in ("no/such/dir.svg", ".", "/dev/null/x"):
            self.refuse("lab", "magnitude", "--svg", path, says=["--svg", path])

    def test_a_full_disk_is_a_failure(self):
        self.say_to_full("lab", "magnitude", "--trials", "1000")


class Stopping(LabTest):
    def test_ctrl_c_ends_with_what_was_measured(self):
        out, err = self.stop("lab", "magnitude", "--trials", "1000000000", "--json")
        self.assertIn("stopped", err.splitlines()[-1])
        rows = {row["quantity"]: row for row in map(json.loads, out.splitlines())}
        self.assertEqual(list(rows)[: len(MAGNITUDE)], MAGNITUDE)
        self.assert_agrees(rows["var_w"])
        self.assertLess(rows["var_w"]["se"], 2e-3)

    def test_a_long_run_says_so_first(self):
        args = "lab", "magnitude", "--n", "1000000", "--alpha", "1", "--no-sweep"
        out, cost, stopped = self.stop_when_it_says(*args)
        self.assertRegex(cost, r"takes about \d+ minutes, [\d.e+]+ s for every 1000 trials")
        self.assertIn("stopped", stopped)
        self.assertIn("mean_w", out)

    def test_what_lasts_seconds_says_nothing(self):
        """Regression: trials of some seconds were reported to take minutes."""
        for args in (
            ("magnitude", "--trials", "1000000"),
            ("window", "--n", "100", "--C", "1000", "--alpha", "100", "--trials", "30000"),
        ):
            done = self.attend("lab", *args, "--no-sweep")
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_no_flag_is_advised_that_is_given(self):
        for flag in ("--no-sweep", "--json"):
            args = "lab", "magnitude", "--trials", "1000000000", flag
            _, cost, _ = self.stop_when_it_says(*args)
            self.assertIn("--trials", cost)
            self.assertEqual("--no-sweep" in cost, flag == "--json")

    def test_a_short_run_says_nothing(self):
        done = self.attend("lab", "magnitude", "--trials", "1000")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
