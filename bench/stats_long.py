# SPDX-License-Identifier: MIT
"""Statistics of a long causal context on a GPU, and the way by n x n matrices, with time and memory of both.

usage: stats_long.py LIBATTEND [--tokens N] [--heads H] [--limit SECONDS] [--json FILE]

attend: row statistics that are fused into the forward pass, with the two top keys; column mass;
all row statistics, where a shorter call predicts an end within the limit.  Matrices: scores,
softmax, then the same numbers, as in a program that stores the pattern of a layer:
of one head at N tokens and of all heads, at the largest halving of N that memory holds.
"""
import argparse
import ctypes as c
import json
import time

import torch

from compare_cuda import Attend, Stats

GIB = 1 << 30


def used():
    free, total = torch.cuda.mem_get_info()
    return (total - free) / GIB


def timed(run):
    """Seconds of the second of two calls; the first allocates."""
    for _ in range(2):
        torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
    return time.perf_counter() - start


def draw(heads, n, d):
    torch.manual_seed(0)
    return (torch.randn(1, heads, n, d, device="cuda", dtype=torch.bfloat16) for _ in range(3))


def all_statistics(attend, q):
    """A request for every row statistic and four top keys."""
    count = 22  # ATTEND_STAT_COUNT
    attend.all_asked = (c.c_int * count)(*range(count))
    shape = q.shape[:3]
    attend.all_rows = torch.empty(*shape, count, device="cuda")
    attend.all_top = torch.empty(*shape, 4, device="cuda")
    attend.all_keys = torch.empty(*shape, 4, device="cuda", dtype=torch.int64)
    none = attend.view(None)
    attend.request = Stats(
        struct_size=c.sizeof(Stats),
        columns=c.cast(attend.all_asked, c.c_void_p),
        rows=attend.view(attend.all_rows),
        top_weights=attend.view(attend.all_top),
        top_keys=attend.all_keys.data_ptr(),
        distances=none,
        class_mass=none,
        raw=none,
    )
    return attend.request


def fused(attend, q):
    """A request for the fused row statistics, to be kept alive: the call stores its address only."""
    attend.request = attend.stats(q)
    return attend.request


def by_matrices(q, k, heads):
    """max, LSE, entropy, n_eff, two top keys, sink, distance and column mass of the patterns of `heads`."""
    n = q.shape[2]
    s = q[0, :heads] @ k[0, :heads].transpose(1, 2)
    s /= q.shape[3] ** 0.5
    for row in range(0, n, 4096):  # hidden keys, without a mask as large as the scores
        s[:, row : row + 4096, row:].masked_fill_(
            torch.arange(row, n, device="cuda")
            > torch.arange(row, min(row + 4096, n), device="cuda")[:, None],
            -float("inf"),
        )
    lse = torch.logsumexp(s, -1)
    p = torch.softmax(s, -1)
    mean = torch.empty(heads, n, device="cuda")
    entropy, squares = torch.empty_like(mean), torch.empty_like(mean)
    at = torch.arange(n, device="cuda", dtype=torch.float32)
    for row in range(0, n, 1024):  # in float, some rows at a time
        x = p[:, row : row + 1024].float()
        entropy[:, row : row + 1024] = -torch.xlogy(x, x).sum(-1)
        squares[:, row : row + 1024] = x.square().sum(-1)
        mean[:, row : row + 1024] = x @ at
    return (
        s.amax(-1),
        lse,
        entropy,
        1 / squares,
        p.topk(2),
        p[..., 0],
        at - mean,
        p.sum(1, dtype=torch.float32),
    )


def matrices(n, heads, d):
    torch.cuda.empty_cache()
    try:
        q, k, _ = draw(heads, n, d)
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        seconds = timed(lambda: by_matrices(q, k, heads))
        return dict(seconds=seconds, gib=torch.cuda.max_memory_allocated() / GIB, tokens=n, heads=heads)
    except torch.OutOfMemoryError:
        return None


def main():
    args = argparse.ArgumentParser()
    args.add_argument("library")
    args.add_argument("--tokens", type=int, default=1 << 17)
    args.add_argument("--heads", type=int, default=32)
    args.add_argument("--limit", type=float, default=60)
    args.add_argument("--json")
    args = args.parse_args()
    d, rows = 128, []

    def emit(what, **row):
        rows.append(dict(case=f"long statistics, {what}", **row))
        print(
            "  ".join(
                f"{name} {x:.4g}" if isinstance(x, float) else f"{name} {x}" for name, x in rows[-1].items()
            ),
            flush=True,
        )
        if args.json:
            with open(args.json, "w", encoding="utf-8") as file:
                json.dump(rows, file, indent=1)

    attend = Attend(args.library)
    short = args.tokens // 8
    q, k, v = draw(args.heads, short, d)
    guess = 64 * timed(attend.call(q, k, v, torch.empty_like(q), None, 2, stats=all_statistics(attend, q)))
    q, k, v = draw(args.heads, args.tokens, d)
    out = torch.empty_like(q)
    lse = torch.empty(1, args.heads, args.tokens, 1, device="cuda")
    mass = torch.empty(1, args.heads, 1, args.tokens, device="cuda")
    shape = dict(tokens=args.tokens, heads=args.heads)
    before = used()
    emit("forward pass", seconds=timed(attend.call(q, k, v, out, lse, 2)), gib=used() - before, **shape)
    emit(
        "fused rows",
        seconds=timed(attend.call(q, k, v, out, None, 2, stats=fused(attend, q))),
        gib=used() - before,
        **shape,
    )
    emit("column mass", seconds=timed(attend.columns(q, k, lse, mass, 2)), gib=used() - before, **shape)
    if guess < args.limit / 2:
        emit(
            "all rows",
            seconds=timed(attend.call(q, k, v, out, None, 2, stats=all_statistics(attend, q))),
            gib=used() - before,
            **shape,
        )
    else:
        emit("all rows", seconds=guess / 64, tokens=short, heads=args.heads)
    # The same numbers, of the last head of a short context.
    q, k, v = draw(args.heads, 4096, d)
    attend.call(q, k, v, torch.empty_like(q), None, 2, stats=fused(attend, q))()
    want = by_matrices(q, k, args.heads)
    names = ("max", "lse", "entropy", "n_eff")
    scaled = attend.rows[0].clone()
    print(
        "largest difference from the matrices at 4096 tokens, in bf16:",
        {name: (scaled[..., x] - want[x].float()).abs().max().item() for x, name in enumerate(names)},
    )
    del (
        q,
        k,
        v,
        out,
        lse,
        mass,
        want,
        scaled,
        attend.rows,
        attend.keys,
        attend.top,
        attend.all_rows,
        attend.all_keys,
        attend.all_top,
    )
    for heads in (1, args.heads):
        n = args.tokens
        while n > 1024:
            row = matrices(n, heads, d)
            if row:
                emit("n x n", **row)
                break
            n //= 2


if __name__ == "__main__":
    main()
