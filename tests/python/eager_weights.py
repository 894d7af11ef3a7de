# SPDX-License-Identifier: MIT
"""Watches, and statistics of the weights that eager attention returns, by their formulas."""

import torch
from setting import np
from tiny_models import build

import attend

# Eager's weights are f32: statistics of them have a few of its roundings.
CLOSE = {"rtol": 2e-3, "atol": 2e-4}


class Words:
    """The functions of a tokenizer that a watch uses."""

    def decode(self, ids):
        return f" {ids[0]}"


def sharp(entry):
    """A tiny model whose scores vary, so that heads differ."""
    model = build(entry)
    spread = {"t5": 1, "marian": 3, "clip_text_model": 3}.get(model.config.model_type, 12)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.mul_(spread)
    return model


def watched(model, inputs, *words, **options):
    """A watch of one call; `inputs`: its keywords, or input_ids."""
    with attend.watch(model, *words, **options) as w:
        model(**inputs if isinstance(inputs, dict) else {"input_ids": inputs})
    return w


def eager(model, **inputs):
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.no_grad():
        out = model(**inputs, output_attentions=True)
    model.set_attn_implementation(before)
    return out


def weights(attentions):
    """Weights in double that sum to 1 over the keys, without a sink logit's share."""
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
            "keys": keys,
            "top_weight": best[..., 0],
            "entropy": -np.nansum(p * log, -1),
            "n_eff": 1 / (p**2).sum(-1),
            "raw_variance": raw,
            "margin": np.log(best[..., 0]) - np.log(best[..., 1]),
            "sink1": p[..., 0],
            "self": diagonal(0),
            "previous": diagonal(1),
            "distance": (p * away).sum(-1),
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
    return [
        (p * (mask * use[..., None])[:, None]).sum((0, 2, 3)) / total
        for mask in (before, same, np.tril(after))
    ]


def attend_weights(call, rows):
    """Weights of some queries of a stored call, from its tensors in double."""
    mask = call.mask.to_dense()[:, :, rows]
    q, k = call.query[:, :, rows].double(), call.key.double().repeat_interleave(2, 1)
    return torch.softmax((call.scale * q @ k.transpose(2, 3)).masked_fill(~mask, -torch.inf), -1).numpy()
