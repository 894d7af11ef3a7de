# SPDX-License-Identifier: MIT
"""Times the kernels for any GPU from Ampere on beside those of Hopper and torch's FlashAttention.

usage: compare_sm80.py LIBATTEND

TFLOP/s of prefill, launches queued, median of a burst; microseconds and GB/s of K and V of
decoding.  A context reads ATTEND_CUDA_KERNELS when it is created.
"""
import os
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from compare_cuda import Attend, burst, error_of, mask_cases, tensors


def context(path, kernels):
    os.environ["ATTEND_CUDA_KERNELS"] = kernels
    return Attend(path)


def flash(q, k, v, causal):
    def run():
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1])

    return run


def main():
    sm80, best = context(sys.argv[1], "sm80"), context(sys.argv[1], "")
    for d, h in ((128, 16), (64, 32)):
        for causal in (False, True):
            for n in (2048, 4096, 8192, 16384):
                q, k, v = tensors(16384 // n, h, h, n, n, d, torch.bfloat16)
                out = torch.empty_like(q)
                flops = 4.0 * q.numel() * n / (2 if causal else 1) / 1e12
                ways = {
                    "sm80": sm80.call(q, k, v, out, causal=2 * causal),
                    "hopper": best.call(q, k, v, torch.empty_like(q), causal=2 * causal),
                    "flash": flash(q, k, v, causal),
                }
                rates = {name: flops / burst(run) for name, run in ways.items()}
                print(
                    f"bfloat16 d{d} {'causal' if causal else 'full'} {n}",
                    " ".join(f"{x} {y:.0f}" for x, y in rates.items()),
                    f"error {error_of(out, q, k, v, causal):.2g}",
                    flush=True,
                )
    for d, h in ((128, 16), (64, 32)):
        q, k, v = tensors(2, h, h, 8192, 8192, d, torch.bfloat16)
        for name, mask, _ in mask_cases(8192):
            shown = mask[None, None].expand(2, h, 8192, 8192)
            times = [burst(ctx.call(q, k, v, torch.empty_like(q), mask=shown)) for ctx in (sm80, best)]
            print(
                f"mask {name} d{d} 8192 sm80 {times[0] * 1e3:.2f} ms hopper {times[1] * 1e3:.2f} ms",
                flush=True,
            )
    for b, n in ((16, 16384), (64, 4096), (1, 131072), (4, 8192)):
        q, k, v = tensors(b, 32, 8, 1, n, 128, torch.bfloat16)
        out = torch.empty_like(q)
        for name, ctx in (("sm80", sm80), ("hopper", best)):
            seconds = burst(ctx.call(q, k, v, out))
            print(
                f"decode 32/8 d128 B{b} ctx{n} {name} {seconds * 1e6:.0f} us {4e-9 * k.numel() / seconds:.0f} GB/s",
                flush=True,
            )


if __name__ == "__main__":
    main()
