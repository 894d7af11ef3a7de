# SPDX-License-Identifier: MIT
"""attend.watch: every number against the weights that eager attention returns."""

import copy
import pickle
import unittest
import unittest.mock
import warnings

import torch
import transformers as hf
from setting import np, run_cases
from tiny_models import DECODERS, ENCODERS, TRANSLATORS, VISIONS, build, padding, tokens

import attend
import attend.torch
from attend import transformers as bridge
from attend._watch_measure import COLUMNS, MAP_BLOCKS, PLACES

# Eager's weights are f32: what is read from them has a few of its roundings.
CLOSE = {"rtol": 2e-3, "atol": 2e-4}


class Words:
    """A tokenizer, as far as a watch needs one."""

    def decode(self, ids):
        return f" {ids[0]}"


def sharp(entry):
    """A tiny model whose scores are spread, so that heads differ."""
    model = build(entry)
    spread = {"t5": 1, "marian": 3, "clip_text_model": 3}.get(model.config.model_type, 12)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.mul_(spread)
    return model


def eager(model, **inputs):
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.no_grad():
        out = model(**inputs, output_attentions=True)
    model.set_attn_implementation(before)
    return out


def weights(attentions):
    """Weights in double that sum to 1 over the keys: a sink logit's share is left out."""
    p = attentions.double().numpy()
    total = p.sum(-1, keepdims=True)
    return np.divide(p, total, out=np.zeros_like(p), where=total > 0)


def columns(p):
    """Every statistic of rows of weights, keys hidden by weight 0, by its formula."""
    seen = p > 0
    keys = seen.sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.where(seen, np.log(p), np.nan)
        mean = np.nansum(log, -1) / keys
        raw = np.nansum((log - mean[..., None]) ** 2, -1) / keys
    best = np.sort(p, -1)[..., ::-1]
    away = np.abs(np.arange(p.shape[-2])[:, None] - np.arange(p.shape[-1]))

    def diagonal(back):
        found = np.zeros(p.shape[:-1])
        for i in range(back, p.shape[-2]):
            if i - back < p.shape[-1]:
                found[..., i] = p[..., i, i - back]
        return found

    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "keys": keys, "top_weight": best[..., 0], "entropy": -np.nansum(p * log, -1), "n_eff": 1 / (p**2).sum(-1),
            "raw_variance": raw, "margin": np.log(best[..., 0]) - np.log(best[..., 1]), "sink1": p[..., 0],
            "self": diagonal(0), "previous": diagonal(1), "distance": (p * away).sum(-1),
            "log_distance": (p * np.log1p(away)).sum(-1),
        }


def pattern_scores(p, ids, rows=None):
    """previous, duplicate and induction of (b, h, n, n) as TransformerLens defines them."""
    same = np.tril(ids[:, :, None] == ids[:, None, :], -1).astype(float)
    after = np.roll(same, 1, 2)
    after[:, :, 0] = 0
    before = np.broadcast_to(np.eye(p.shape[-1], k=-1), same.shape)
    use = np.ones(ids.shape) if rows is None else rows
    total = use.sum()
    return [(p * (mask * use[..., None])[:, None]).sum((0, 2, 3)) / total for mask in (before, same, np.tril(after))]


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
        with attend.watch(model) as w:
            model(**inputs)
        self.assertEqual(len(w.layers), len(attentions))
        for layer, seen in zip(w.layers, attentions):
            self.check_layer(layer, weights(seen), skip=skip)
        return w

    def test_decoders(self):
        for name, entry in DECODERS.items():
            with self.subTest(name):
                model, inputs = sharp(entry), {"input_ids": tokens(length=14)}
                # A chunk begins anew with its own first key.
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
        with attend.watch(model) as w:
            model(input_ids=tokens())
        self.assertEqual([layer.label for layer in w.layers], ["0", "1"])

    def test_encoder_and_decoder(self):
        for name, entry in TRANSLATORS.items():
            with self.subTest(name):
                model = sharp(entry)
                inputs = {"input_ids": tokens(length=11), "decoder_input_ids": tokens(length=7, seed=2)}
                dense = eager(model, **inputs)
                with attend.watch(model, Words()) as w:
                    model(**inputs)
                labels = ["encoder 0", "encoder 1", "decoder 0", "decoder 0 cross", "decoder 1", "decoder 1 cross"]
                self.assertEqual([layer.label for layer in w.layers], labels)
                self.assertEqual([layer.kind for layer in w.layers], ["self"] * 3 + ["cross", "self", "cross"])
                for layer, p in zip(w.layers[:2], dense.encoder_attentions):
                    self.check_layer(layer, weights(p))
                for layer, p in zip(w.layers[2::2], dense.decoder_attentions):
                    self.check_layer(layer, weights(p))
                for layer, p in zip(w.layers[3::2], dense.cross_attentions):
                    self.check_layer(layer, weights(p), cross=True)
                    self.assertEqual(layer.calls[0].key_tokens.ids.shape, (2, 11))
                found = {(line["layer"], line["head"]): line for line in w.detect()}
                self.assertEqual({layer for layer, _ in found}, {0, 1, 2, 4})
                scores = pattern_scores(weights(dense.decoder_attentions[1]), inputs["decoder_input_ids"].numpy())
                for h in range(4):
                    got = [found[4, h][k] for k in ("previous_token", "duplicate_token", "induction")]
                    np.testing.assert_allclose(got, [score[h] for score in scores], **CLOSE)
                self.assertNotIn("previous token", {h["character"] for h in w.heads() if h["kind"] == "cross"})

    def test_padding_of_the_encoder_hides_no_query_of_the_decoder(self):
        for name, entry in TRANSLATORS.items():
            with self.subTest(name):
                model = sharp(entry)
                seen = torch.tensor([[0] * 5 + [1] * 6, [1] * 11])
                inputs = {"input_ids": tokens(length=11), "decoder_input_ids": tokens(length=7, seed=2), "attention_mask": seen}
                dense = eager(model, **inputs)
                with attend.watch(model, keep="qkv") as w:
                    model(**inputs)
                for layer, p in zip(w.layers[3::2], dense.cross_attentions):
                    self.check_layer(layer, weights(p), cross=True, skip=("sink1",))
                    self.assertEqual([len(w.rows(layer.index, 0, b)) for b in (0, 1)], [7, 7])
                for line in w.noise():
                    self.assertLess(abs(np.log(line["predicted"] / line["measured"])), np.log(3))

    def test_means(self):
        model, ids = sharp(DECODERS["llama"]), tokens(length=20)
        dense = columns(weights(eager(model, input_ids=ids).attentions[1]))
        with attend.watch(model) as w:
            model(input_ids=ids)
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
        with attend.watch(model, keep="qkv") as w:
            model(input_ids=tokens(batch=1, length=40))
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
        with attend.watch(model, Words(), keep="qkv") as w:
            model(input_ids=ids, attention_mask=mask)
        with attend.watch(model, Words()) as first:
            model(input_ids=ids[:1])
        with attend.watch(model, Words()) as second:
            model(input_ids=alone)
        start = 6 if side == "left" else 0
        for layer, one in zip(w.layers, second.layers):
            record, other = layer.calls[0], one.calls[0]
            self.assertEqual(record.counts()[1].sum(), layer.heads * 11)
            np.testing.assert_allclose(record.rows[1, :, start : start + 11], other.rows[0], **CLOSE)
            np.testing.assert_array_equal(np.where(other.top_keys[0] >= 0, other.top_keys[0] + start, -1), record.top_keys[1, :, start : start + 11])
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
                        "input_ids": tokens(length=17), "attention_mask": padding(side), "decoder_input_ids": tokens(length=7, seed=2),
                    }
                    dense = eager(model, **inputs).cross_attentions
                    with attend.watch(model, keep="qkv") as w:
                        model(**inputs)
                    for layer, p in zip(w.layers[3::2], dense):
                        expected = columns(weights(p))
                        self.assertEqual([len(w.rows(layer.index, 0, x)) for x in (0, 1)], [7, 7])
                        for column in "keys", "entropy", "n_eff", "top_weight":
                            np.testing.assert_allclose(layer.calls[0].column(column), expected[column], **CLOSE)
                    for line in w.noise(bits=4):
                        self.assertTrue(0 < line["predicted"] < 3, line)

    def test_of_the_other_text_in_generation(self):
        model = sharp(TRANSLATORS["bart"])
        with attend.watch(model, keep="qkv") as w:
            model.generate(tokens(length=17), attention_mask=padding("left"), max_new_tokens=5, min_new_tokens=5, do_sample=False)
        self.assertEqual([[row["keys"] for row in w.rows(3, 0, x)] for x in (0, 1)], [[17] * 5, [11] * 5])
        self.assertEqual({line["layer"] for line in w.noise()}, {0, 1})


class NotANumber(unittest.TestCase):
    def watched(self, value, heads, **more):
        model = sharp(DECODERS["llama"])
        with torch.no_grad():
            model.model.layers[0].self_attn.q_proj.weight[heads] *= value
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with attend.watch(model, Words(), keep="qkv") as w:
                model(input_ids=3 + tokens(batch=1, length=30) % 9, **more)
            return w, w.heads(), w.lines(), w.phases(), w.detect(), w.noise()

    def test_heads(self):
        for value in float("nan"), float("inf"):
            w, *lists = self.watched(value, slice(0, 8))
            for lines, name in zip(lists, ("n_eff", "entropy", "S", "previous_token", "measured")):
                self.assertEqual([bool(np.isnan(line[name])) for line in lines], [True] + 3 * [False] + 4 * [True], name)
            self.assertEqual(lists[0][0]["reason"], "every row has scores that are NaN or infinite")
            self.assertNotIn("NaN", lists[0][1]["reason"])
            self.assertEqual(len(w.rows(0, 0)), 30)

    def test_large_scores(self):
        self.watched(1e25, slice(None))

    def test_rows(self):
        """What comes after a broken embedding is lost; what comes before counts."""
        model, ids = sharp(DECODERS["llama"]), tokens(batch=1, length=30)
        embedded = model.get_input_embeddings()(ids).detach().clone()
        embedded[:, 20:] = float("nan")
        with attend.watch(model) as w:
            model(inputs_embeds=embedded)
        with attend.watch(model) as before:
            model(inputs_embeds=embedded[:, :20])
        for mine, theirs in zip(w.phases(), before.phases()):
            self.assertEqual(mine.keys(), theirs.keys())
            self.assertAlmostEqual(mine["S"], theirs["S"], places=4)
            self.assertAlmostEqual(mine["entropy"], theirs["entropy"], places=4)


class Detect(unittest.TestCase):
    def compare(self, entry, **inputs):
        model = sharp(entry)
        ids = inputs["input_ids"].numpy()
        dense = [weights(p) for p in eager(model, **inputs).attentions]
        with attend.watch(model, Words()) as w:
            model(**inputs)
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
        with attend.watch(model) as w:
            model(input_ids=tokens())
        with self.assertRaisesRegex(ValueError, "tokenizer"):
            w.detect()
        with attend.watch(model, Words()) as w:
            model(inputs_embeds=torch.randn(1, 5, 32))
        with self.assertRaisesRegex(ValueError, "input_ids"):
            w.detect()


class Maps(unittest.TestCase):
    def test_small_maps_are_the_weights(self):
        for name in "llama", "gemma2", "llama4":
            model, ids = sharp(DECODERS[name]), tokens(length=17)
            dense = eager(model, input_ids=ids).attentions
            with attend.watch(model, keep=[1]) as w:
                model(input_ids=ids)
            for layer, p in enumerate(dense):
                np.testing.assert_allclose(w.map(layer, 3, batch=1), weights(p)[1, 3], **CLOSE)
            np.testing.assert_allclose(w.map(1, 2, zoom=(4, 1, 9, 6)), weights(dense[1])[0, 2, 4:13, 1:7], **CLOSE)
            with self.assertRaisesRegex(ValueError, r"layer 0 was not kept.*keep=\[0\]"):
                w.map(0, 0, zoom=(0, 0, 1, 1))

    def test_blocks(self):
        model, ids = sharp(DECODERS["llama"]), tokens(batch=1, length=100)
        p = weights(eager(model, input_ids=ids).attentions[0])
        with attend.watch(model) as w:
            model(input_ids=ids)
        block = -(-100 // MAP_BLOCKS)
        mean = p.reshape(1, 4, 100 // block, block, 100 // block, block).sum(-1).mean(3)
        np.testing.assert_allclose(w.map(0, 1), mean[0, 1], **CLOSE)

    def test_refused(self):
        model = build(DECODERS["llama"])
        with attend.watch(model, keep="qkv") as w:
            model(input_ids=tokens(length=9))
        for arguments, says in (
            ((2, 0), "layer = 2 must be in 0 .. 1"), ((0, 4), "head = 4 must be in 0 .. 3"), ((0, 0, 2), "batch = 2 must be in 0 .. 1"),
            ((0, 0, 0, (5, 0, 5, 1)), "zoom = .* must lie within 9 queries and 9 keys"), ((0, 0, 0, None, 3), "no call in forward pass 3"),
        ):
            with self.assertRaisesRegex(ValueError, says):
                w.map(*arguments)


    def test_wrong_types(self):
        model = build(DECODERS["llama"])
        with attend.watch(model, keep="qkv") as w:
            model(input_ids=tokens(length=9))
        for arguments, says in (
            (("a", 0), "layer = 'a' must be an integer"), ((1.5, 0), "layer = 1.5"), ((0, None), "head = None must be"),
            ((0, 0, 0.0), "batch = 0.0 must be"), ((0, 0, 0, "abcd"), "zoom = 'abcd' must be"), ((0, 0, 0, 4), "zoom = 4 must be"),
        ):
            with self.assertRaisesRegex(TypeError, says):
                w.map(*arguments)
        with self.assertRaisesRegex(ValueError, r"zoom = \(0, 0, 1\) must be \(query, key, rows, columns\)"):
            w.map(0, 0, zoom=(0, 0, 1))
        self.assertEqual(w.map(np.int64(1), np.int64(2), zoom=np.array([0, 0, 3, 2])).shape, (3, 2))

    def test_single_queries_are_not_kept(self):
        model = build(DECODERS["llama"])
        with attend.watch(model, keep="qkv") as w:
            model(input_ids=tokens(length=1))
        for ask in w.noise, lambda: w.map(0, 0, zoom=(0, 0, 1, 1)):
            with self.assertRaisesRegex(ValueError, "layer 0 saw a single query in forward pass 0: .* longer calls only"):
                ask()


class Replaced(unittest.TestCase):
    """torch's function is torch's own after blocks that cross each other."""

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
            self.assertTrue(torch.equal(torch.nn.functional.scaled_dot_product_attention(q, q, q), own(q, q, q)))


class Long(unittest.TestCase):
    """Of long calls some queries are measured."""

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
        for name, batch, together in ("llama", 1, True), ("llama", 2, False), ("mistral", 1, True), ("llama4", 1, False):
            cut = unittest.mock.patch.object(bridge.Call, "cut_evenly", autospec=True, side_effect=bridge.Call.cut_evenly)
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


def attend_weights(call, rows):
    """Weights of some queries of a kept call, from its tensors in double."""
    mask = call.mask.to_dense()[:, :, rows]
    q, k = call.query[:, :, rows].double(), call.key.double().repeat_interleave(2, 1)
    return torch.softmax((call.scale * q @ k.transpose(2, 3)).masked_fill(~mask, -torch.inf), -1).numpy()


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
                        np.testing.assert_allclose([row[name] for row in rows], expected[name][0, h], **CLOSE, err_msg=name)
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
        self.assertAlmostEqual(w.detect()[1]["induction"], (20 * scores[0][1] + 30 * scores[1][1]) / 50, places=4)

    def test_beams_move_their_tokens(self):
        model, ids = sharp(DECODERS["llama"]), 3 + tokens(batch=1, length=12) % 7
        seen = []
        with attend.watch(model, Words()) as w:
            w.on_call = lambda layer: seen.append((layer.calls[-1], layer.calls[-1].tokens.ids.copy()))
            model.generate(ids, max_new_tokens=6, min_new_tokens=6, num_beams=3, do_sample=False)
        self.assertEqual(len(seen), 12)
        for record, now in seen[::2]:
            dense = weights(eager(model, input_ids=torch.from_numpy(now)).attentions[0])
            np.testing.assert_allclose(record.column("entropy")[:, :, -1], columns(dense)["entropy"][:, :, -1], **CLOSE)

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
        np.testing.assert_allclose([line["predicted"] for line in lines], np.sqrt(statistic.sum(1) * variance / size), rtol=1e-3)
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
        for arguments, says in (({"bits": 9}, "bits = 9"), ({"kind": "fp4"}, "kind = 'fp4'"), ({"bits": 4, "kind": "fp8"}, "must be 8"),
                                ({"kind": 3}, "kind = 3"), ({"layers": [0, 2]}, "layer = 2 must be in")):
            with self.assertRaisesRegex(ValueError, says):
                self.w.noise(**arguments)
        for bits in 2.5, "a":
            with self.assertRaisesRegex(TypeError, f"bits = {bits!r} must be an integer"):
                self.w.noise(bits=bits)

    def test_layers_that_were_kept(self):
        model = build(DECODERS["llama"])
        with attend.watch(model, keep=[1]) as w:
            model(input_ids=tokens())
        self.assertEqual({line["layer"] for line in w.noise()}, {1})
        with self.assertRaisesRegex(ValueError, "layer 0 was not kept"):
            w.noise(layers=[0])
        with attend.watch(model) as w:
            model(input_ids=tokens())
        with self.assertRaisesRegex(ValueError, "layer 0 was not kept"):
            w.noise()


class Phases(unittest.TestCase):
    def test_against_drawn_scores(self):
        """Spread and freezing by their formulas; the law by drawing random scores."""
        model, ids = sharp(DECODERS["llama"]), tokens(batch=1, length=60)
        p = weights(eager(model, input_ids=ids).attentions[1])
        with attend.watch(model) as w:
            model(input_ids=ids)
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
        # Rows are taken in eight groups, whose mean spread and length stand for all.
        self.assertAlmostEqual(line["random_entropy"], np.mean(drawn), delta=0.05)


class OwnAttention(torch.nn.Module):
    """Attention that asks nobody."""

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
        with self.assertRaisesRegex(TypeError, "Linear is no model of transformers"):
            attend.watch(torch.nn.Linear(2, 2))
        with self.assertRaisesRegex(ValueError, "keep = 'all'"):
            attend.watch(build(DECODERS["llama"]), keep="all")

    def test_arguments(self):
        model = build(DECODERS["llama"])
        for more, error, says in (
            ({"keep": 5}, TypeError, "keep = 5 must be None"), ({"keep": [0.5]}, TypeError, r"keep = \[0.5\]"),
            ({"keep": [-1]}, ValueError, r"keep = \[-1\]"), ({"rows": "a"}, TypeError, "rows = 'a' must be an integer"),
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
        with self.assertRaisesRegex(RuntimeError, "nothing was watched: model.layers.0.self_attn .* bypasses"):
            with attend.watch(model, partial=True):
                model(input_ids=tokens())

    def test_one_layer_that_bypasses_the_interface(self):
        for kind, says in (OwnAttention, r"model.layers.1.self_attn \(OwnAttention\) bypasses"), (Mixer, "scaled_dot_product_attention bypasses"):
            model = build(DECODERS["llama"])
            model.model.layers[1].self_attn = kind(model.config)
            with self.assertRaisesRegex(RuntimeError, says):
                with attend.watch(model):
                    model(input_ids=tokens())
            self.assertEqual(model.config._attn_implementation, "sdpa")
            with attend.watch(model, partial=True) as w:
                model(input_ids=tokens())
            self.assertEqual((len(w.layers), len(w.missed)), (1, 1))

    def test_models_with_attention_of_their_own(self):
        size = {"vocab_size": 97, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
        for model in (
            hf.XLNetModel(hf.XLNetConfig(vocab_size=97, d_model=32, n_layer=2, n_head=4, d_inner=48)),
            hf.DebertaModel(hf.DebertaConfig(**size)),
        ):
            with self.subTest(type(model).__name__), self.assertRaisesRegex((TypeError, RuntimeError), "attention interface"):
                with attend.watch(model.eval()):
                    model(input_ids=tokens())

    def test_a_part_that_bypasses(self):
        """SigLIP pools with torch's own module."""
        model = build(VISIONS["siglip"])
        pixels = torch.randn(1, 3, 32, 32)
        with self.assertRaisesRegex(RuntimeError, "MultiheadAttention"):
            with attend.watch(model):
                model(pixel_values=pixels)
        with attend.watch(model, partial=True) as w:
            model(pixel_values=pixels)
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
            self.assertEqual((model.config._attn_implementation, model.model.config._attn_implementation), (before, before))
            self.assertIsNone(attend.transformers.observer)
            self.assertIs(torch.nn.functional.scaled_dot_product_attention, sdpa)
            self.assertFalse(any(module._forward_hooks or module._forward_pre_hooks for module in model.modules()))
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


class Plot(unittest.TestCase):
    def test_grids(self):
        model = sharp(DECODERS["llama"])
        with attend.watch(model) as w:
            model(input_ids=tokens())
        figure = w.plot()
        images = [axis.images[0].get_array() for axis in figure.axes if axis.get_title()]
        self.assertEqual([image.shape for image in images], [(2, 4)] * 6)
        sinks = w.table().sink1.to_numpy().reshape(2, 4)
        np.testing.assert_allclose(images[2], sinks)


if __name__ == "__main__":
    run_cases()
