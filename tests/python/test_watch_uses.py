# SPDX-License-Identifier: MIT
"""attend.watch: generation, noise and phases, refusals, plots."""

import copy
import pickle
import unittest
import unittest.mock

import torch
import transformers as hf
from eager_weights import CLOSE, Words, columns, eager, pattern_scores, sharp, watched, weights
from setting import np
from tiny_models import DECODERS, ENCODERS, SIZES, TRANSLATORS, VISIONS, build, tokens

import attend
import attend.torch
from attend._watch_measure import COLUMNS


class Generation(unittest.TestCase):
    def compare(self, entry, **more):
        model, ids = sharp(entry), 3 + tokens(batch=1, length=12) % 7
        with attend.watch(model, Words()) as w:
            out = model.generate(ids, max_new_tokens=6, min_new_tokens=6, do_sample=False, **more)
        dense = [weights(p) for p in eager(model, input_ids=out[:, :-1]).attentions]
        found = {(line["layer"], line["head"]): line for line in w.detect()}
        for layer, p in zip(w.layers, dense):
            expected = columns(p)
            scores = pattern_scores(p, out[:, :-1].numpy())
            for h in range(layer.heads):
                rows = w.rows(layer.index, h)
                self.assertEqual([row["token"] for row in rows], out[0, :-1].tolist())
                self.assertEqual([row["step"] for row in rows], [0] * 12 + [1, 2, 3, 4, 5])
                for name in COLUMNS:
                    if name != "max":
                        np.testing.assert_allclose(
                            [row[name] for row in rows], expected[name][0, h], **CLOSE, err_msg=name
                        )
                got = [found[layer.index, h][k] for k in ("previous_token", "duplicate_token", "induction")]
                np.testing.assert_allclose(got, [score[h] for score in scores], **CLOSE)
        return w

    def test_every_token_has_its_row(self):
        self.compare(DECODERS["llama"])
        self.compare(DECODERS["qwen3"], cache_implementation="static")

    def test_maps_of_single_queries(self):
        model = build(DECODERS["llama"])
        with attend.watch(model) as w:
            model.generate(tokens(batch=1, length=5), max_new_tokens=3, min_new_tokens=3, do_sample=False)
        self.assertEqual(w.map(0, 0).shape, (5, 5))
        with self.assertRaisesRegex(ValueError, "single queries"):
            w.map(0, 0, step=1)

    def test_two_texts_are_two_sequences(self):
        model = sharp(DECODERS["llama"])
        a, b = 3 + tokens(batch=1, length=20) % 7, 3 + tokens(batch=1, length=30, seed=3) % 7
        with attend.watch(model, Words()) as w:
            model(input_ids=a)
            model(input_ids=b)
        both = [[weights(eager(model, input_ids=ids).attentions[0]), ids.numpy()] for ids in (a, b)]
        scores = [pattern_scores(p, ids)[2] for p, ids in both]
        self.assertAlmostEqual(
            w.detect()[1]["induction"], (20 * scores[0][1] + 30 * scores[1][1]) / 50, places=4
        )

    def test_beams_move_their_tokens(self):
        model, ids = sharp(DECODERS["llama"]), 3 + tokens(batch=1, length=12) % 7
        seen = []
        with attend.watch(model, Words()) as w:
            w.on_call = lambda layer: seen.append((layer.calls[-1], layer.calls[-1].tokens.ids.copy()))
            model.generate(ids, max_new_tokens=6, min_new_tokens=6, num_beams=3, do_sample=False)
        self.assertEqual(len(seen), 12)
        for record, now in seen[::2]:
            dense = weights(eager(model, input_ids=torch.from_numpy(now)).attentions[0])
            np.testing.assert_allclose(
                record.column("entropy")[:, :, -1], columns(dense)["entropy"][:, :, -1], **CLOSE
            )

    def test_translator(self):
        model = sharp(TRANSLATORS["bart"])
        with attend.watch(model, Words()) as w:
            model.generate(tokens(batch=1, length=9), max_new_tokens=5, min_new_tokens=5, do_sample=False)
        self.assertEqual([layer.label for layer in w.layers][:3], ["encoder 0", "encoder 1", "decoder 0"])
        self.assertEqual(len(w.rows(0, 0)), 9)
        self.assertEqual(len(w.rows(2, 0)), 5)
        self.assertEqual([row["keys"] for row in w.rows(3, 0)], [9] * 5)


class Noise(unittest.TestCase):
    def setUp(self):
        model = sharp(DECODERS["llama"])
        with attend.watch(model, keep="qkv") as self.w:
            model(input_ids=tokens(batch=1, length=50))
        self.call = self.w.layers[1].calls[0].kept

    def dense(self, key):
        """Weights and outputs in double."""
        q, k, v = (x.double().numpy()[0] for x in (self.call.query, key, self.call.value))
        k, v = (x.repeat(2, 0) for x in (k, v))
        s = np.where(np.tri(50, dtype=bool), self.call.scale * q @ k.transpose(0, 2, 1), -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        return q, v, p, p @ v

    def test_formulas(self):
        key = self.call.key
        step = key.abs().amax(-1, keepdim=True) / 127
        rounded = (key / step).round() * step
        q, v, p, out = self.dense(key)
        variance = ((rounded - key).double() ** 2).mean((0, 2, 3)).numpy().repeat(2)
        away = ((v[:, None] - out[:, :, None]) ** 2).sum(-1)
        statistic = self.call.scale**2 * (q**2).sum(-1) * (p**2 * away).sum(-1)
        size = (out**2).sum((1, 2))
        moved = ((self.dense(rounded)[3] - out) ** 2).sum((1, 2))
        lines = [line for line in self.w.noise() if line["layer"] == 1]
        np.testing.assert_allclose(
            [line["predicted"] for line in lines], np.sqrt(statistic.sum(1) * variance / size), rtol=1e-3
        )
        np.testing.assert_allclose([line["measured"] for line in lines], np.sqrt(moved / size), rtol=1e-3)

    def test_prediction(self):
        """To first order in the noise: small noise, and a factor for correlated rounding."""
        for kind in "int", "fp8":
            for line in self.w.noise(kind=kind):
                self.assertLess(abs(np.log(line["predicted"] / line["measured"])), np.log(1.6), line)
        coarse, fine = (self.w.noise(bits=bits) for bits in (4, 8))
        for a, b in zip(coarse, fine):
            self.assertGreater(a["predicted"], 5 * b["predicted"])

    def test_refused(self):
        for arguments, says in (
            ({"bits": 9}, "bits = 9"),
            ({"kind": "fp4"}, "kind = 'fp4'"),
            ({"bits": 4, "kind": "fp8"}, "must be 8"),
            ({"kind": 3}, "kind = 3"),
            ({"layers": [0, 2]}, "layer = 2 must be in"),
        ):
            with self.assertRaisesRegex(ValueError, says):
                self.w.noise(**arguments)
        for bits in 2.5, "a":
            with self.assertRaisesRegex(TypeError, f"bits = {bits!r} must be an integer"):
                self.w.noise(bits=bits)

    def test_layers_that_were_kept(self):
        model = build(DECODERS["llama"])
        w = watched(model, tokens(), keep=[1])
        self.assertEqual({line["layer"] for line in w.noise()}, {1})
        with self.assertRaisesRegex(ValueError, "layer 0 was not kept"):
            w.noise(layers=[0])
        w = watched(model, tokens())
        with self.assertRaisesRegex(ValueError, "layer 0 was not kept"):
            w.noise()


class Phases(unittest.TestCase):
    def test_against_drawn_scores(self):
        """Spread and freezing by their formulas; the law by drawing random scores."""
        model, ids = sharp(DECODERS["llama"]), tokens(batch=1, length=60)
        p = weights(eager(model, input_ids=ids).attentions[1])
        w = watched(model, ids)
        spread, n = np.sqrt(columns(p)["raw_variance"][0, 3, 1:]), np.arange(2, 61)
        (line,) = [line for line in w.phases() if (line["layer"], line["head"]) == (1, 3)]
        self.assertAlmostEqual(line["S"], spread.mean(), places=3)
        entropies = [row["entropy"] for row in w.rows(1, 3) if row["keys"] > 1]
        self.assertAlmostEqual(line["entropy"], np.mean(entropies), places=6)
        self.assertAlmostEqual(line["entropy"] * 59 / 60, w.lines()[7]["entropy"], places=6)
        self.assertAlmostEqual(line["freezing"], np.sqrt(2 * np.log(n)).mean(), places=5)
        self.assertEqual(line["condensed"], line["S"] > line["freezing"])
        rng = np.random.default_rng(5)
        drawn = []
        for keys, s in zip(n, spread):
            e = np.exp(s * rng.standard_normal((400, keys)))
            q = e / e.sum(1, keepdims=True)
            drawn.append(-(q * np.log(q)).sum(1).mean())
        # Rows are in eight groups, and the mean spread and length of a group represent its rows.
        self.assertAlmostEqual(line["random_entropy"], np.mean(drawn), delta=0.05)


class OwnAttention(torch.nn.Module):
    """Attention that does not call an implementation."""

    def __init__(self, config, layer_idx=0):
        super().__init__()
        self.out = torch.nn.Linear(32, 32)

    def forward(self, hidden_states, **kwargs):
        p = torch.softmax(hidden_states @ hidden_states.transpose(1, 2), -1)
        return self.out(p @ hidden_states), None


class Mixer(OwnAttention):
    def forward(self, hidden_states, **kwargs):
        x = hidden_states[:, None]
        return self.out(torch.nn.functional.scaled_dot_product_attention(x, x, x)[:, 0]), None


class Refusals(unittest.TestCase):
    def test_not_a_model(self):
        with self.assertRaisesRegex(TypeError, "Linear is not a model of transformers"):
            attend.watch(torch.nn.Linear(2, 2))
        with self.assertRaisesRegex(ValueError, "keep = 'all'"):
            attend.watch(build(DECODERS["llama"]), keep="all")

    def test_arguments(self):
        model = build(DECODERS["llama"])
        for more, error, says in (
            ({"keep": 5}, TypeError, "keep = 5 must be None"),
            ({"keep": [0.5]}, TypeError, r"keep = \[0.5\]"),
            ({"keep": [-1]}, ValueError, r"keep = \[-1\]"),
            ({"rows": "a"}, TypeError, "rows = 'a' must be an integer"),
            ({"rows": 0}, ValueError, "rows = 0 must be positive"),
        ):
            with self.assertRaisesRegex(error, says):
                attend.watch(model, **more)
        with self.assertRaisesRegex(ValueError, r"keep = \[1, 99\]: the layers are 0 .. 1"):
            with attend.watch(model, keep=(99, 1)) as w:
                model(input_ids=tokens())
        self.assertEqual({line["layer"] for line in w.noise()}, {1})

    def test_not_copied(self):
        with attend.watch(build(DECODERS["llama"])) as w:
            w.model(input_ids=tokens())
        for make in pickle.dumps, copy.copy, copy.deepcopy:
            with self.assertRaisesRegex(TypeError, "a watch holds its model: it is not pickled or copied"):
                make(w)
        self.assertEqual(len(pickle.loads(pickle.dumps(w.heads()))), 8)

    def test_all_layers_bypass_the_interface(self):
        model = build(DECODERS["llama"])
        for layer in model.model.layers:
            layer.self_attn = OwnAttention(model.config)
        with self.assertRaisesRegex(
            RuntimeError, "nothing was watched: model.layers.0.self_attn .* bypasses"
        ):
            with attend.watch(model, partial=True):
                model(input_ids=tokens())

    def test_one_layer_that_bypasses_the_interface(self):
        for kind, says in (OwnAttention, r"model.layers.1.self_attn \(OwnAttention\) bypasses"), (
            Mixer,
            "scaled_dot_product_attention bypasses",
        ):
            model = build(DECODERS["llama"])
            model.model.layers[1].self_attn = kind(model.config)
            with self.assertRaisesRegex(RuntimeError, says):
                with attend.watch(model):
                    model(input_ids=tokens())
            self.assertEqual(model.config._attn_implementation, "sdpa")
            w = watched(model, tokens(), partial=True)
            self.assertEqual((len(w.layers), len(w.missed)), (1, 1))

    def test_models_with_attention_of_their_own(self):
        for model in (
            hf.XLNetModel(hf.XLNetConfig(vocab_size=97, d_model=32, n_layer=2, n_head=4, d_inner=48)),
            hf.DebertaModel(hf.DebertaConfig(**SIZES, vocab_size=97)),
        ):
            with self.subTest(type(model).__name__), self.assertRaisesRegex(
                (TypeError, RuntimeError), "attention interface"
            ):
                with attend.watch(model.eval()):
                    model(input_ids=tokens())

    def test_a_part_that_bypasses(self):
        """SigLIP pools with torch's own module."""
        model = build(VISIONS["siglip"])
        pixels = torch.randn(1, 3, 32, 32)
        with self.assertRaisesRegex(RuntimeError, "MultiheadAttention"):
            with attend.watch(model):
                model(pixel_values=pixels)
        w = watched(model, {"pixel_values": pixels}, partial=True)
        self.assertEqual(len(w.layers), 2)
        self.assertIn("MultiheadAttention", w.missed[0])

    def test_nothing_ran(self):
        with self.assertRaisesRegex(RuntimeError, "nothing was watched"):
            with attend.watch(build(DECODERS["llama"])):
                pass

    def test_the_implementation_comes_back(self):
        model = build(DECODERS["llama"])
        sdpa = torch.nn.functional.scaled_dot_product_attention
        for before in "sdpa", "eager":
            model.set_attn_implementation(before)
            with self.assertRaises(ZeroDivisionError):
                with attend.watch(model):
                    model(input_ids=tokens())
                    1 / 0
            with self.assertRaises(IndexError):
                with attend.watch(model):
                    model(input_ids=tokens() + 1000)
            self.assertEqual(
                (model.config._attn_implementation, model.model.config._attn_implementation), (before, before)
            )
            self.assertIsNone(attend.transformers.observer)
            self.assertIs(torch.nn.functional.scaled_dot_product_attention, sdpa)
            self.assertFalse(
                any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
            )
            self.assertTrue(model(input_ids=tokens()).logits.requires_grad)

    def test_nested(self):
        a, b = build(DECODERS["llama"]), build(ENCODERS["bert"])
        with attend.watch(a) as first:
            with attend.watch(b) as second:
                a(input_ids=tokens())
                b(input_ids=tokens())
            with self.assertRaisesRegex(RuntimeError, "watched already"):
                attend.watch(a).__enter__()
            a(input_ids=tokens())
            b(input_ids=tokens())
        self.assertEqual([len(w.layers[0].calls) for w in (first, second)], [2, 1])
        self.assertEqual([m.config._attn_implementation for m in (a, b)], ["sdpa", "sdpa"])

    def test_gradients_are_off(self):
        model = build(DECODERS["llama"])
        with attend.watch(model) as w:
            self.assertFalse(model(input_ids=tokens()).logits.requires_grad)
        self.assertTrue(torch.is_grad_enabled())
        self.assertEqual(len(w.layers), 2)

    def test_output_attentions(self):
        model, ids = sharp(DECODERS["llama"]), tokens()
        with attend.watch(model):
            got = model(input_ids=ids, output_attentions=True).attentions
        for mine, theirs in zip(got, eager(model, input_ids=ids).attentions):
            np.testing.assert_allclose(mine, theirs, atol=1e-5)
