# SPDX-License-Identifier: MIT
"""attend.torch on CUDA tensors beside torch in float64; scripts/cuda.sh runs it on a machine with a GPU."""

import torch

import attend.torch as ours

theirs = torch.nn.functional.scaled_dot_product_attention
CASES = [((2, 8, 300, 64), 8), ((1, 8, 257, 128), 2), ((3, 4, 1, 96), 4), ((2, 4, 128, 40), 4)]
ALLOWED = {torch.bfloat16: 2e-2, torch.float16: 4e-3, torch.float32: 1e-5, torch.float64: 1e-12}


def main() -> None:
    calls = 0
    engine = ours._core.forward

    def counted(*args):
        nonlocal calls
        calls += 1
        return engine(*args)

    ours._core.forward = counted
    torch.manual_seed(0)
    for dtype, allowed in ALLOWED.items():
        for causal in (False, True):
            for shape, heads in CASES:
                q = torch.randn(shape, device="cuda", dtype=dtype)
                keys = (shape[0], heads, shape[2] if causal else 500, shape[3])
                k, v = (torch.randn(keys, device="cuda", dtype=dtype) for _ in range(2))
                options = {"is_causal": causal, "enable_gqa": heads != shape[1]}
                got = ours.scaled_dot_product_attention(q, k, v, **options)
                want = theirs(q.double(), k.double(), v.double(), **options)
                error = (got.double() - want).abs().max().item()
                assert error < allowed, (dtype, causal, shape, error)
    q, k, v = (torch.randn(2, 4, n, 64, device="cuda") for n in (100, 200, 200))
    mask = torch.rand(2, 1, 100, 200, device="cuda") > 0.5
    assert (
        ours.scaled_dot_product_attention(q, k, v, attn_mask=mask) - theirs(q, k, v, attn_mask=mask)
    ).abs().max() < 1e-5
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        out = ours.scaled_dot_product_attention(q, k, v)
    stream.synchronize()
    assert (out - theirs(q, k, v)).abs().max() < 1e-5
    assert calls == 2 * len(ALLOWED) * len(CASES) + 2, calls
    print(f"{calls} calls on {torch.cuda.get_device_name()}")


main()
