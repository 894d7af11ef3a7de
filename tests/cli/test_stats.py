# SPDX-License-Identifier: MIT
"""`attend stats` against dense weights in double."""

import numpy as np

import dense_stats
from dense_stats import NAMES
from stats_case import CHARACTERS, QK, StatsTest


class Rows(StatsTest):
    def test_dtypes_and_layouts(self):
        for dtype in "f64", "f32", "f16", "bf16":
            for layout in "bhld", "blhd":
                with self.subTest(dtype=dtype, layout=layout):
                    self.check_rows(self.problem(dtype=dtype, layout=layout))

    def test_gqa(self):
        for hq, hkv in (1, 1), (6, 2), (6, 6):
            self.check_rows(self.problem(hq=hq, hkv=hkv))

    def test_causal_and_windows(self):
        p = self.problem(nq=9, nk=12)
        for causal in "none", "top-left", "bottom-right":
            self.check_rows(p, "--causal", causal, causal=causal)
            self.check_rows(p, *("--causal", causal, "--window-left", "2"), causal=causal, left=2)
        offset = {"causal": "offset", "offset": [-3, 20]}
        self.check_rows(p, "--causal", "offset:-3,20", **offset)
        self.check_rows(p, "--window-left=1", "--window-right=3", left=1, right=3)

    def test_masks_biases_and_scores(self):
        rng = np.random.default_rng(7)
        p = self.problem()
        mask = rng.random((2, 4, 5, 7)) < 0.5
        mask[0, 0, 2] = False
        self.save("m.npy", mask)
        self.check_rows(p, "--mask", "m.npy", mask=mask)
        bias = rng.standard_normal((5, 7))
        bias[2], bias[3, 1:] = -np.inf, -np.inf
        self.save("b.npy", bias)
        self.check_rows(p, "--bias", "b.npy", bias=bias)
        slopes = np.array([0.5, 0.25, 0.1, 0])
        self.save("a.npy", slopes)
        self.check_rows(p, "--alibi", "a.npy", "--scale", "2", alibi=slopes, scale=2.0)
        self.check_rows(p, "--softcap", "0.7", softcap=0.7)

    def test_sinks_change_nothing(self):
        p = self.problem()
        self.save("s.npy", np.array([0.5, -1.0, 30, -np.inf]))
        self.check_rows(p, "--sinks", "s.npy", sinks="ignored")

    def test_an_empty_row_has_no_maximum(self):
        p = self.problem()
        got = self.objects(*p.args, "--key-lengths", "0,1", "--rows", "--json")
        empty, single = got[0], got[-1]
        self.assertEqual((empty["b"], empty["max"], empty["lse"]), (0, None, None))
        for name in NAMES[2:]:
            self.assertEqual(empty[name], 0, name)
        self.assertEqual((single["b"], single["margin"]), (1, None))
        self.assertEqual((single["entropy"], single["top_weight"]), (0, 1))
        self.check_rows(p, "--key-lengths", "0,1", lengths=[0, 1])

    def test_nan_is_null(self):
        p = self.problem()
        p.values[0][0, 1, 2] = np.nan
        self.save("q.npy", p.values[0].astype("f4"))
        for r in self.objects(*p.args, "--rows", "--json"):
            bad = (r["b"], r["h"], r["i"]) == (0, 1, 2)
            self.assertEqual([r[name] is None for name in NAMES], [bad] * len(NAMES))

    def test_top(self):
        p = self.problem(nq=9, nk=12)
        flags = "--causal", "top-left"
        _, weights = dense_stats.rows(*p.values, causal="top-left")
        for k in 1, 3, 8:
            for r in self.objects(*p.args, *flags, "--rows", "--json", "--top", k):
                w = weights[r["b"], r["h"], r["i"]]
                order = np.argsort(-w, kind="stable")[: min(k, r["i"] + 1)]
                self.assertEqual([key for key, _ in r["top"]], order.tolist())
                self.near([weight for _, weight in r["top"]], w[order])

    def test_table(self):
        p = self.problem()
        text = self.succeed(*p.args, "--rows", "--top", "2").splitlines()
        self.assertEqual(text[0].split()[:4], ["b", "h", "i", "keys"])
        want, weights = dense_stats.rows(*p.values)
        for line, ((b, h, i), row) in zip(text[1:41], want.items()):
            words = line.split()
            self.assertEqual(words[:3], [str(b), str(h), str(i)])
            shown = ["keys", *NAMES[:2], *NAMES[2:]]
            for name, word in zip(shown, words[3:17]):
                self.assertAlmostEqual(float(word), row[name], delta=6e-4, msg=name)
            best = np.argsort(-weights[b, h, i])[:2]
            self.assertEqual([w.split(":")[0] for w in words[17:]], [str(x) for x in best])
        self.assertEqual(text[41], "")

    def test_threads_change_nothing(self):
        p = self.problem(nq=70, nk=90, d=16)
        flags = "--causal", "bottom-right", "--rows", "--json", "--top", "4"
        one = self.succeed(*p.args, *flags, "--threads", "1")
        for threads in "2", "5":
            self.assertEqual(one, self.succeed(*p.args, *flags, "--threads", threads))


class Heads(StatsTest):
    def test_means_over_rows(self):
        p = self.problem(nq=20, nk=20, d=8)
        want, weights = dense_stats.rows(*p.values, causal="top-left", lengths=[20, 3])
        flags = "--causal top-left --key-lengths 20,3 --json --top 2"
        got = self.objects(*p.args, *flags.split())
        self.assertEqual([(g["b"], g["h"]) for g in got], [(b, h) for b in range(2) for h in range(4)])
        for g in got:
            rows = [w for (b, h, _), w in want.items() if (b, h) == (g["b"], g["h"])]
            choice = [w for w in rows if w["keys"] > 1]
            self.assertEqual(g["rows"], 20)
            for name in ["keys", "second_previous", "raw_mean", *NAMES]:
                over = choice if name == "margin" else rows
                self.near(g[name], np.mean([w[name] for w in over]), name)
            share = [w["entropy"] / np.log(w["keys"]) for w in choice]
            self.near(g["entropy_share"], np.mean(share))
            self.near(g["raw_sd"], np.mean([w["raw_variance"] ** 0.5 for w in rows]))
            best = np.sort(weights[g["b"], g["h"]])[:, ::-1]
            self.near(g["top_mass"], [best[:, :1].mean(), best[:, :2].sum(1).mean()])
            said = g["summary"]["entropy_share"]
            self.near([said["mean"], said["sd"]], [np.mean(share), np.std(share)])
            self.assertEqual(said["histogram"], np.histogram(share, 64, (0, 1))[0].tolist())
            self.assertEqual(g["summary"]["n_eff_share"]["rows"], 20)
            self.assertIn(g["character"], CHARACTERS)
            self.assertRegex(g["reason"], r"\d")

    def test_values(self):
        p = self.problem(nb=1, hq=2, hkv=1)
        (got, _) = self.objects(*p.args, "--json")
        _, weights = dense_stats.rows(*p.values)
        v, w = p.values[2][0, 0], weights[0, 0]
        norm = w @ np.linalg.norm(v, axis=1)
        self.near(got["value_norm"], norm.mean())
        self.near(got["cancellation"], (np.linalg.norm(w @ v, axis=1) / norm).mean())
        without = self.objects("stats", *QK, "--json")[0]
        self.assertEqual(set(got) - set(without), {"value_norm", "cancellation"})
        for name in NAMES:
            self.near(without[name], got[name])

    def test_no_rows(self):
        for size in {"nq": 0}, {"nk": 0}:
            p = self.problem(nb=1, hq=1, hkv=1, **size)
            (got,) = self.objects(*p.args, "--json")
            self.assertEqual((got["rows"], got["keys"], got["character"]), (0, None, "mixed"))
        p = self.problem(nb=0)
        self.assertEqual(self.succeed(*p.args, "--json"), "")

    def test_table(self):
        p = self.problem()
        text = self.succeed(*p.args, "--top", "2").splitlines()
        for word in "keys", "H/ln n", "exp H", "N_eff", "margin", "character", "top 2":
            self.assertIn(word, text[0])
        heads = self.objects(*p.args, "--top", "2", "--json")
        for line, g in zip(text[1:], heads):
            words = line.split()
            self.assertEqual(words[:2], [str(g["b"]), str(g["h"])])
            shown = [g[x] for x in "keys entropy_share keys_eff n_eff top_weight".split()]
            shown += [g[x] for x in "margin sink1 self previous distance".split()]
            shown.append(g["top_mass"][1])
            for word, value in zip(words[2:], shown):
                self.assertAlmostEqual(float(word), value, delta=6e-4)
            self.assertTrue(line.endswith(f"  {g['character']}: {g['reason']}"), line)
        self.assertEqual(len(text), 1 + len(heads) + 2)


class Characters(StatsTest):
    """Heads with given scores: q and k are 0, and the bias has the scores."""

    def heads(self, bias, *flags):
        n = bias.shape[-1]
        self.save("q.npy", np.zeros((len(bias), n, 2), "f4"))
        self.save("k.npy", np.zeros((1, n, 2), "f4"))
        self.save("b.npy", bias.astype("f4"))
        return self.objects("stats", *QK, "--bias", "b.npy", "--json", *flags)

    def test_made_heads(self):
        n, rng = 128, np.random.default_rng(8)
        i, j = np.arange(n)[:, None], np.arange(n)[None, :]
        target = rng.permutation(n)[:, None]
        pair = (j == target) | (j == (target + 50) % n)
        three = pair | (j == (target + 90) % n)
        made = {
            "diffuse": 0.1 * rng.standard_normal((n, n)),
            "previous token": 15.0 * (j == i - 1),
            "sink": 8.0 * (j == 0),
            "local": -np.abs(i - j) / 2,
            "copy": 12.0 * (j == target),
            "fragile pair": 15.0 * pair,
            "average": 15.0 * three,
            "frozen": 5.0 * rng.standard_normal((n, n)),
            "mixed": 1.5 * rng.standard_normal((n, n)),
        }
        got = self.heads(np.array([np.broadcast_to(x, (n, n)) for x in made.values()]))
        self.assertEqual([g["character"] for g in got], list(made))
        self.assertIn("3 keys hold", got[list(made).index("average")]["reason"])

    def test_noise_decides_on_pairs(self):
        n = 64
        j = np.arange(n)
        bias = np.where(j == 20, 10.0, np.where(j == 50, 9.5, 0))[None, None].repeat(n, 1)
        # sd of the difference: noise * sqrt(10^2 + 9.5^2) = noise * 13.79
        for noise, character in ("0.03", "average"), ("0.04", "fragile pair"):
            (got,) = self.heads(bias, "--noise", noise)
            self.assertEqual(got["character"], character)


class Second(StatsTest):
    RULES = (
        ([], {}),
        (["--causal", "bottom-right"], {"causal": "bottom-right"}),
        (["--window-left", "2"], {"left": 2}),
        (["--key-lengths", "0,5"], {"lengths": [0, 5]}),
    )

    def test_columns(self):
        p = self.problem(nq=9, nk=12)
        for flags, rule in self.RULES:
            _, weights = dense_stats.rows(*p.values, **rule)
            got = self.objects(*p.args, *flags, "--columns", "--last", "3", "--json")
            for g in got:
                w = weights[g["b"], g["h"]]
                self.near(g["column_mass"], w.sum(0))
                self.near(g["column_max"], w.max(0))
                self.near(g["column_last"], w[-3:].sum(0))

    def test_columns_in_a_table(self):
        p = self.problem(nq=9, nk=12)
        _, weights = dense_stats.rows(*p.values)
        text = self.succeed(*p.args, "--columns", "--last", "2").split("\n\n")
        self.assertEqual(len(text), 4)
        for part, some in (text[1], weights), (text[2], weights[:, :, -2:]):
            rows = part.splitlines()[1:]
            for line, (b, h) in zip(rows, np.ndindex(2, 4), strict=True):
                mass = some[b, h].sum(0)
                best = np.argsort(-mass)[:8]
                words = line.split()
                self.assertEqual(words[:2], [str(b), str(h)])
                for word, key in zip(words[2:], best):
                    shown, value = word.split(":")
                    self.assertEqual(int(shown), key)
                    self.assertAlmostEqual(float(value), mass[key], delta=1e-3)
                self.assertEqual(len(words), 10)

    def test_columns_of_nan_come_last(self):
        p = self.problem(nq=9, nk=12)
        bias = np.zeros((2, 4, 9, 12), "f4")
        bias[..., 0, 4] = np.nan
        np.save(self.path("bias.npy"), bias)
        np.save(self.path("mask.npy"), np.arange(9 * 12).reshape(1, 1, 9, 12) > 3)
        _, weights = dense_stats.rows(*p.values)
        flags = ["--bias", "bias.npy", "--mask", "mask.npy", "--columns"]
        text = self.succeed(*p.args, *flags).split("\n\n")
        for line, (b, h) in zip(text[1].splitlines()[1:], np.ndindex(2, 4), strict=True):
            keys = [int(word.split(":")[0]) for word in line.split()[2:]]
            mass = weights[b, h, 1:].sum(0)
            self.assertEqual(keys[:4], sorted(range(4), key=lambda j: -mass[j]))
            self.assertTrue(all(word.endswith("nan") for word in line.split()[6:]))

    def test_raw_moments_of_a_huge_finite_bias(self):
        p = self.problem(nq=9, nk=300)
        low = np.finfo("f4").min
        bias = np.where(np.arange(300) < 200, low, 0).astype("f4").reshape(1, 1, 1, 300)
        np.save(self.path("bias.npy"), bias)
        for g in self.objects(*p.args, "--bias", "bias.npy", "--json"):
            self.assertAlmostEqual(g["raw_mean"] / (float(low) * 2 / 3), 1, delta=1e-5)
            variance = float(low) ** 2 * 2 / 9
            self.assertAlmostEqual(g["raw_variance"] / variance, 1, delta=1e-5)

    def test_zoom(self):
        p = self.problem(nq=9, nk=12)
        for flags, rule in self.RULES:
            _, weights = dense_stats.rows(*p.values, **rule)
            for r0, r1, c0, c1 in (0, 9, 0, 12), (2, 3, 4, 5), (5, 9, 1, 7):
                zoom = f"{r0}:{r1},{c0}:{c1}"
                for g in self.objects(*p.args, *flags, "--zoom", zoom, "--json"):
                    want = weights[g["b"], g["h"], r0:r1, c0:c1]
                    self.assertEqual(np.shape(g["zoom"]), want.shape)
                    self.near(g["zoom"], want)

    def test_zoom_in_a_table(self):
        p = self.problem(nb=1, hq=1, hkv=1, nq=9, nk=12)
        _, weights = dense_stats.rows(*p.values)
        part = self.succeed(*p.args, "--zoom", "2:5,3:9").split("\n\n")[1].splitlines()
        self.assertEqual(part[1].split(), [str(x) for x in range(3, 9)])
        for line, i in zip(part[2:], range(2, 5), strict=True):
            words = line.split()
            self.assertEqual(words[0], str(i))
            got = [float(x) for x in words[1:]]
            np.testing.assert_allclose(got, weights[0, 0, i, 3:9], atol=6e-4)

    def test_sinks_change_nothing(self):
        p = self.problem()
        self.save("s.npy", np.array([0.5, -1.0, 30, -np.inf]))
        flags = "--columns", "--zoom", "0:5,0:7", "--json"
        self.assertEqual(self.succeed(*p.args, *flags, "--sinks", "s.npy"), self.succeed(*p.args, *flags))
