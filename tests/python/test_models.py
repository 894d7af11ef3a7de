# SPDX-License-Identifier: MIT
"""Real weights: MiniLM's embeddings and SmolLM2's text equal those of eager."""

import os
import sys
import unittest

import real_models
import torch
from setting import ROOT, SCALE, run

SENTENCES = [
    "A cat sits on the mat.",
    "There is a kitten on the rug.",
    "The interest rate was raised by a quarter of a point, which surprised nobody who had read the minutes.",
]
TOKENS = 64 if SCALE > 1 else 16


class Models(unittest.TestCase):
    def both(self, model, run):
        """The results of run() on eager and on attend."""
        results = []
        for name in "eager", "attend":
            model.set_attn_implementation(name)
            with torch.no_grad():
                results.append(run())
        return results


class MiniLM(Models):
    @classmethod
    def setUpClass(cls):
        cls.tokenizer, cls.model = real_models.minilm()

    def embed(self, sentences):
        inputs = self.tokenizer(sentences, padding=True, return_tensors="pt")
        hidden = self.model(**inputs).last_hidden_state
        seen = inputs["attention_mask"][..., None]
        return torch.nn.functional.normalize((hidden * seen).sum(1) / seen.sum(1), dim=1)

    def test_embeddings(self):
        eager, mine = self.both(self.model, lambda: self.embed(SENTENCES))
        self.assertLessEqual(float((eager - mine).abs().max()), 1e-5)
        near, far = float(mine[0] @ mine[1]), float(mine[0] @ mine[2])
        self.assertGreater(near, far + 0.3)

    def test_padding_changes_nothing(self):
        self.model.set_attn_implementation("attend")
        with torch.no_grad():
            together, alone = self.embed(SENTENCES), torch.cat([self.embed([s]) for s in SENTENCES])
        self.assertLessEqual(float((together - alone).abs().max()), 1e-5)

    def test_the_example(self):
        example = os.path.join(ROOT, "examples", "python", "sentences.py")
        done = run(sys.executable, example)
        self.assertEqual(done.returncode, 0, done.stdout)


class SmolLM2(Models):
    @classmethod
    def setUpClass(cls):
        cls.tokenizer, cls.model = real_models.smollm2()
        cls.tokenizer.padding_side = "left"

    def prompt(self, *questions):
        texts = [
            self.tokenizer.apply_chat_template(
                [{"role": "user", "content": q}], tokenize=False, add_generation_prompt=True
            )
            for q in questions
        ]
        return self.tokenizer(texts, padding=True, return_tensors="pt", add_special_tokens=False)

    def test_logits(self):
        """Logits of a prompt; the largest is about 30."""
        inputs = self.prompt("What is gravity?")
        eager, mine = self.both(self.model, lambda: self.model(**inputs).logits)
        self.assertLessEqual(float((eager - mine).abs().max()), 1e-4)

    def test_greedy_text(self):
        inputs = self.prompt("What is gravity?")
        run = lambda: self.model.generate(**inputs, max_new_tokens=TOKENS, do_sample=False)
        eager, mine = self.both(self.model, run)
        self.assertTrue(torch.equal(eager, mine))
        new = mine[0, inputs["input_ids"].shape[1] :]
        self.assertGreaterEqual(len(new), min(TOKENS, 16))
        print(f"SmolLM2, {len(new)} tokens: {self.tokenizer.decode(new)!r}")

    def test_batch_with_padding(self):
        inputs = self.prompt("What is gravity?", "Hi!")
        run = lambda: self.model.generate(**inputs, max_new_tokens=4, do_sample=False)
        eager, mine = self.both(self.model, run)
        self.assertTrue(torch.equal(eager, mine))
