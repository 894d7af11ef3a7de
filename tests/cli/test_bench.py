# SPDX-License-Identifier: MIT
"""`attend bench`: the table of cases, their selection, and their operation counts."""

import fnmatch

import numpy as np

import harness
from harness import CliTest, sample

DTYPES = ["f32", "bf16", "f16"]
FIELDS = (
    "case dtype threads isa median_ms min_ms gflops peak_gflops peak_by of_peak"
    " visited_gflops visited_of_peak gbps read_gbps of_bandwidth of_roof bins"
    " over_forward inspect_ms peak_mb"
).split()
OF_DECODING = ["gbps", "read_gbps", "of_bandwidth", "of_roof"]
OF_MASKS = ["visited_gflops", "visited_of_peak"]
OF_BIN = ["samples", "read_gbps", "gbps", "of_roof"]

# Batch, heads of Q, of K and V, queries, keys, width.
SHAPES = {
    "prefill-d64-2k": (1, 16, 16, 2048, 2048, 64),
    "prefill-d128-2k": (1, 8, 8, 2048, 2048, 128),
    "causal-d64-2k": (1, 16, 16, 2048, 2048, 64),
    "causal-d128-2k": (1, 8, 8, 2048, 2048, 128),
    "causal-d128-8k": (1, 8, 8, 8192, 8192, 128),
    "window-d128-8k": (1, 8, 8, 8192, 8192, 128),
    "short-d64-128": (1, 12, 12, 128, 128, 64),
    "short-d64-512": (1, 12, 12, 512, 512, 64),
    "gqa-causal-d128-4k": (1, 32, 8, 4096, 4096, 128),
    "mask-d64-1k": (1, 16, 16, 1024, 1024, 64),
    "mask-docs8-d64-2k": (1, 16, 16, 2048, 2048, 64),
    "mask-docs8-d128-2k": (1, 8, 8, 2048, 2048, 128),
    "decode-gqa-d128-8k": (1, 32, 8, 1, 8192, 128),
    "decode-mha-d128-8k": (1, 32, 32, 1, 8192, 128),
    "decode-batch8-gqa-d128-4k": (8, 32, 8, 1, 4096, 128),
    "odd-129x1023x80": (1, 8, 8, 129, 1023, 80),
    "tiny-1x64-d64": (1, 1, 1, 1, 64, 64),
    "stats-off-d64-2k": (1, 16, 16, 2048, 2048, 64),
    "stats-rows-d64-2k": (1, 16, 16, 2048, 2048, 64),
    "stats-all-d64-2k": (1, 16, 16, 2048, 2048, 64),
    "columns-d64-2k": (1, 16, 16, 2048, 2048, 64),
    "stats-off-d128-2k": (1, 8, 8, 2048, 2048, 128),
    "stats-rows-d128-2k": (1, 8, 8, 2048, 2048, 128),
    "stats-all-d128-2k": (1, 8, 8, 2048, 2048, 128),
    "columns-d128-2k": (1, 8, 8, 2048, 2048, 128),
    "stats-decode-gqa-d128-8k": (1, 32, 8, 1, 8192, 128),
    "stats-decode-mha-d128-8k": (1, 32, 32, 1, 8192, 128),
    "stats-128k": (1, 1, 1, 1 << 17, 1 << 17, 64),
}


def stats_of(name):
    """The outputs besides O that a case of this name requests."""
    first, second = (name + "--").split("-")[:2]
    if first == "columns":
        return first
    if first != "stats":
        return "none"
    return {"128k": "map", "decode": "rows"}.get(second, second)


def mask_of(name):
    if not name.startswith("mask-"):
        return "none"
    return "docs8" if "docs8" in name else "random"


def is_decoding(name):
    return "decode-" in name


class Bench(CliTest):
    def lines(self, *args):
        return self.objects("bench", *args)

    def timed(self, *args):
        return self.lines("--json", "--seconds", "0.01", *args)

    def test_list(self):
        cases = self.lines("--list", "--json")
        shape = "batch hq hkv nq nk d".split()
        self.assertEqual({c["case"]: tuple(c[x] for x in shape) for c in cases}, SHAPES)
        self.assertEqual(len(cases), len(SHAPES))
        for c in cases:
            name = c["case"]
            self.assertEqual(c["dv"], c["d"])
            self.assertEqual(c["kind"] == "decode", is_decoding(name), name)
            causal = "causal" in name or "window" in name or name == "stats-128k"
            self.assertEqual(c["causal"], "top-left" if causal else "none", name)
            self.assertEqual(c["window_left"], 1024 if "window" in name else -1, name)
            self.assertEqual(c["mask"], mask_of(name), name)
            self.assertEqual(c["stats"], stats_of(name), name)

    def test_list_as_text(self):
        head, *rows = self.succeed("bench", "--list").splitlines()
        self.assertEqual(head.split()[0], "case")
        self.assertEqual([row.split()[0] for row in rows], list(SHAPES))
        self.assertEqual(self.succeed("bench", "--list", "--case", "odd*").count("\n"), 2)

    def test_patterns(self):
        for pattern in "decode-*", "*d64-[15]*", "tiny-1x64-d64", "stats-1*", "*":
            chosen = [c["case"] for c in self.lines("--list", "--json", "--case", pattern)]
            self.assertEqual(chosen, fnmatch.filter(SHAPES, pattern), pattern)

    def check_line(self, line):
        what = str(line)
        self.assertEqual(list(line), FIELDS, what)
        self.assertLessEqual(line["min_ms"], line["median_ms"], what)
        self.assertGreater(line["min_ms"], 0, what)
        share = line["gflops"] / line["peak_gflops"]
        self.assertAlmostEqual(line["of_peak"], share, delta=1e-9 * share, msg=what)
        self.assertGreater(line["of_peak"], 0, what)
        self.assertEqual([line["inspect_ms"], line["peak_mb"]], [None] * 2, what)
        if stats_of(line["case"]) == "none":
            self.assertIsNone(line["over_forward"], what)
        else:
            self.assertGreater(line["over_forward"], 0, what)
        if mask_of(line["case"]) == "none":
            self.assertEqual([line[x] for x in OF_MASKS], [None] * 2, what)
        else:
            self.assertGreaterEqual(line["visited_gflops"], line["gflops"], what)
            share = line["visited_gflops"] / line["peak_gflops"]
            self.assertAlmostEqual(line["visited_of_peak"], share, delta=1e-9 * share)
        if is_decoding(line["case"]):
            self.check_decoding(line)
        else:
            self.assertEqual([line[x] for x in OF_DECODING], [None] * 4, what)
            self.assertEqual(line["bins"], [], what)

    def check_decoding(self, line):
        batch, hq, hkv, _, nk, d = SHAPES[line["case"]]
        size = 4 if line["dtype"] == "f32" else 2
        moved = line["gbps"] * 1e6 * line["median_ms"]
        stored = 2 * batch * hkv * nk * d * size
        self.assertAlmostEqual(moved, stored, delta=1e-9 * stored)
        share = line["gbps"] / line["read_gbps"]
        self.assertAlmostEqual(line["of_bandwidth"], share, delta=1e-9 * share)
        self.assertGreater(share, 0, line)
        flops_per_byte = 4 * hq * nk * d * batch / stored
        roof = min(line["read_gbps"], 0.7 * line["peak_gflops"] / flops_per_byte)
        self.assertAlmostEqual(line["of_roof"], line["gbps"] / roof, delta=1e-9)
        self.check_bins(line["bins"], line)

    def check_bins(self, bins, line):
        what = str(line)
        self.assertIn(len(bins), (1, 2), what)
        for part in bins:
            self.assertEqual(list(part), OF_BIN, what)
            for name in OF_BIN:
                self.assertGreater(part[name], 0, what)
        self.assertGreaterEqual(sum(part["samples"] for part in bins), 3, what)
        if len(bins) == 1:
            for name in "read_gbps", "gbps":
                self.assertAlmostEqual(bins[0][name], line[name], delta=1e-6 * line[name])
        else:
            slow, fast = bins
            self.assertLess(slow["read_gbps"], fast["read_gbps"], what)
            # The median of all lies between the medians of the parts.
            self.assertLessEqual(slow["read_gbps"], line["read_gbps"], what)
            self.assertLessEqual(line["read_gbps"], fast["read_gbps"], what)

    def test_each_dtype(self):
        lines = self.timed("--case", "tiny-1x64-d64")
        self.assertEqual([x["dtype"] for x in lines], DTYPES)
        for line in lines:
            self.check_line(line)
        self.assertEqual(lines[0]["isa"], harness.info()["isa"])
        self.assertEqual(lines[0]["threads"], harness.info()["threads"])

    def test_each_set(self):
        """Every set has a loop for its peak, in each dtype."""
        for name in harness.runnable_sets():
            for line in self.timed("--case", "tiny*", "--isa", name, "--threads", "1"):
                self.check_line(line)
                self.assertEqual((line["isa"], line["threads"]), (name, 1))
                is_tiles = (name, line["dtype"]) == ("amx", "bf16")
                self.assertEqual(line["peak_by"] == "tdpbf16ps", is_tiles, line)

    def test_decoding(self):
        for dtype in "f32", "f16":
            (line,) = self.timed("--case", "decode-gqa-*", "--dtype", dtype)
            self.assertEqual(line["dtype"], dtype)
            self.check_line(line)

    def test_statistics_in_decoding(self):
        for line in self.timed("--case", "stats-decode-gqa-*"):
            self.check_line(line)

    def pairs(self, case, rate="gflops"):
        """Pairs of query and key that are counted for each head."""
        (line,) = self.timed("--case", case, "--dtype", "bf16")
        self.check_line(line)
        batch, hq, _, _, _, d = SHAPES[case]
        of_pair = 2 * d if stats_of(case) == "columns" else 4 * d
        pairs = line[rate] * 1e6 * line["median_ms"] / (of_pair * batch * hq)
        self.assertAlmostEqual(pairs, round(pairs), delta=1e-9 * pairs)
        return round(pairs)

    def test_useful_work(self):
        self.assertEqual(self.pairs("odd-129x1023x80"), 129 * 1023)
        self.assertEqual(self.pairs("short-d64-128"), 128 * 128)
        self.assertEqual(self.pairs("causal-d64-2k"), sum(range(1, 2049)))
        window = sum(min(i, 1024) + 1 for i in range(8192))
        self.assertEqual(self.pairs("window-d128-8k"), window)
        for what in sample(("stats-off", "stats-rows", "stats-all", "columns"), 1):
            self.assertEqual(self.pairs(f"{what}-d128-2k"), 1 << 22)
        # Six standard deviations of as many coin flips.
        self.assertAlmostEqual(self.pairs("mask-d64-1k"), 1 << 19, delta=6 * 512)
        self.assertEqual(self.pairs("mask-docs8-d128-2k"), 8 * 256**2)

    def test_visited_work(self):
        """All pairs of the tiles (48 rows by 128 keys) in which a pair is visible."""
        self.assertEqual(self.pairs("mask-d64-1k", "visited_gflops"), 1 << 20)
        document = np.arange(2048) // 256
        seen = document[:, None] == document
        visited = 0
        for i in range(0, 2048, 48):
            for j in range(0, 2048, 128):
                tile = seen[i : i + 48, j : j + 128]
                visited += tile.size * tile.any()
        self.assertEqual(self.pairs("mask-docs8-d64-2k", "visited_gflops"), visited)

    def test_text(self):
        text = self.succeed("bench", "--case", "tiny*", "--dtype", "f32", "--seconds", "0.01")
        head, titles, row = text.splitlines()
        self.assertIn(harness.info()["isa"], head)
        self.assertIn("median ms", titles)
        self.assertRegex(row, r"^tiny-1x64-d64 +f32( +\d+\.\d+){5}( +-){5}$")

    def test_text_below_a_row(self):
        number = r"\d+\.\d+"
        for case, below in (
            ("mask-d64-1k", f"^  visited {number} GFLOP/s, share {number}$"),
            ("decode-gqa-d128-8k", f"^  read {number} GB/s: samples \\d+, {number} GB/s, roof {number}$"),
        ):
            text = self.succeed("bench", "--case", case, "--dtype", "bf16", "--seconds", "0.01")
            _, _, row, *lines = text.splitlines()
            self.assertTrue(row.startswith(case), row)
            self.assertIn(len(lines), (1, 2))
            for line in lines:
                self.assertRegex(line, below)

    def test_refused(self):
        for args, says in (
            (["--case", "tiny-1x64-d65"], ("--case", "did you mean 'tiny-1x64-d64'")),
            (["--case", "zebra"], ("--case", "'zebra'", "--list")),
            (["--case", "stats-128*"], ("--case", "'stats-128*'")),  # long: only in full runs
            (["--list", "--case", "zebra*"], ("--case", "'zebra*'")),
            (["--dtype", "f64"], ("--dtype", "'f64'")),
            (["--dtype", "F32"], ("--dtype", "'F32'")),
            (["--isa", "sse9"], ("--isa", "sse9")),
            (["--threads", "0"], ("--threads", "0")),
            (["--threads", "two"], ("--threads", "'two'")),
            (["--seconds", "0"], ("--seconds", "0")),
            (["--seconds", "-1"], ("--seconds", "-1")),
            (["--seconds", "soon"], ("--seconds", "'soon'")),
            (["--seconds", "inf"], ("--seconds", "inf")),
            (["--seconds"], "--seconds needs a value"),
            (["--cases", "tiny*"], "did you mean '--case'"),
            (["tiny-1x64-d64"], "'tiny-1x64-d64'"),
        ):
            self.refuse("bench", *args, says=says)
        self.refuse("bench", env={"ATTEND_ISA": "sse9"}, says=("ATTEND_ISA", "sse9"))

    def test_full_standard_output(self):
        for args in ["--list"], ["--case", "tiny*", "--seconds", "0.01"]:
            self.say_to_full("bench", *args)


class BenchDevice(CliTest):
    """Times of a GPU.  tests/emulator runs this class, where a GPU is emulated."""

    ASKED = {
        "tiny-1x64-d64": "none",
        "gpu-stats-off-d64-128": "off",
        "gpu-stats-rows-d64-128": "rows",
        "gpu-stats-all-d64-128": "all",
        "gpu-columns-d64-128": "columns",
        "gpu-map-d64-128": "map",
    }

    def need_gpu(self):
        devices = harness.info()["devices"]
        if "cuda:0" not in devices:
            self.skipTest(f"no GPU here: {devices}")
        return devices

    def bench(self, *args):
        return self.succeed("bench", "--device", "cuda", *args)

    def lines(self, *args):
        return self.objects("bench", "--device", "cuda", "--json", *args)

    def test_list(self):
        cases = self.lines("--list")
        names = [case["case"] for case in cases]
        self.assertEqual(len(names), len(set(names)))
        self.assertLess(set(SHAPES), set(names))
        self.assertIn("gpu-decode-b16-16k", names)
        asked = {case["case"]: case["stats"] for case in cases}
        self.assertEqual({name: asked[name] for name in self.ASKED}, self.ASKED)
        self.assertEqual(asked["gpu-stats-causal-d128-8k"], "rows")
        self.assertEqual(asked["gpu-columns-d128-8k"], "columns")

    def test_refused(self):
        for args, says in (
            (["--case", "zebra*"], "zebra*"),
            (["--mpi"], "--mpi"),
            (["--order", "slow"], "slow"),
        ):
            self.refuse("bench", "--device", "cuda", *args, says=says)
        self.refuse("bench", "--device", "cuda:97", says=["--device", "cuda"])

    def check_line(self, line, name, dtype, order):
        what = str(line)
        self.assertEqual(
            list(line), "case dtype device order median_ms min_ms gflops gbps over_forward inspect_ms".split()
        )
        self.assertEqual(line["case"], name)
        self.assertEqual([line[x] for x in ("dtype", "device", "order")], [dtype, "cuda", order])
        self.assertGreater(line["min_ms"], 0, what)
        self.assertGreaterEqual(line["median_ms"], line["min_ms"], what)
        self.assertIsNone(line["gbps"], what)
        if self.ASKED[name] == "none":
            self.assertIsNone(line["over_forward"], what)
        else:
            self.assertGreater(line["over_forward"], 0, what)
        if self.ASKED[name] == "map":
            self.assertGreater(line["inspect_ms"], 0, what)
        else:
            self.assertIsNone(line["inspect_ms"], what)

    def test_times(self):
        self.need_gpu()
        for name in self.ASKED:
            for order in "fast", "same":
                args = ["--case", name, "--seconds", "0.01", "--order", order]
                lines = self.lines(*args)
                self.assertEqual(len(lines), 2)
                for line, dtype in zip(lines, ["bf16", "f16"]):
                    self.check_line(line, name, dtype, order)
        # 2 d operations for each pair of the inspection, 4 d of the others.
        for name, of_pair in ("gpu-stats-rows-d64-128", 256), ("gpu-columns-d64-128", 128):
            (line,) = self.lines("--case", name, "--dtype", "bf16", "--seconds", "0.01")
            work = line["gflops"] * 1e6 * line["median_ms"]
            self.assertAlmostEqual(work, of_pair * 2 * 128 * 128, delta=1e-6 * work)

    def test_text(self):
        self.need_gpu()
        args = ["--dtype", "bf16", "--seconds", "0.01"]
        number = r" +\d+\.\d+"
        for name, asked in self.ASKED.items():
            _, titles, row, *below = self.bench("--case", name, *args).splitlines()
            self.assertEqual(titles.split()[-3:], ["GFLOP/s", "GB/s", "over"])
            over = " +-" if asked == "none" else number
            self.assertRegex(row, rf"^{name} +bf16{number}{number} +\d+ +-{over}$")
            self.assertEqual(len(below), asked == "map")
            for line in below:
                self.assertRegex(line, rf"^  inspection{number} ms$")

    def test_turns(self):
        """Equal numbers of calls of plain attention, with statistics, and of inspections."""
        if "emulated" not in self.need_gpu():
            self.skipTest("launches are counted on the emulator")
        args = "--device cuda --case gpu-map-d64-128 --dtype bf16 --seconds 0.01".split()
        path = self.path("launches")
        self.succeed("bench", *args, env={"ATTEND_EMULATOR_LAUNCHES": path})
        with open(path, encoding="utf-8") as file:
            launches = dict(line.split() for line in file)
        plain, stats, pooled = (
            int(launches[f"attend_{kernel}_bf16"])
            for kernel in ("sm90_prefill_d64", "sm90_stats_d64", "pooled")
        )
        self.assertGreaterEqual(plain, 7)  # four of the warm-up, three samples
        self.assertEqual([stats, pooled], [plain] * 2)

    def test_decoding(self):
        """On a GPU; the emulator takes minutes."""
        if "emulated" in self.need_gpu():
            self.skipTest("an emulated GPU")
        for line in self.lines("--case", "*decode-*", "--seconds", "0.1"):
            self.assertGreater(line["gbps"], 0)
            self.assertGreaterEqual(line["median_ms"], line["min_ms"])
