# SPDX-License-Identifier: MIT
"""Times attend and cuDNN (through torch) on a GPU: same problems, same clock, launches queued.

usage: compare_cuda.py LIBATTEND [--json FILE] [--only NAME] [--seconds S] [--flex] [--commit ID]

Rows of FILE for other cases are kept.  Each row has its date, driver and commit.

Every line is one case: TFLOP/s (or GB/s of K and V for decoding) of attend and of
torch's cuDNN kernel, their ratio, and the largest difference from float64.
"""
import argparse
import ctypes as c
import datetime
import json
import os
import statistics
import subprocess
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

DTYPE = {torch.float64: 1, torch.float32: 2, torch.float16: 3, torch.bfloat16: 4, torch.bool: 5}


class View(c.Structure):
    _fields_ = [("data", c.c_void_p), ("dtype", c.c_int), ("size", c.c_int64 * 4), ("stride", c.c_int64 * 4)]


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("message", c.c_char * 252)]


class Options(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("threads", c.c_int),
        ("isa", c.c_char_p),
        ("alloc", c.c_void_p),
        ("free", c.c_void_p),
        ("alloc_user", c.c_void_p),
        ("parallel_for", c.c_void_p),
        ("parallel_user", c.c_void_p),
        ("progress", c.c_void_p),
        ("progress_user", c.c_void_p),
        ("order", c.c_int64),
        ("device", c.c_char_p),
        ("stream", c.c_void_p),
        ("host_tensors", c.c_int64),
    ]


class Rule(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("scale_is_set", c.c_int),
        ("scale", c.c_double),
        ("softcap", c.c_double),
        ("causal", c.c_int),
        ("causal_offset", c.c_void_p),
        ("window_left", c.c_int64),
        ("window_right", c.c_int64),
        ("key_lengths", c.c_void_p),
        ("mask", View),
        ("bias", View),
        ("alibi", c.c_void_p),
        ("sinks", c.c_void_p),
    ]


class Io(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("q", View),
        ("k", View),
        ("v", View),
        ("out", View),
        ("lse", View),
        ("weights", View),
        ("force_weights", c.c_int),
        ("stats", c.c_void_p),
    ]


class Stats(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("columns", c.c_void_p),
        ("rows", View),
        ("top_weights", View),
        ("top_keys", c.c_void_p),
        ("distances", View),
        ("class_mass", View),
        ("classes", c.c_void_p),
        ("summaries", c.c_void_p),
        ("raw", View),
        ("summary_stride", c.c_int64),
        ("summary_kinds", c.c_int64),
    ]


class Inspection(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("q", View),
        ("k", View),
        ("lse", View),
        ("mass", View),
        ("most", View),
        ("last", View),
        ("last_queries", c.c_int64),
        ("pooled", View),
        ("pooled_block", c.c_int64),
        ("zoom", View),
        ("zoom_query", c.c_int64),
        ("zoom_key", c.c_int64),
        ("probes", c.c_void_p),
        ("probe_count", c.c_int64),
        ("probe_weights", c.c_void_p),
    ]


class Attend:
    """A context of the library on the current stream."""

    def __init__(self, path, order=1):
        self.lib = c.CDLL(path)
        self.ctx = c.c_void_p()
        self.error = Error()
        options = Options(
            struct_size=c.sizeof(Options),
            threads=1,
            order=order,
            device=b"cuda",
            stream=torch.cuda.current_stream().cuda_stream,
        )
        self.check(self.lib.attend_context_create(c.byref(self.ctx), c.byref(options), c.byref(self.error)))

    def check(self, status):
        if status:
            raise RuntimeError(self.error.message.decode())

    @staticmethod
    def view(t):
        if t is None:
            return View(None, 2)
        return View(t.data_ptr(), DTYPE[t.dtype], (c.c_int64 * 4)(*t.shape), (c.c_int64 * 4)(*t.stride()))

    def call(
        self, q, k, v, out, lse=None, causal=0, window=-1, lengths=None, scale=None, mask=None, stats=None
    ):
        rule = Rule(struct_size=c.sizeof(Rule), causal=causal, window_left=window, window_right=-1)
        if scale is not None:
            rule.scale_is_set, rule.scale = 1, scale
        if lengths is not None:
            rule.key_lengths = lengths.data_ptr()
        rule.mask, rule.bias = self.view(mask), self.view(None)
        io = Io(
            struct_size=c.sizeof(Io),
            q=self.view(q),
            k=self.view(k),
            v=self.view(v),
            out=self.view(out),
            lse=self.view(lse),
            weights=self.view(None),
        )
        if stats is not None:
            io.stats = c.addressof(stats)

        def run():
            self.check(self.lib.attend_forward(self.ctx, c.byref(rule), c.byref(io), c.byref(self.error)))

        return run

    def stats(self, q):
        """Requests row statistics, the two top keys among them."""
        names = ["max", "lse", "entropy", "n_eff", "margin", "sink1", "distance"]
        self.lib.attend_stat_name.restype = c.c_char_p
        known = [self.lib.attend_stat_name(x).decode() for x in range(22)]
        self.columns_asked = (c.c_int * len(names))(*(known.index(name) for name in names))
        b, h, n, _ = q.shape
        self.rows = torch.full((b, h, n, len(names)), float("nan"), device="cuda")
        self.top = torch.full((b, h, n, 2), float("nan"), device="cuda")
        self.keys = torch.full((b, h, n, 2), -7, device="cuda", dtype=torch.int64)
        none = self.view(None)
        return Stats(
            struct_size=c.sizeof(Stats),
            columns=c.cast(self.columns_asked, c.c_void_p),
            rows=self.view(self.rows),
            top_weights=self.view(self.top),
            top_keys=self.keys.data_ptr(),
            distances=none,
            class_mass=none,
            raw=none,
        )

    def columns(self, q, k, lse, mass, causal=0):
        rule = Rule(struct_size=c.sizeof(Rule), causal=causal, window_left=-1, window_right=-1)
        rule.mask, rule.bias = self.view(None), self.view(None)
        none = self.view(None)
        request = Inspection(
            struct_size=c.sizeof(Inspection),
            q=self.view(q),
            k=self.view(k),
            lse=self.view(lse),
            mass=self.view(mass),
            most=none,
            last=none,
            pooled=none,
            zoom=none,
        )

        def run():
            self.check(
                self.lib.attend_inspect(self.ctx, c.byref(rule), c.byref(request), c.byref(self.error))
            )

        return run


def output_of(*command):
    """The output of a command, or None if it is missing or fails."""
    try:
        return (
            subprocess.run(
                command,
                capture_output=True,
                check=True,
                text=True,
                cwd=os.path.dirname(os.path.abspath(__file__)),
            )
            .stdout.strip()
            .split("\n")[0]
        )
    except (OSError, subprocess.CalledProcessError):
        return None


def burst(run, launches=15):
    """Median seconds of a launch; launches are queued after idle time."""
    run()
    torch.cuda.synchronize()
    time.sleep(0.12)
    events = [torch.cuda.Event(enable_timing=True) for _ in range(launches + 1)]
    for x in range(launches):
        events[x].record()
        run()
    events[launches].record()
    torch.cuda.synchronize()
    return statistics.median(events[x].elapsed_time(events[x + 1]) for x in range(launches)) / 1e3


def sustained(run, one, seconds):
    """Seconds of a launch, launches back to back."""
    count = max(4, int(seconds / one))
    for _ in range(count // 4):
        run()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(count):
        run()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / 1e3 / count


def cudnn(q, k, v, causal, gqa):
    def run():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=gqa)

    try:
        run()
    except RuntimeError:
        return None
    return run


def flex(q, k, v, see):
    """torch's flex_attention, compiled, with a block mask."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    try:
        n = q.shape[2]
        blocks = create_block_mask(lambda b, h, i, j: see(i, j), None, None, n, n, device="cuda")
        compiled = torch.compile(flex_attention, dynamic=False)
        compiled(q, k, v, block_mask=blocks)
        torch.cuda.synchronize()
    except Exception as why:
        print(f"  flex_attention: {str(why)[:200]}", flush=True)
        return None
    return lambda: compiled(q, k, v, block_mask=blocks)


def masked_ways(q, k, v, mask):
    """torch's backends for a boolean mask, by name."""
    for name, backend in (
        ("efficient", SDPBackend.EFFICIENT_ATTENTION),
        ("cudnn", SDPBackend.CUDNN_ATTENTION),
    ):

        def run(backend=backend):
            with sdpa_kernel(backend):
                F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

        try:
            run()
            torch.cuda.synchronize()
        except RuntimeError:
            continue
        yield name, run


def mask_cases(n):
    document = torch.arange(n, device="cuda") // (n // 8)
    half = torch.rand(n, n, device="cuda") < 0.5
    yield "50 % random", half, lambda i, j: half[i, j]
    yield "8 documents", document[:, None] == document[None], lambda i, j: document[i] == document[j]


def error_of(out, q, k, v, causal, window=-1, rows=64):
    """Largest difference from float64 over sampled rows, in units of max |V|."""
    nq, nk = q.shape[2], k.shape[2]
    some = torch.randperm(nq, device="cuda")[:rows].sort().values
    g = q.shape[1] // k.shape[1]
    worst = 0.0
    for h in (0, q.shape[1] - 1):
        s = q[0, h, some].double() @ k[0, h // g].double().T / q.shape[3] ** 0.5
        if causal:
            at = some[:, None] + nk - nq
            j = torch.arange(nk, device="cuda")[None]
            hidden = j > at
            if window >= 0:
                hidden |= j < at - window
            s.masked_fill_(hidden, -float("inf"))
        want = s.softmax(-1) @ v[0, h // g].double()
        worst = max(worst, ((out[0, h, some].double() - want).abs().max() / v.abs().max().double()).item())
    return worst


def tensors(b, hq, hk, nq, nk, d, dtype, std=1.0):
    def new(h, n):
        return torch.randn(b, h, n, d, device="cuda", dtype=dtype)

    return new(hq, nq) * std, new(hk, nk), new(hk, nk)


def prefill_cases():
    for dtype in (torch.bfloat16, torch.float16):
        for d, h in ((128, 16), (64, 32)):
            for causal in (False, True):
                for n in (2048, 4096, 8192, 16384):
                    name = f"{str(dtype)[6:]} d{d} {'causal' if causal else 'full'} {n}"
                    yield name, (16384 // n, h, h, n, n, d, dtype), causal, -1
    for causal in (False, True):
        for n in (4096, 16384):
            yield f"gqa 64/8 d128 {'causal' if causal else 'full'} {n}", (
                1,
                64,
                8,
                n,
                n,
                128,
                torch.bfloat16,
            ), causal, -1
    yield "window 1024 64/8 d64 causal 16384", (2, 64, 8, 16384, 16384, 64, torch.bfloat16), True, 1024


def main():
    args = argparse.ArgumentParser()
    args.add_argument("library")
    args.add_argument("--json")
    args.add_argument("--only", default="")
    args.add_argument("--seconds", type=float, default=0.6)
    args.add_argument("--flex", action="store_true", help="flex_attention too, which has to be compiled")
    args.add_argument("--commit", help="of the library, where there is no git to ask")
    args = args.parse_args()
    attend = Attend(args.library)
    rows = []
    origin = dict(
        date=datetime.date.today().isoformat(),
        driver=output_of("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"),
        commit=args.commit or output_of("git", "rev-parse", "--short", "HEAD"),
    )
    if args.json and os.path.exists(args.json):
        with open(args.json) as f:
            rows = json.load(f)

    def emit(**row):
        cases = [other["case"] for other in rows]
        row.update(origin)
        if row["case"] in cases:
            rows[cases.index(row["case"])] = row
        else:
            rows.append(row)
        print(
            "  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{v}" for k, v in row.items()), flush=True
        )
        if args.json:
            with open(args.json, "w") as f:
                json.dump(rows, f, indent=1)

    for name, shape, causal, window in prefill_cases():
        if args.only not in name:
            continue
        b, hq, hk, nq, nk, d, dtype = shape
        q, k, v = tensors(*shape)
        out = torch.full_like(q, float("nan"))
        lse = torch.empty(b, hq, nq, 1, device="cuda")
        run = attend.call(q, k, v, out, lse, 2 if causal else 0, window)
        run()
        torch.cuda.synchronize()
        error = error_of(out, q, k, v, causal, window)
        other = cudnn(q, k, v, causal, hq != hk)
        work = 4.0 * b * hq * nq * nk * d * (0.5 if causal else 1.0)
        mine = burst(run)
        theirs = burst(other) if other else float("nan")
        row = dict(
            case=name, attend=work / mine / 1e12, cudnn=work / theirs / 1e12, ratio=theirs / mine, error=error
        )
        if nq == 16384 and args.seconds > 0:
            row["sustained"] = work / sustained(run, mine, args.seconds) / 1e12
            row["cudnn_sustained"] = (
                work / sustained(other, theirs, args.seconds) / 1e12 if other else float("nan")
            )
        emit(**row)
        del q, k, v, out, lse, other, run
    for d, h, causal in ((128, 16, False), (128, 16, True), (64, 32, True)):
        if args.only not in "logits":
            continue
        first = None
        for std in (1, 4, 16, 64, 256):
            q, k, v = tensors(2, h, h, 8192, 8192, d, torch.bfloat16, std)
            out = torch.empty_like(q)
            run = attend.call(q, k, v, out, None, 2 if causal else 0)
            run()
            torch.cuda.synchronize()
            error = error_of(out, q, k, v, causal)
            work = 4.0 * 2 * h * 8192 * 8192 * d * (0.5 if causal else 1.0)
            seconds = burst(run)
            first = first or seconds
            name = f"logits std {std}" + (f" d{d} causal" if causal else "")
            emit(case=name, attend=work / seconds / 1e12, time_over_std_1=seconds / first, error=error)
            del q, k, v, out
    for d, h in ((128, 16), (64, 32)):
        if args.only not in "mask":
            continue
        for name, mask, see in mask_cases(8192):
            q, k, v = tensors(2, h, h, 8192, 8192, d, torch.bfloat16)
            out = torch.full_like(q, float("nan"))
            run = attend.call(q, k, v, out, mask=mask[None, None].expand(2, h, 8192, 8192))
            run()
            s = (q[1, 3, :64].double() @ k[1, 3].double().T / d**0.5).masked_fill(~mask[:64], -float("inf"))
            error = (
                (out[1, 3, :64].double() - s.softmax(-1) @ v[1, 3].double()).abs().max() / v.abs().max()
            ).item()
            mine = burst(run)
            others = {way: burst(other, 5) for way, other in masked_ways(q, k, v, mask[None, None])}
            if args.flex:
                other = flex(q, k, v, see)
                if other:
                    others["flex"] = burst(other)
            best = min(others, key=others.get)
            emit(
                case=f"mask {name} d{d} 8192",
                milliseconds=mine * 1e3,
                best=best,
                ratio=others[best] / mine,
                others={way: seconds * 1e3 for way, seconds in others.items()},
                error=error,
            )
            del q, k, v, out, mask, s
    for d, h in ((128, 16), (64, 32)):
        if args.only not in "stats":
            continue
        for causal in (0, 2):
            q, k, v = tensors(2, h, h, 8192, 8192, d, torch.bfloat16)
            out = torch.empty_like(q)
            all_seen = torch.ones(1, 1, 8192, 8192, device="cuda", dtype=torch.bool).expand(2, h, 8192, 8192)
            request = attend.stats(q)
            forward, masked = attend.call(q, k, v, out, None, causal), attend.call(
                q, k, v, out, None, causal, mask=all_seen
            )
            measured = attend.call(q, k, v, out, None, causal, stats=request)
            measured()
            torch.cuda.synchronize()
            s = q[1, 3, -64:].double() @ k[1, 3].double().T / d**0.5
            if causal:
                s.masked_fill_(torch.ones_like(s, dtype=torch.bool).triu(8192 - 63), -float("inf"))
            w = s.softmax(-1)
            entropy = -(w * w.clamp_min(1e-300).log()).sum(-1)
            error = (attend.rows[1, 3, -64:, 2].double() - entropy).abs().max().item()
            one, all_of_it = burst(forward), burst(measured)
            # Logits of std 256: lazy rescaling, with the row max in every block.
            wide = q * 256
            lazy = {} if causal else {"over_lazy": all_of_it / burst(attend.call(wide, k, v, out)) - 1}
            emit(
                case=f"stats d{d} {'causal' if causal else 'full'} 8192",
                over_forward=all_of_it / one - 1,
                **lazy,
                mask_over_forward=burst(masked) / one - 1,
                error=error,
                same_keys=bool((attend.keys[1, 3, -64:, :2] == s.topk(2).indices).all()),
            )
            del q, k, v, out, s, w, all_seen, wide
    for d, h in ((128, 16), (64, 32)):
        if args.only not in "columns":
            continue
        for causal in (0, 2):
            q, k, v = tensors(2, h, h, 8192, 8192, d, torch.bfloat16)
            out, lse = torch.empty_like(q), torch.empty(2, h, 8192, 1, device="cuda")
            mass = torch.full((2, h, 1, 8192), float("nan"), device="cuda")
            forward = attend.call(q, k, v, out, lse, causal)
            columns = attend.columns(q, k, lse, mass, causal)
            forward()
            columns()
            s = (q[1, 3].float() @ k[1, 3].float().T) / d**0.5
            if causal:
                s.masked_fill_(torch.ones_like(s, dtype=torch.bool).triu(1), -float("inf"))
            want = s.softmax(-1).double().sum(0)
            error = ((mass[1, 3, 0].double() - want).abs() / want).max().item()
            emit(
                case=f"columns d{d} {'causal' if causal else 'full'} 8192",
                share=burst(columns) / burst(forward),
                error=error,
            )
            del q, k, v, out, lse, mass, s, want
    for d in (256, 192):
        if args.only not in "d256":
            continue
        for causal in (False, True):
            q, k, v = tensors(2, 8, 8, 8192, 8192, d, torch.bfloat16)
            out = torch.full_like(q, float("nan"))
            run = attend.call(q, k, v, out, None, 2 if causal else 0)
            run()
            error = error_of(out, q, k, v, causal)
            other = cudnn(q, k, v, causal, False)
            work = 4.0 * 2 * 8 * 8192 * 8192 * d * (0.5 if causal else 1.0)
            mine, theirs = burst(run), burst(other) if other else float("nan")
            emit(
                case=f"bfloat16 d{d} {'causal' if causal else 'full'} 8192",
                attend=work / mine / 1e12,
                cudnn=work / theirs / 1e12,
                ratio=theirs / mine,
                error=error,
            )
            del q, k, v, out
    for causal in (False, True):
        if args.only not in "d192 dv128":
            continue
        for n in (2048, 8192):
            q, k, _ = tensors(16384 // n, 16, 16, n, n, 192, torch.bfloat16)
            v = torch.randn(16384 // n, 16, n, 128, device="cuda", dtype=torch.bfloat16)
            out = torch.full_like(v, float("nan"))
            run = attend.call(q, k, v, out, None, 2 if causal else 0)
            run()
            error = error_of(out, q, k, v, causal)
            other = cudnn(q, k, v, causal, False)
            work = 2.0 * q.shape[0] * 16 * n * n * (192 + 128) * (0.5 if causal else 1.0)
            mine, theirs = burst(run), burst(other) if other else float("nan")
            emit(
                case=f"bfloat16 d192 dv128 {'causal' if causal else 'full'} {n}",
                attend=work / mine / 1e12,
                cudnn=work / theirs / 1e12,
                ratio=theirs / mine,
                error=error,
            )
            del q, k, v, out
    source = torch.empty(1 << 32, device="cuda", dtype=torch.uint8)
    read = source.numel() / burst(lambda: source.view(torch.int64).sum()) / 1e9
    del source
    for b, hk, g, nk in (
        (16, 8, 4, 16384),
        (64, 8, 4, 4096),
        (1, 8, 4, 131072),
        (4, 8, 4, 8192),
        (128, 8, 4, 1024),
    ):
        if args.only not in "decode":
            continue
        sets = []
        for _ in range(max(1, min(4, (1 << 30) // (b * hk * nk * 512)))):
            q, k, v = tensors(b, hk * g, hk, 1, nk, 128, torch.bfloat16)
            k = torch.randn(b, hk, nk, 128, device="cuda", dtype=torch.bfloat16)
            v = torch.randn(b, hk, nk, 128, device="cuda", dtype=torch.bfloat16)
            out = torch.full((b, hk * g, 1, 128), float("nan"), device="cuda", dtype=torch.bfloat16)
            sets.append((attend.call(q, k, v, out), q, k, v, out))
        for one in sets:
            one[0]()
        torch.cuda.synchronize()
        error = error_of(sets[0][4], *sets[0][1:4], False)
        at = [0]

        def run():
            sets[at[0] % len(sets)][0]()
            at[0] += 1

        graph = torch.cuda.CUDAGraph()
        side = torch.cuda.Stream()
        attend.lib.attend_context_set_stream(attend.ctx, c.c_void_p(side.cuda_stream), None)
        with torch.cuda.graph(graph, stream=side):
            for _ in range(8):
                run()
        attend.lib.attend_context_set_stream(
            attend.ctx, c.c_void_p(torch.cuda.current_stream().cuda_stream), None
        )
        seconds = burst(graph.replay) / 8
        size = 2.0 * b * hk * nk * 128 * 2
        emit(
            case=f"decode 32/8 d128 B{b} ctx{nk}",
            GBps=size / seconds / 1e9,
            read=read,
            ratio=size / seconds / 1e9 / read,
            microseconds=seconds * 1e6,
            error=error,
        )
        del sets, graph
    print(
        json.dumps(
            {
                "gpu": torch.cuda.get_device_name(0),
                "cudnn": torch.backends.cudnn.version(),
                "torch": torch.__version__,
            }
        )
    )


if __name__ == "__main__":
    main()
