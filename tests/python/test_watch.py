# SPDX-License-Identifier: MIT
"""attend.watch: every number against the weights that eager attention returns."""

import unittest
import unittest.mock
import warnings

import torch
from eager_weights import (
    CLOSE,
    Words,
    attend_weights,
    columns,
    eager,
    pattern_scores,
    sharp,
    watched,
    weights,
)
from setting import np
from tiny_models import DECODERS, ENCODERS, TRANSLATORS, VISIONS, build, padding, tokens

import attend
import attend.torch
from attend import transformers as bridge
from attend._watch_measure import MAP_BLOCKS, PLACES


class Rows(unittest.TestCase):
    def check_layer(self, layer, p, cross=False, skip=()):
        (record,) = layer.calls
        expected = columns(p)
        for name, value in expected.items():
            found = record.column(name)
            if cross and name in PLACES:
                self.assertTrue(np.isnan(found).all(), name)
            elif name not in skip:
                np.testing.assert_allclose(found, value, **CLOSE, err_msg=f"{layer.name} {name}")
        np.testing.assert_allclose(record.column("max") - record.lse, np.log(expected["top_weight"]), **CLOSE)
        best = -np.sort(-p, -1)[..., : record.top_weights.shape[-1]]
        np.testing.assert_allclose(record.top_weights[..., : best.shape[-1]], best, **CLOSE)
        at = np.maximum(record.top_keys, 0)
        named = np.where(record.top_keys >= 0, np.take_along_axis(p, at, -1), 0)
        np.testing.assert_allclose(named[..., : best.shape[-1]], best, **CLOSE)

    def watch_and_compare(self, model, inputs, attentions, skip=()):
        w = watched(model, inputs)
        self.assertEqual(len(w.layers), len(attentions))
        for layer, seen in zip(w.layers, attentions):
            self.check_layer(layer, weights(seen), skip=skip)
        return w

    def test_decoders(self):
        for name, entry in DECODERS.items():
            with self.subTest(name):
                model, inputs = sharp(entry), {"input_ids": tokens(length=14)}
                # A chunk restarts with its own first key.
                skip = ("sink1",) if name == "llama4" else ()
                self.watch_and_compare(model, inputs, eager(model, **inputs).attentions, skip)

    def test_encoders(self):
        for name, entry in ENCODERS.items():
            with self.subTest(name):
                model, inputs = sharp(entry), {"input_ids": tokens(length=14)}
                w = self.watch_and_compare(model, inputs, eager(model, **inputs).attentions)
                self.assertEqual({layer.kind for layer in w.layers}, {"self"})

    def test_vision(self):
        model, inputs = sharp(VISIONS["vit"]), {"pixel_values": torch.randn(2, 3, 32, 32)}
        self.watch_and_compare(model, inputs, eager(model, **inputs).attentions)

    def test_a_module_that_is_called_twice_is_two_layers(self):
        model = sharp(ENCODERS["albert"])
        w = watched(model, tokens())
        self.assertEqual([layer.label for layer in w.layers], ["0", "1"])

    def test_encoder_and_decoder(self):
        for name, entry in TRANSLATORS.items():
            with self.subTest(name):
                model = sharp(entry)
                inputs = {"input_ids": tokens(length=11), "decoder_input_ids": tokens(length=7, seed=2)}
                dense = eager(model, **inputs)
                w = watched(model, inputs, Words())
                labels = [
                    "encoder 0",
                    "encoder 1",
                    "decoder 0",
                    "decoder 0 cross",
                    "decoder 1",
                    "decoder 1 cross",
                ]
                self.assertEqual([layer.label for layer in w.layers], labels)
                self.assertEqual(
                    [layer.kind for layer in w.layers], ["self"] * 3 + ["cross", "self", "cross"]
                )
                for layer, p in zip(w.layers[:2], dense.encoder_attentions):
                    self.check_layer(layer, weights(p))
                for layer, p in zip(w.layers[2::2], dense.decoder_attentions):
                    self.check_layer(layer, weights(p))
                for layer, p in zip(w.layers[3::2], dense.cross_attentions):
                    self.check_layer(layer, weights(p), cross=True)
                    self.assertEqual(layer.calls[0].key_tokens.ids.shape, (2, 11))
                found = {(line["layer"], line["head"]): line for line in w.detect()}
                self.assertEqual({layer for layer, _ in found}, {0, 1, 2, 4})
                scores = pattern_scores(
                    weights(dense.decoder_attentions[1]), inputs["decoder_input_ids"].numpy()
                )
                for h in range(4):
                    got = [found[4, h][k] for k in ("previous_token", "duplicate_token", "induction")]
                    np.testing.assert_allclose(got, [score[h] for score in scores], **CLOSE)
                self.assertNotIn(
                    "previous token", {h["character"] for h in w.heads() if h["kind"] == "cross"}
                )

    def test_padding_of_the_encoder_hides_no_query_of_the_decoder(self):
        for name, entry in TRANSLATORS.items():
            with self.subTest(name):
                model = sharp(entry)
                seen = torch.tensor([[0] * 5 + [1] * 6, [1] * 11])
                inputs = {
                    "input_ids": tokens(length=11),
                    "decoder_input_ids": tokens(length=7, seed=2),
                    "attention_mask": seen,
                }
                dense = eager(model, **inputs)
                w = watched(model, inputs, keep="qkv")
                for layer, p in zip(w.layers[3::2], dense.cross_attentions):
                    self.check_layer(layer, weights(p), cross=True, skip=("sink1",))
                    self.assertEqual([len(w.rows(layer.index, 0, b)) for b in (0, 1)], [7, 7])
                for line in w.noise():
                    self.assertLess(abs(np.log(line["predicted"] / line["measured"])), np.log(3))

    def test_means(self):
        model, ids = sharp(DECODERS["llama"]), tokens(length=20)
        dense = columns(weights(eager(model, input_ids=ids).attentions[1]))
        w = watched(model, ids)
        line = w.table().query("layer == 1 and head == 2").iloc[0]
        for name, value in dense.items():
            rows = value[:, 2][np.isfinite(value[:, 2])]
            self.assertAlmostEqual(line[name], rows.mean(), delta=2e-3 * (1 + abs(rows.mean())), msg=name)
        rows = w.rows(1, 2, batch=1)
        self.assertEqual([row["position"] for row in rows], list(range(20)))
        self.assertEqual([row["token"] for row in rows], ids[1].tolist())
        np.testing.assert_allclose([row["entropy"] for row in rows], dense["entropy"][1, 2], **CLOSE)

    def test_characters_are_those_of_the_statistics(self):
        model = sharp(DECODERS["llama"])
        w = watched(model, tokens(batch=1, length=40), keep="qkv")
        call = w.layers[1].calls[0].kept
        heads = attend.stats(call.query, call.key, scale=call.scale, causal="top-left").heads()
        for mine, theirs in zip([h for h in w.heads() if h["layer"] == 1], heads):
            self.assertEqual((mine["character"], mine["head"]), (theirs.character, theirs.head))
            self.assertAlmostEqual(mine["n_eff"], theirs.n_eff, places=4)

    def test_the_model_gives_the_same(self):
        for entry in DECODERS["llama"], DECODERS["llama4"], ENCODERS["bert"]:
            for side in "none", "left", "right":
                model, inputs = sharp(entry), {"input_ids": tokens(), "attention_mask": padding(side)}
                attend.transformers.register()
                model.set_attn_implementation("attend")
                with torch.no_grad():
                    plain = model(**inputs)[0]
                with attend.watch(model, Words(), keep="qkv"):
                    watched = model(**inputs)[0]
                self.assertTrue(torch.equal(plain, watched), (type(model), side))


class Padding(unittest.TestCase):
    def compare_with_alone(self, entry, side):
        """The statistics of a padded text are those of the text alone."""
        model, ids, mask = sharp(entry), tokens(length=17), padding(side)
        alone = ids[1:, 6:] if side == "left" else ids[1:, :-6]
        w = watched(model, {"input_ids": ids, "attention_mask": mask}, Words(), keep="qkv")
        first = watched(model, ids[:1], Words())
        second = watched(model, alone, Words())
        start = 6 if side == "left" else 0
        for layer, one in zip(w.layers, second.layers):
            record, other = layer.calls[0], one.calls[0]
            self.assertEqual(record.counts()[1].sum(), layer.heads * 11)
            np.testing.assert_allclose(record.rows[1, :, start : start + 11], other.rows[0], **CLOSE)
            np.testing.assert_array_equal(
                np.where(other.top_keys[0] >= 0, other.top_keys[0] + start, -1),
                record.top_keys[1, :, start : start + 11],
            )
            cut = slice(start, start + 11)
            np.testing.assert_allclose(record.pooled[1, :, cut, cut], other.pooled[0], **CLOSE)
        for line, a, b in zip(w.detect(), first.detect(), second.detect()):
            for name in "previous_token", "duplicate_token", "induction":
                self.assertAlmostEqual(line[name], (17 * a[name] + 11 * b[name]) / 28, places=4)
        for head in w.heads():
            self.assertEqual(head["rows"], 28)
        for line in w.noise(bits=4):
            self.assertTrue(0 < line["measured"] < 3, line)

    def test_left(self):
        self.compare_with_alone(DECODERS["llama"], "left")

    def test_right(self):
        self.compare_with_alone(DECODERS["llama"], "right")
        self.compare_with_alone(ENCODERS["bert"], "right")

    def test_of_the_other_text(self):
        """A cross-attention layer's keys have padding; its queries have none."""
        for name, entry in TRANSLATORS.items():
            for side in "left", "right":
                with self.subTest(name, side=side):
                    model = sharp(entry)
                    inputs = {
                        "input_ids": tokens(length=17),
                        "attention_mask": padding(side),
                        "decoder_input_ids": tokens(length=7, seed=2),
                    }
                    dense = eager(model, **inputs).cross_attentions
                    w = watched(model, inputs, keep="qkv")
                    for layer, p in zip(w.layers[3::2], dense):
                        expected = columns(weights(p))
                        self.assertEqual([len(w.rows(layer.index, 0, x)) for x in (0, 1)], [7, 7])
                        for column in "keys", "entropy", "n_eff", "top_weight":
                            np.testing.assert_allclose(
                                layer.calls[0].column(column), expected[column], **CLOSE
                            )
                    for line in w.noise(bits=4):
                        self.assertTrue(0 < line["predicted"] < 3, line)

    def test_of_the_other_text_in_generation(self):
        model = sharp(TRANSLATORS["bart"])
        with attend.watch(model, keep="qkv") as w:
            model.generate(
                tokens(length=17),
                attention_mask=padding("left"),
                max_new_tokens=5,
                min_new_tokens=5,
                do_sample=False,
            )
        self.assertEqual([[row["keys"] for row in w.rows(3, 0, x)] for x in (0, 1)], [[17] * 5, [11] * 5])
        self.assertEqual({line["layer"] for line in w.noise()}, {0, 1})


class NotANumber(unittest.TestCase):
    def watched(self, value, heads, **more):
        model = sharp(DECODERS["llama"])
        with torch.no_grad():
            model.model.layers[0].self_attn.q_proj.weight[heads] *= value
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            w = watched(model, {"input_ids": 3 + tokens(batch=1, length=30) % 9, **more}, Words(), keep="qkv")
            return w, w.heads(), w.lines(), w.phases(), w.detect(), w.noise()

    def test_heads(self):
        for value in float("nan"), float("inf"):
            w, *lists = self.watched(value, slice(0, 8))
            for lines, name in zip(lists, ("n_eff", "entropy", "S", "previous_token", "measured")):
                self.assertEqual(
                    [bool(np.isnan(line[name])) for line in lines], [True] + 3 * [False] + 4 * [True], name
                )
            self.assertEqual(lists[0][0]["reason"], "every row has scores that are NaN or infinite")
            self.assertNotIn("NaN", lists[0][1]["reason"])
            self.assertEqual(len(w.rows(0, 0)), 30)

    def test_large_scores(self):
        self.watched(1e25, slice(None))

    def test_rows(self):
        """Results after a broken embedding are dropped; earlier ones count."""
        model, ids = sharp(DECODERS["llama"]), tokens(batch=1, length=30)
        embedded = model.get_input_embeddings()(ids).detach().clone()
        embedded[:, 20:] = float("nan")
        w = watched(model, {"inputs_embeds": embedded})
        before = watched(model, {"inputs_embeds": embedded[:, :20]})
        for mine, theirs in zip(w.phases(), before.phases()):
            self.assertEqual(mine.keys(), theirs.keys())
            self.assertAlmostEqual(mine["S"], theirs["S"], places=4)
            self.assertAlmostEqual(mine["entropy"], theirs["entropy"], places=4)


class Detect(unittest.TestCase):
    def compare(self, entry, **inputs):
        model = sharp(entry)
        ids = inputs["input_ids"].numpy()
        dense = [weights(p) for p in eager(model, **inputs).attentions]
        w = watched(model, inputs, Words())
        for line in w.detect():
            scores = pattern_scores(dense[line["layer"]], ids)
            for name, score in zip(("previous_token", "duplicate_token", "induction"), scores):
                self.assertAlmostEqual(line[name], score[line["head"]], places=4, msg=(name, line))
        return w

    def test_models(self):
        """Gathered tokens (llama, bert, softcap), and probes (windows, chunks)."""
        for name in "llama", "gemma", "gpt2", "mistral", "gemma2", "gpt_oss", "llama4":
            with self.subTest(name):
                ids = 3 + tokens(length=40) % 9
                self.compare(DECODERS[name], input_ids=ids)
        self.compare(ENCODERS["bert"], input_ids=3 + tokens(length=40) % 9)

    def test_one_token_only(self):
        w = self.compare(DECODERS["llama"], input_ids=torch.full((1, 30), 5))
        self.assertGreater(w.detect()[0]["duplicate_token"], 0.5)

    def test_needs_tokens(self):
        model = build(DECODERS["llama"])
        w = watched(model, tokens())
        with self.assertRaisesRegex(ValueError, "tokenizer"):
            w.detect()
        w = watched(model, {"inputs_embeds": torch.randn(1, 5, 32)}, Words())
        with self.assertRaisesRegex(ValueError, "input_ids"):
            w.detect()


class Maps(unittest.TestCase):
    def test_small_maps_are_the_weights(self):
        for name in "llama", "gemma2", "llama4":
            model, ids = sharp(DECODERS[name]), tokens(length=17)
            dense = eager(model, input_ids=ids).attentions
            w = watched(model, ids, keep=[1])
            for layer, p in enumerate(dense):
                np.testing.assert_allclose(w.map(layer, 3, batch=1), weights(p)[1, 3], **CLOSE)
            np.testing.assert_allclose(
                w.map(1, 2, zoom=(4, 1, 9, 6)), weights(dense[1])[0, 2, 4:13, 1:7], **CLOSE
            )
            with self.assertRaisesRegex(ValueError, r"layer 0 was not kept.*keep=\[0\]"):
                w.map(0, 0, zoom=(0, 0, 1, 1))

    def test_blocks(self):
        model, ids = sharp(DECODERS["llama"]), tokens(batch=1, length=100)
        p = weights(eager(model, input_ids=ids).attentions[0])
        w = watched(model, ids)
        block = -(-100 // MAP_BLOCKS)
        mean = p.reshape(1, 4, 100 // block, block, 100 // block, block).sum(-1).mean(3)
        np.testing.assert_allclose(w.map(0, 1), mean[0, 1], **CLOSE)

    def test_refused(self):
        model = build(DECODERS["llama"])
        w = watched(model, tokens(length=9), keep="qkv")
        for arguments, says in (
            ((2, 0), "layer = 2 must be in 0 .. 1"),
            ((0, 4), "head = 4 must be in 0 .. 3"),
            ((0, 0, 2), "batch = 2 must be in 0 .. 1"),
            ((0, 0, 0, (5, 0, 5, 1)), "zoom = .* must lie within 9 queries and 9 keys"),
            ((0, 0, 0, None, 3), "no call in forward pass 3"),
        ):
            with self.assertRaisesRegex(ValueError, says):
                w.map(*arguments)

    def test_wrong_types(self):
        model = build(DECODERS["llama"])
        w = watched(model, tokens(length=9), keep="qkv")
        for arguments, says in (
            (("a", 0), "layer = 'a' must be an integer"),
            ((1.5, 0), "layer = 1.5"),
            ((0, None), "head = None must be"),
            ((0, 0, 0.0), "batch = 0.0 must be"),
            ((0, 0, 0, "abcd"), "zoom = 'abcd' must be"),
            ((0, 0, 0, 4), "zoom = 4 must be"),
        ):
            with self.assertRaisesRegex(TypeError, says):
                w.map(*arguments)
        with self.assertRaisesRegex(ValueError, r"zoom = \(0, 0, 1\) must be \(query, key, rows, columns\)"):
            w.map(0, 0, zoom=(0, 0, 1))
        self.assertEqual(w.map(np.int64(1), np.int64(2), zoom=np.array([0, 0, 3, 2])).shape, (3, 2))

    def test_single_queries_are_not_kept(self):
        model = build(DECODERS["llama"])
        w = watched(model, tokens(length=1), keep="qkv")
        for ask in w.noise, lambda: w.map(0, 0, zoom=(0, 0, 1, 1)):
            with self.assertRaisesRegex(
                ValueError, "layer 0 saw a single query in forward pass 0: .* longer calls only"
            ):
                ask()


class Replaced(unittest.TestCase):
    """torch's function is restored after overlapping blocks."""

    def test_blocks_that_cross(self):
        model, ids, own = sharp(DECODERS["llama"]), tokens(), torch.nn.functional.scaled_dot_product_attention
        for _ in range(2):
            use, w = attend.torch.use(), attend.watch(model)
            use.__enter__(), w.__enter__(), model(input_ids=ids)
            use.__exit__(None, None, None), w.__exit__(None, None, None)
            self.assertIs(torch.nn.functional.scaled_dot_product_attention, own)
        for _ in range(2):
            use, w = attend.torch.use(), attend.watch(model)
            w.__enter__(), use.__enter__(), model(input_ids=ids)
            w.__exit__(None, None, None), use.__exit__(None, None, None)
            q = torch.randn(1, 1, 3, 4)
            self.assertTrue(
                torch.equal(torch.nn.functional.scaled_dot_product_attention(q, q, q), own(q, q, q))
            )


class Long(unittest.TestCase):
    """Only some queries of long calls are measured."""

    def compare(self, entry, batch=2, **more):
        model, ids = sharp(entry), 3 + tokens(batch=batch, length=1400) % 31
        with attend.watch(model, Words(), **more) as w:
            some = model(input_ids=ids)[0]
        with attend.watch(model, Words(), rows=None) as whole:
            out = model(input_ids=ids)[0]
        self.assertTrue(torch.equal(some, out))
        model.set_attn_implementation("attend")
        with torch.no_grad():
            self.assertTrue(torch.equal(model(input_ids=ids)[0], out))
        return w, whole

    def test_rows(self):
        """Each range by a call of its own, and for one batch without chunks all ranges by one."""
        for name, batch, together in (
            ("llama", 1, True),
            ("llama", 2, False),
            ("mistral", 1, True),
            ("llama4", 1, False),
        ):
            cut = unittest.mock.patch.object(
                bridge.Call, "cut_evenly", autospec=True, side_effect=bridge.Call.cut_evenly
            )
            with self.subTest(name, batch=batch), cut as ranges:
                self.check_rows(*self.compare(DECODERS[name], batch, rows=128, keep="qkv"))
                self.assertEqual(ranges.called, together)

    def check_rows(self, w, whole):
        record, other = w.layers[1].calls[0], whole.layers[1].calls[0]
        self.assertEqual((record.queries, len(other.places)), (1400, 1400))
        self.assertLess(len(record.places), 700)
        self.assertEqual(record.places[-256:].tolist(), list(range(1144, 1400)))
        self.assertTrue((np.diff(record.places) > 0).all())
        self.assertEqual(set(record.places // record.block), set(range(64)))
        np.testing.assert_array_equal(record.rows, other.rows[:, :, record.places])
        np.testing.assert_array_equal(record.top_keys, other.top_keys[:, :, record.places])
        for x in 0, 7, 63:
            rows = record.places[record.places // record.block == x]
            call = w.layers[1].calls[0].kept
            p = attend_weights(call, rows)
            sums = np.add.reduceat(p, np.arange(0, 1400, record.block), -1).mean(2)
            np.testing.assert_allclose(record.pooled[:, :, x], sums, **CLOSE)

    def test_patterns(self):
        for name in "llama", "mistral":
            w, whole = self.compare(DECODERS[name], rows=128)
            record = w.layers[1].calls[0]
            model = sharp(DECODERS[name])
            ids = record.tokens.ids
            p = weights(eager(model, input_ids=torch.from_numpy(ids)).attentions[1])
            rows = np.zeros(ids.shape)
            rows[:, record.places] = 1
            scores = pattern_scores(p, ids, rows)
            for line in (line for line in w.detect() if line["layer"] == 1):
                got = [line[k] for k in ("previous_token", "duplicate_token", "induction")]
                np.testing.assert_allclose(got, [score[line["head"]] for score in scores], **CLOSE)

    def test_noise(self):
        w, _ = self.compare(DECODERS["llama"], rows=128, keep="qkv")
        for line in w.noise():
            self.assertTrue(0 < line["measured"] < 1 and 0 < line["predicted"] < 1, line)
