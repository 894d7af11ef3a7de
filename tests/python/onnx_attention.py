# SPDX-License-Identifier: MIT
"""The operator Attention of ONNX (opsets 23 to 25) on attend, for its node tests."""

import numpy as np
import onnx

import attend


def attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def split_heads(x, heads):
    """(b, l, h d) as (b, h, l, d), without a copy."""
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(0, 2, 1, 3)


def four_axes(mask, keys):
    """A mask of up to 4 axes, right-aligned; missing keys are hidden."""
    mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    if mask.shape[-1] not in (1, keys):
        fill = False if mask.dtype == bool else -np.inf
        mask = np.pad(mask, [(0, 0)] * 3 + [(0, keys - mask.shape[-1])], constant_values=fill)
    return mask


def scores(q, k, scale, softcap, bias, mode):
    """The scores of modes 0 to 2: scaled, capped, with the bias."""
    k = np.repeat(k, q.shape[1] // k.shape[1], 1)
    s = np.einsum("bhqd,bhkd->bhqk", q.astype("f8"), k.astype("f8")) * scale
    if mode >= 1 and softcap:
        s = softcap * np.tanh(s / softcap)
    return s + bias if mode >= 2 else s


def hidden(shape, offset, causal, left, right, lengths, mask):
    """The additive form of all rules that hide a key, for mode 2."""
    b, _, nq, nk = shape
    position = np.arange(nq)[None, :, None] + np.asarray(offset).reshape(-1, 1, 1)
    key = np.arange(nk)[None, None, :]
    seen = np.ones((b, nq, nk), bool)
    if causal:
        seen &= key <= position
    if left >= 0:
        seen &= key >= position - left
    if right >= 0:
        seen &= key <= position + right
    if lengths is not None:
        seen &= key < lengths[:, None, None]
    bias = np.where(seen, 0.0, -np.inf)[:, None]
    if mask is not None:
        bias = bias + (np.where(mask, 0.0, -np.inf) if mask.dtype == bool else mask.astype("f8"))
    return bias


def run(node, inputs):
    """The outputs of one node Attention, without outputs that have no name."""
    given = dict(zip(("q", "k", "v", "mask", "past_key", "past_value", "lengths"), inputs))
    at = attributes(node)
    q, k, v = given["q"], given["k"], given["v"]
    three = q.ndim == 3
    if three:
        q, k, v = (
            split_heads(q, at["q_num_heads"]),
            split_heads(k, at["kv_num_heads"]),
            split_heads(v, at["kv_num_heads"]),
        )
    past = given.get("past_key")
    if past is not None:
        k = np.concatenate([past, k], 2)
        v = np.concatenate([given["past_value"], v], 2)
    lengths, mask = given.get("lengths"), given.get("mask")
    nq, nk = q.shape[2], k.shape[2]
    offset = np.zeros(q.shape[0], np.int64)
    if past is not None:
        offset[:] = past.shape[2]
    elif lengths is not None:
        offset[:] = lengths - nq
    causal = bool(at.get("is_causal", 0))
    left, right = at.get("left_window_size", -1), at.get("right_window_size", -1)
    scale, softcap = at.get("scale", q.shape[-1] ** -0.5), at.get("softcap", 0.0)
    if mask is not None:
        mask = four_axes(mask, nk)
    rule = {"scale": scale, "softcap": softcap, "key_lengths": lengths}
    if mask is not None:
        rule["mask" if mask.dtype == bool else "bias"] = mask
    bias = None
    if causal:
        rule.update(causal=offset, window=(None if left < 0 else left, None if right < 0 else right))
    elif left >= 0 or right >= 0:
        # Windows without the causal rule count positions from the offset: a mask.
        bias = hidden((q.shape[0], 1, nq, nk), offset, False, left, right, None, None)
        rule["bias"] = bias if mask is None or mask.dtype == bool else bias + mask
    same = v.dtype == q.dtype
    out = np.empty(q.shape[:3] + v.shape[3:], q.dtype)
    attend.attention(q, k, v if same else v.astype(q.dtype), out=out, **rule)
    outputs = [out.transpose(0, 2, 1, 3).reshape(out.shape[0], nq, -1) if three else out, k, v]
    if len(node.output) > 3 and node.output[3]:
        mode = at.get("qk_matmul_output_mode", 0)
        if mode == 3:
            weights = attend.attention(q, k, v if same else v.astype(q.dtype), return_weights=True, **rule)[1]
            outputs.append(weights.astype(q.dtype))
        else:
            extra = hidden((q.shape[0], 1, nq, nk), offset, causal, left, right, lengths, mask)
            outputs.append(scores(q, k, scale, softcap, extra, mode).astype(q.dtype))
    return [outputs[i] for i, name in enumerate(node.output) if name]
