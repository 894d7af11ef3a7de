# SPDX-License-Identifier: MIT
"""PyTorch's scaled_dot_product_attention."""

import functools

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from engine import Prepared, fold, unfold

DTYPE = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
MATH_SCORES = 1 << 26  # beyond, it is far behind


def start(threads):
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    return torch.__version__


def variants(case, dtype):
    """How the heads are matched, how a mask is given, and by which of its two ways.

    A boolean mask is turned into an additive one by every call: giving it so is faster.
    `math` keeps all scores, and is faster where they are few or the dtype is f16.
    """
    if case.group == 1:
        heads = ["plain"]
    else:
        heads = ["enable_gqa", "folded" if case.nq == 1 else "repeated"]
    names = heads
    if case.has_mask or case.window_left >= 0:
        names = [f"{way}, {mask} mask" for way in heads for mask in ("boolean", "additive")]
    if case.batch * case.hq * case.nq * case.nk <= MATH_SCORES:
        names = names + [f"{heads[-1]}, additive mask, math" if case.has_mask else f"{heads[-1]}, math"]
    return names


def tensor(array, dtype):
    if dtype == "bf16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def mask_of(variant, inputs):
    seen = torch.from_numpy(inputs.visible())[None, None]
    if "boolean" in variant:
        return seen
    zero = torch.zeros(seen.shape, dtype=DTYPE[inputs.dtype])
    return zero.masked_fill_(~seen, -torch.inf)


def prepare(variant, inputs):
    case, dtype = inputs.case, inputs.dtype
    options = {}
    if "mask" in variant:
        options["attn_mask"] = mask_of(variant, inputs)
    elif case.causal:
        options["is_causal"] = True
    q = tensor(inputs.q, dtype)
    k, v = ([tensor(x, dtype) for x in copies] for copies in (inputs.k, inputs.v))
    if variant.startswith("enable_gqa"):
        options["enable_gqa"] = True
    elif variant.startswith("folded"):
        q = fold(q, case)
    elif variant.startswith("repeated"):
        k, v = ([x.repeat_interleave(case.group, 1) for x in xs] for xs in (k, v))
    calls = [functools.partial(scaled_dot_product_attention, q, *pair, **options) for pair in zip(k, v)]

    def fetch(out):
        out = unfold(out.contiguous(), case)
        return out.view(torch.int16).numpy().view(np.uint16) if dtype == "bf16" else out.numpy()

    if variant.endswith("math"):
        return Prepared(calls, fetch, context=lambda: sdpa_kernel(SDPBackend.MATH))
    return Prepared(calls, fetch)
