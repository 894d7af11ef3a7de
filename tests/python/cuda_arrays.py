# SPDX-License-Identifier: MIT
"""attend's functions on arrays of a GPU beside the same on the host; scripts/cuda.sh runs it on a machine with a GPU."""

import numpy as np
import torch

import attend


class Foreign:
    """An array with DLPack as its only interface."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.shape, self.dtype = tuple(tensor.shape), tensor.dtype

    def __dlpack__(self, **options):
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


def check_attention(q, k, v):
    rules = [
        {},
        {"causal": "bottom-right"},
        {"causal": [3, 5]},
        {"window": (20, 0), "causal": "bottom-right"},
        {"key_lengths": [70, 100]},
        {"alibi": [0.5, 0.25, 0.1, 0.02]},
        {"sinks": [0.0, 1.0, -1.0, 2.0]},
        {"softcap": 5.0},
        {"mask": torch.rand(2, 1, 60, 100) > 0.3},
        {"bias": torch.randn(1, 4, 60, 100)},
    ]
    for rule in rules:
        want, lse = attend.attention(q, k, v, return_lse=True, **rule)
        there = {name: x.cuda() if isinstance(x, torch.Tensor) else x for name, x in rule.items()}
        got, own = attend.attention(q.cuda(), k.cuda(), v.cuda(), return_lse=True, **there)
        assert got.is_cuda and own.is_cuda, rule
        assert (got.cpu() - want).abs().max() < 1e-5 and (own.cpu() - lse).abs().max() < 1e-4, rule
    foreign = attend.attention(*(Foreign(x.cuda()) for x in (q, k, v)))
    assert (
        isinstance(foreign, torch.Tensor) and (foreign.cpu() - attend.attention(q, k, v)).abs().max() < 1e-5
    )


def check_statistics(q, k, v):
    want = attend.stats(q, k, v, causal="bottom-right")
    got = attend.stats(q.cuda(), k.cuda(), v.cuda(), causal="bottom-right")
    for name in want:
        assert np.allclose(got[name], want[name], rtol=1e-4, atol=1e-4), name
    assert (got.top_keys == want.top_keys).mean() > 0.99
    assert np.array_equal(got.summaries["entropy"].rows, want.summaries["entropy"].rows)
    half = [x.bfloat16() for x in (q, k, v)]
    names = ["max", "lse", "entropy", "n_eff", "sink1", "distance"]
    want = attend.stats(*half, columns=names, top=2)
    got = attend.stats(*(x.cuda() for x in half), columns=names, top=2)
    for name in names:
        assert np.allclose(got[name], want[name], rtol=1e-3, atol=1e-3), name
    for options in (
        {"column_mass": True, "column_max": True, "last": 5},
        {"pooled": 16},
        {"zoom": (3, 4, 5, 6)},
        {"probes": [(0, 1, 2, 3), (1, 3, 59, 7)]},
    ):
        want = attend.inspect(q, k, **options)
        got = attend.inspect(q.cuda(), k.cuda(), **options)
        for name in ("column_mass", "column_max", "column_last", "pooled", "zoom", "probes"):
            if getattr(want, name) is not None:
                assert np.allclose(getattr(got, name), getattr(want, name), rtol=1e-4, atol=1e-5), name


def check_model():
    try:
        import transformers
    except ImportError:
        print("transformers is not here: no model")
        return
    import attend.transformers

    attend.transformers.register()
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=50,
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
    model = transformers.LlamaForCausalLM(config).eval()
    ids = torch.randint(0, 50, (2, 40))
    seen = torch.ones(2, 40, dtype=torch.long)
    seen[1, :7] = 0
    found = {}
    for device in ("cpu", "cuda"):
        for kind in ("eager", "attend"):
            model.to(device).set_attn_implementation(kind)
            with torch.no_grad():
                found[device, kind] = model(ids.to(device), attention_mask=seen.to(device)).logits.cpu()[
                    seen.bool()
                ]
    assert (found["cuda", "attend"] - found["cuda", "eager"]).abs().max() < 1e-4
    records = {}
    for device in ("cpu", "cuda"):
        with attend.watch(model.to(device)) as watched, torch.no_grad():
            model(ids.to(device), attention_mask=seen.to(device))
        records[device] = watched.layers[0].calls[0].rows
    assert np.allclose(records["cuda"], records["cpu"], rtol=1e-3, atol=1e-3, equal_nan=True)
    print("a model and what watches it agree with the CPU")


def main():
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, h, n, 64) for h, n in ((4, 60), (2, 100), (2, 100)))
    check_attention(q, k, v)
    check_statistics(q, k, v)
    check_model()
    print(f"attention, statistics and inspection on {torch.cuda.get_device_name()}")


main()
