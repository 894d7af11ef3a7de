# SPDX-License-Identifier: MIT
"""Statistics of real heads in a watch: MiniLM, and SmolLM2 in the long tests."""

import os
import unittest

import real_models
import torch
from setting import HERE, ROOT, SCALE, np, read

import attend

TEXT = read(os.path.join(HERE, "watch_text.txt"))


def by_place(lines):
    return {(line["layer"], line["head"]): line for line in lines}


class MiniLM(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        tokenizer, cls.model = real_models.minilm()
        cls.inputs = tokenizer(TEXT, return_tensors="pt")
        with attend.watch(cls.model, tokenizer, keep="qkv") as cls.w:
            cls.model(**cls.inputs)

    def test_weights(self):
        self.model.set_attn_implementation("eager")
        with torch.no_grad():
            dense = self.model(**self.inputs, output_attentions=True).attentions
        for layer, p in zip(self.w.layers, dense):
            p = p.double().numpy()
            record = layer.calls[0]
            np.testing.assert_allclose(
                record.column("entropy"), -(p * np.log(p + 1e-300)).sum(-1), rtol=1e-3, atol=1e-4
            )
            np.testing.assert_allclose(record.column("sink1"), p[..., 0], rtol=1e-3, atol=1e-5)
            blocks = np.add.reduceat(p, np.arange(0, p.shape[-1], record.block), -1)
            means = [blocks[:, :, x : x + record.block].mean(2) for x in range(0, p.shape[2], record.block)]
            np.testing.assert_allclose(record.pooled, np.stack(means, 2), rtol=1e-3, atol=1e-5)

    def test_heads(self):
        heads = by_place(self.w.heads())
        self.assertEqual(len(heads), 72)
        self.assertEqual(heads[0, 2]["character"], "previous token")
        self.assertEqual(heads[0, 11]["character"], "diffuse")
        self.assertEqual(heads[4, 5]["character"], "sink")

    def test_noise(self):
        ratios = [line["predicted"] / line["measured"] for line in self.w.noise()]
        self.assertLess(abs(np.log(np.median(ratios))), np.log(1.25))


@unittest.skipUnless(SCALE > 1, "only at a scale above 1")
class SmolLM2(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tokenizer, cls.model = real_models.smollm2()

    def test_heads(self):
        with attend.watch(self.model, self.tokenizer) as w:
            self.model(**self.tokenizer(TEXT, return_tensors="pt"))
        heads, scores = by_place(w.heads()), by_place(w.detect())
        self.assertEqual(len(heads), 270)
        for at in (1, 2), (2, 1), (11, 1), (16, 0):
            self.assertEqual(heads[at]["character"], "previous token")
        self.assertGreater(heads[18, 8]["sink1"], 0.95)
        best = sorted(scores, key=lambda at: -scores[at]["induction"])[:4]
        self.assertEqual(set(best), {(17, 3), (17, 4), (17, 5), (18, 6)})

    def test_memory_of_a_long_prompt(self):
        """8192 tokens: the weights of all heads would need 72 GB."""
        text = ""
        for name in "API", "NUMERICS", "LAB", "THEORY":
            text += read(os.path.join(ROOT, "docs", f"{name}.md"))
        ids = self.tokenizer(text, return_tensors="pt", verbose=False)["input_ids"][:, :8192]
        self.assertEqual(ids.shape[1], 8192)
        with attend.watch(self.model, self.tokenizer) as w:
            self.model(input_ids=ids, logits_to_keep=1)
        held = sum(
            array.nbytes
            for layer in w.layers
            for record in layer.calls
            for array in (record.rows, record.lse, record.top_keys, record.top_weights, record.pooled)
        )
        self.assertLess(held, 100e6)
