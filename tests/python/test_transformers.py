# SPDX-License-Identifier: MIT
"""attn_implementation="attend" beside "eager", on random tiny models of many kinds."""

import contextlib
import unittest
import warnings

import tiny_models as tiny
import torch
import transformers as hf
from transformers import AttentionInterface, masking_utils

import attend.transformers
from attend.transformers import Mask, attend_mask

# Logits are of order 1; the difference is the order of sums in f32.
TOLERANCE = 5e-5


class Case(unittest.TestCase):
    def setUp(self):
        attend.transformers.register()
        attend.transformers._warned.clear()
        attend.torch._said.clear()
        context = warnings.catch_warnings(record=True)
        self.warned = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        warnings.simplefilter("always")
        torch.manual_seed(0)

    def said(self):
        return [str(w.message) for w in self.warned if str(w.message).startswith("attend")]

    @contextlib.contextmanager
    def masks(self):
        """The masks of all calls inside the block."""
        seen = []

        def spy(module, query, key, value, attention_mask, *args, **kwargs):
            seen.append(attention_mask)
            return attend.transformers.attend_attention(
                module, query, key, value, attention_mask, *args, **kwargs
            )

        AttentionInterface.register("attend", spy)
        yield seen
        attend.transformers.register()

    def both(self, model, **inputs):
        """Eager's output and attend's."""
        outputs = []
        with torch.no_grad():
            for name in "eager", "attend":
                model.set_attn_implementation(name)
                outputs.append(model(**inputs))
        return outputs

    def agree(self, model, rows=None, structural=True, **inputs):
        with self.masks() as masks:
            eager, mine = (output[0] for output in self.both(model, **inputs))
        difference = (eager - mine).abs()
        if rows is not None:
            difference = difference[rows.bool()]
        self.assertLessEqual(float(difference.max()), TOLERANCE)
        self.assertGreater(len(masks), 0, "no attention ran on attend")
        if structural:
            for mask in masks:
                self.assertTrue(mask is None or isinstance(mask, Mask) and mask.dense is None, mask)
            self.assertEqual(self.said(), [])
        return masks

    def generate(self, model, **inputs):
        """The same tokens from both, with the cache."""
        texts = []
        for name in "eager", "attend":
            model.set_attn_implementation(name)
            texts.append(model.generate(**inputs, max_new_tokens=12, do_sample=False))
        self.assertTrue(torch.equal(*texts), texts)

    def decode(self, model):
        """Logits of each token after a prefill of nine, by the cache, equal those of one pass."""
        ids = tiny.tokens()
        model.set_attn_implementation("eager")
        with torch.no_grad():
            whole = model(input_ids=ids).logits
            model.set_attn_implementation("attend")
            first = model(input_ids=ids[:, :9], use_cache=True)
            logits, cache = [first.logits], first.past_key_values
            for at in range(9, ids.shape[1]):
                step = model(input_ids=ids[:, at : at + 1], past_key_values=cache, use_cache=True)
                logits.append(step.logits)
        self.assertLessEqual(float((torch.cat(logits, 1) - whole).abs().max()), TOLERANCE)

    def read(self, model):
        """A text, and one with padding on either side."""
        self.agree(model, input_ids=tiny.tokens())
        for side in "left", "right":
            mask = tiny.padding(side)
            self.agree(model, mask, input_ids=tiny.tokens(), attention_mask=mask)


class Decoders(Case):
    def check(self, entry):
        model = tiny.build(entry)
        self.read(model)
        self.decode(model)
        self.generate(model, input_ids=tiny.tokens(1))
        self.generate(model, input_ids=tiny.tokens(), attention_mask=tiny.padding("left"))
        self.assertEqual(self.said(), [])


class Encoders(Case):
    def check(self, entry):
        model = tiny.build(entry)
        self.read(model)


class Visions(Case):
    def check(self, entry):
        self.agree(tiny.build(entry), pixel_values=torch.randn(2, 3, 32, 32))


class Translators(Case):
    def check(self, entry):
        model, source = tiny.build(entry), tiny.tokens()
        for side in None, "left", "right":
            mask = tiny.padding(side)
            self.agree(
                model,
                input_ids=source,
                attention_mask=mask,
                decoder_input_ids=tiny.tokens(2, 9, 2),
                structural=False,
            )
        self.generate(model, input_ids=source, attention_mask=tiny.padding("right"))

    def test_whisper(self):
        torch.manual_seed(0)
        model = tiny.whisper().eval()
        self.agree(model, input_features=torch.randn(2, 8, 60), decoder_input_ids=tiny.tokens(2, 9))


for case, table in (
    (Decoders, tiny.DECODERS),
    (Encoders, tiny.ENCODERS),
    (Visions, tiny.VISIONS),
    (Translators, tiny.TRANSLATORS),
):
    for name, entry in table.items():
        setattr(case, f"test_{name}", lambda self, entry=entry: self.check(entry))


class Rules(Case):
    """Options that models pass by name reach the engine, without a mask of queries by keys."""

    def test_causal(self):
        for mask in self.agree(tiny.build(tiny.DECODERS["llama"]), input_ids=tiny.tokens()):
            self.assertTrue(mask.causal)
            self.assertIsNone(mask.padding)

    def test_padding(self):
        seen = tiny.padding("left")
        masks = self.agree(
            tiny.build(tiny.DECODERS["llama"]), seen, input_ids=tiny.tokens(), attention_mask=seen
        )
        for mask in masks:
            self.assertTrue(torch.equal(mask.padding, seen.bool()))
            self.assertEqual(mask.padding.dim(), 2)

    def test_sliding_window(self):
        masks = self.agree(tiny.build(tiny.DECODERS["mistral"]), input_ids=tiny.tokens())
        self.assertEqual({mask.left for mask in masks}, {4})
        model = tiny.build(tiny.DECODERS["mistral"])
        wide = tiny.build(tiny.DECODERS["mistral"], sliding_window=None)
        with torch.no_grad():
            ids = tiny.tokens()
            self.assertGreater(
                float((model(input_ids=ids).logits - wide(input_ids=ids).logits).abs().max()), 1e-3
            )

    def test_chunks(self):
        masks = self.agree(tiny.build(tiny.DECODERS["llama4"]), input_ids=tiny.tokens())
        self.assertIn(6, {mask.chunk for mask in masks})

    def test_softcap(self):
        """A softcap of 0.01 changes the result, and both agree on it."""
        model = tiny.build(tiny.DECODERS["gemma2"], attn_logit_softcapping=0.01)
        self.agree(model, input_ids=tiny.tokens())
        with torch.no_grad():
            capped = model(input_ids=tiny.tokens()).logits
            for layer in model.model.layers:
                layer.self_attn.attn_logit_softcapping = None
            self.assertGreater(float((capped - model(input_ids=tiny.tokens()).logits).abs().max()), 1e-5)

    def test_sinks(self):
        model = tiny.build(tiny.DECODERS["gpt_oss"])
        with torch.no_grad():
            for layer in model.model.layers:
                layer.self_attn.sinks.copy_(torch.tensor([3.0, -1.0, 0.0, 5.0]))
        self.agree(model, input_ids=tiny.tokens())

    def test_position_bias(self):
        model = tiny.build(tiny.TRANSLATORS["t5"])
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if "relative_attention_bias" in name:
                    parameter.normal_(0, 3)
        self.agree(model, input_ids=tiny.tokens(), decoder_input_ids=tiny.tokens(2, 9, 2), structural=False)

    def test_masks_of_the_caller(self):
        """A mask of four axes, of numbers or bool, is used unchanged."""
        ids = tiny.tokens()
        seen = torch.ones(17, 17).tril().bool() & (torch.rand(17, 17) < 0.8) | torch.eye(17, dtype=torch.bool)
        bias = torch.zeros(2, 1, 17, 17).masked_fill(~seen, torch.finfo(torch.float32).min)
        self.agree(tiny.build(tiny.DECODERS["llama"]), input_ids=ids, attention_mask=bias, structural=False)

    def test_packed_sequences(self):
        ids = tiny.tokens(1)
        positions = torch.cat([torch.arange(9), torch.arange(8)])[None]
        self.agree(
            tiny.build(tiny.DECODERS["llama"]), input_ids=ids, position_ids=positions, structural=False
        )

    def test_static_cache(self):
        model = tiny.build(tiny.DECODERS["llama"])
        texts = []
        for name, cache in ("eager", None), ("attend", "static"):
            model.set_attn_implementation(name)
            texts.append(
                model.generate(
                    tiny.tokens(),
                    attention_mask=tiny.padding("left"),
                    max_new_tokens=8,
                    do_sample=False,
                    cache_implementation=cache,
                )
            )
        self.assertTrue(torch.equal(*texts))

    def test_unknown_mask_function(self):
        def every_other(batch, head, query, key):
            return (query + key) % 2 == 0

        for _ in range(2):
            mask = attend_mask(2, 5, 7, mask_function=every_other)
            wanted = every_other(0, 0, torch.arange(5)[:, None], torch.arange(7))
            self.assertTrue(torch.equal(mask.dense.expand(2, 1, 5, 7), wanted.expand(2, 1, 5, 7)))
        self.assertEqual(len(self.said()), 1)
        self.assertIn("every_other", self.said()[0])

    def test_rules_as_dense_masks(self):
        """Each structural mask is that of transformers, element by element."""
        m = masking_utils
        functions = {
            "causal": m.causal_mask_function,
            "sliding": m.and_masks(m.sliding_window_overlay(3), m.causal_mask_function),
            "chunked": m.and_masks(m.chunked_overlay(4, torch.tensor([0, 3])), m.causal_mask_function),
            "bidirectional": m.bidirectional_mask_function,
            "window": m.sliding_window_bidirectional_overlay(2),
        }
        for name, function in functions.items():
            for q_offset, kv_offset, q_length, kv_length in (
                (0, 0, 9, 9),
                (5, 0, 4, 9),
                (8, 0, 1, 9),
                (6, 2, 3, 7),
            ):
                seen = tiny.padding("left", 3, 2, 9)
                for given in None, seen:
                    mask = attend_mask(2, q_length, kv_length, q_offset, kv_offset, function, given)
                    self.assertIsNone(mask.dense, name)
                    wanted = m.sdpa_mask(
                        2,
                        q_length,
                        kv_length,
                        q_offset,
                        kv_offset,
                        function,
                        given,
                        allow_is_causal_skip=False,
                        allow_is_bidirectional_skip=False,
                    )
                    shape = (2, 1, q_length, kv_length)
                    wanted = torch.ones(shape, dtype=torch.bool) if wanted is None else wanted
                    self.assertTrue(
                        torch.equal(mask.to_dense().expand(shape), wanted.bool().expand(shape)),
                        (name, q_offset),
                    )
        self.assertEqual(self.said(), [])


class Modes(Case):
    def test_half_precision(self):
        """bf16 on attend is as near to f32 as bf16 on eager."""
        for dtype in torch.bfloat16, torch.float16:
            exact, _ = self.both(tiny.build(tiny.DECODERS["qwen3"]), input_ids=tiny.tokens())
            eager, mine = self.both(tiny.build(tiny.DECODERS["qwen3"]).to(dtype), input_ids=tiny.tokens())
            error = lambda output: float((output.logits.float() - exact.logits).square().mean().sqrt())
            self.assertLessEqual(error(mine), 1.2 * error(eager))

    def test_double(self):
        eager, mine = self.both(tiny.build(tiny.DECODERS["llama"]).double(), input_ids=tiny.tokens())
        self.assertLessEqual(float((eager.logits - mine.logits).abs().max()), 1e-6)

    def test_output_attentions(self):
        for entry, inputs in (
            (tiny.DECODERS["llama"], {}),
            (tiny.DECODERS["gpt_oss"], {}),
            (tiny.DECODERS["llama4"], {}),
            (tiny.ENCODERS["bert"], {}),
        ):
            model = tiny.build(entry)
            eager, mine = self.both(model, input_ids=tiny.tokens(), output_attentions=True, **inputs)
            self.assertEqual(len(eager.attentions), len(mine.attentions))
            for a, b in zip(eager.attentions, mine.attentions):
                self.assertLessEqual(float((a - b).abs().max()), TOLERANCE)

    def test_dropout_is_refused(self):
        model = tiny.build(tiny.DECODERS["llama"], attention_dropout=0.1)
        model.set_attn_implementation("attend")
        model.train()
        with self.assertRaisesRegex(ValueError, "dropout"):
            model(input_ids=tiny.tokens())
        model.eval()
        with torch.no_grad():
            model(input_ids=tiny.tokens())

    def test_gradients(self):
        gradients = []
        for name in "eager", "attend":
            model = tiny.build(tiny.DECODERS["qwen2"]).train()
            model.set_attn_implementation(name)
            ids, seen = tiny.tokens(), tiny.padding("right")
            model(input_ids=ids, labels=ids.masked_fill(seen == 0, -100), attention_mask=seen).loss.backward()
            gradients.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
        self.assertLessEqual(float((gradients[0] - gradients[1]).abs().max()), TOLERANCE)
        self.assertEqual(len(self.said()), 1)
        self.assertIn("gradients", self.said()[0])

    def test_gradients_that_torch_has_not(self):
        model = tiny.build(tiny.DECODERS["gpt_oss"]).train()
        model.set_attn_implementation("attend")
        with self.assertRaisesRegex(ValueError, "gradients"):
            model(input_ids=tiny.tokens())

    def test_tensors_elsewhere(self):
        """Tensors outside host memory or of an unknown type: an error, not a crash."""
        call = lambda x: attend.transformers.attend_attention(torch.nn.Module().eval(), x, x, x, None)
        self.assertRaisesRegex(ValueError, "meta", call, torch.zeros(1, 2, 3, 4, device="meta"))
        self.assertRaisesRegex(TypeError, "complex", call, torch.zeros(1, 2, 3, 4, dtype=torch.complex64))

    def test_from_config(self):
        model = hf.AutoModelForCausalLM.from_config(
            tiny.DECODERS["llama"][1](), attn_implementation="attend"
        ).eval()
        with self.masks() as masks, torch.no_grad():
            model(input_ids=tiny.tokens())
        self.assertEqual(len(masks), 2)
