# SPDX-License-Identifier: MIT
"""The files and maps of `attend stats`, its refusals, and its progress."""

import os
import signal
import struct
import zlib

import numpy as np

import dense_stats
import harness
from dense_stats import NAMES
from stats_case import CHARACTERS, QK, StatsTest


# ---- a PNG of 8-bit palette colours, with nothing but zlib -----------------------------


def png_chunks(raw):
    if raw[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("no PNG")
    at = 8
    while at < len(raw):
        size, kind = struct.unpack(">I4s", raw[at : at + 8])
        data = raw[at + 8 : at + 8 + size]
        (check,) = struct.unpack(">I", raw[at + 8 + size : at + 12 + size])
        if check != zlib.crc32(kind + data):
            raise ValueError(f"{kind}: wrong checksum")
        yield kind, data
        at += 12 + size


def png_paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def png_unfilter(kind, line, above):
    line = line.copy()
    for x in range(len(line)):
        left = int(line[x - 1]) if x else 0
        up, corner = int(above[x]), int(above[x - 1]) if x else 0
        add = (0, left, up, (left + up) // 2, png_paeth(left, up, corner))[kind]
        line[x] = (int(line[x]) + add) & 255
    return line


def read_png(path):
    """Colours (height, width, 3)."""
    chunks = list(png_chunks(harness.read_bytes(path)))
    header = dict(chunks)[b"IHDR"]
    width, height, depth, colours, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    if (depth, colours, interlaced) != (8, 3, 0):
        raise ValueError(f"depth {depth}, kind {colours}, interlaced {interlaced}")
    palette = np.frombuffer(dict(chunks)[b"PLTE"], "u1").reshape(-1, 3)
    data = zlib.decompress(b"".join(d for k, d in chunks if k == b"IDAT"))
    lines = np.frombuffer(data, "u1").reshape(height, width + 1)
    pixels = np.zeros((height + 1, width), "u1")
    for y, line in enumerate(lines):
        pixels[y + 1] = line[1:] if line[0] == 0 else png_unfilter(line[0], line[1:], pixels[y])
    return palette[pixels[1:]]


class Out(StatsTest):
    ROWS = ["keys", *NAMES, "score_variance", "raw_mean", "raw_variance"]
    ROWS += ["second_previous"]

    def test_everything(self):
        for dtype, name in ("f32", "F32"), ("f64", "F64"), ("bf16", "F32"):
            p = self.problem(nq=9, nk=12, dtype=dtype)
            flags = "--causal", "bottom-right", "--top", "3", "--columns", "--last", "2"
            more = "--zoom", "1:4,2:9", "--map", "m.png", "--out", "s.safetensors"
            self.succeed(*p.args, *flags, *more)
            got = harness.read_safetensors(self.path("s.safetensors"))
            want, weights = dense_stats.rows(*p.values, causal="bottom-right")
            others = "top_weights top_keys column_mass column_max column_last map zoom"
            self.assertEqual(set(got), {*self.ROWS, "value_norm", "cancellation", *others.split()})
            self.assertEqual(
                {n: t for n, (t, _) in got.items()}, {n: "I64" if n == "top_keys" else name for n in got}
            )
            for statistic in self.ROWS:
                values = got[statistic][1]
                self.assertEqual(values.shape, (2, 4, 9))
                self.near(values, [w[statistic] for w in want.values()], statistic)
            order = np.argsort(-weights, axis=3, kind="stable")[..., :3]
            self.assertEqual(got["top_keys"][1].tolist(), order.tolist())
            self.near(got["top_weights"][1], np.take_along_axis(weights, order, 3))
            self.near(got["column_mass"][1], weights.sum(2))
            self.near(got["column_max"][1], weights.max(2))
            self.near(got["column_last"][1], weights[:, :, -2:].sum(2))
            self.near(got["zoom"][1], weights[:, :, 1:4, 2:9])
            self.near(got["map"][1], weights)  # small enough for cells of one weight
            os.remove(self.path("s.safetensors"))

    def test_only_what_was_asked_for(self):
        p = self.problem()
        self.succeed("stats", *QK, "--out", "s.safetensors")
        self.assertEqual(set(harness.read_safetensors(self.path("s.safetensors"))), set(self.ROWS))
        # A file with the same tensors and more may replace it, one with fewer may not.
        self.succeed(*p.args, "--columns", "--out", "s.safetensors")
        self.refuse("stats", *QK, "--out", "s.safetensors", says="also holds")

    def test_ranks(self):
        for rank, shape in (2, (5,)), (3, (4, 5)), (4, (1, 4, 5)):
            hq = 1 if rank == 2 else 4
            p = self.problem(nb=1, hq=hq, hkv=1, rank=rank)
            flags = "--columns", "--zoom", "0:2,0:3", "--out", "s.safetensors"
            self.succeed(*p.args, *flags)
            got = harness.read_safetensors(self.path("s.safetensors"))
            self.assertEqual(got["lse"][1].shape, shape)
            self.assertEqual(got["column_mass"][1].shape, (*shape[:-1], 7))
            self.assertEqual(got["zoom"][1].shape, (*shape[:-1], 2, 3))

    def test_rows_json_beside_a_file(self):
        p = self.problem()
        flags = "--rows", "--json", "--columns", "--zoom", "0:1,0:1"
        first, *_ = self.objects(*p.args, *flags, "--out", "s.safetensors")
        self.assertEqual(set(first), {"b", "h", "i", *NAMES})
        self.assertIn("zoom", harness.read_safetensors(self.path("s.safetensors")))


class Map(StatsTest):
    GAP, LABEL = 8, 14

    def panel(self, picture, row, column, height, width):
        top = self.GAP + self.LABEL + row * (height + self.LABEL + self.GAP)
        left = self.GAP + column * (width + self.GAP)
        return picture[top : top + height, left : left + width].astype(int).sum(axis=2)

    def test_causal_is_dark_above_the_diagonal(self):
        p = self.problem(nb=1, hq=4, hkv=4, nq=64, nk=64)
        self.succeed(*p.args, "--causal", "top-left", "--map", "m.png")
        picture = read_png(self.path("m.png"))
        side = 2 * self.GAP + self.GAP + 2 * 256
        self.assertEqual(picture.shape, (side + 2 * self.LABEL, side, 3))
        _, weights = dense_stats.rows(*p.values, causal="top-left")
        for h in range(4):
            light = self.panel(picture, h // 2, h % 2, 256, 256)
            cells = light.reshape(64, 4, 64, 4)
            self.assertTrue((cells == cells[:, :1, :, :1]).all(), "cells are squares")
            cells = cells[:, 0, :, 0]
            above = np.triu(np.ones((64, 64), bool), 1)
            self.assertEqual(cells[above].max(), 21)  # the darkest colour, 7 7 7
            self.assertEqual(cells[0, 0], 3 * 249)  # all of it
            # More weight is never darker: the scale rises in each of its steps.
            w, c = weights[0, h][~above], cells[~above]
            order = np.argsort(w)
            visible = w[order] > 1 / 64 / 16
            self.assertTrue((np.diff(c[order][visible]) >= 0).all())
            self.assertGreater(c[w > 1 / 64].min(), 21)

    def test_long_sequences_are_pooled(self):
        n = 1300  # blocks of 3: 434 cells, the last of one query and key
        rng = np.random.default_rng(9)
        for name in "qk":
            self.save(name + ".npy", rng.standard_normal((n, 4)).astype("f4"))
        self.succeed("stats", *QK, "--map", "m.png", "--out", "s.safetensors")
        self.assertEqual(read_png(self.path("m.png")).shape, (434 + 16 + self.LABEL, 434 + 16, 3))
        pooled = self.load("s.safetensors:map")
        self.assertEqual(pooled.shape, (434, 434))
        values = [np.load(self.path(x + ".npy"))[None, None] for x in "qk"]
        _, weights = dense_stats.rows(*values, values[1])
        padded = np.pad(weights[0, 0], (0, 2))
        self.near(pooled, padded.reshape(434, 3, 434, 3).sum(axis=(1, 3)))

    def test_one_query(self):
        p = self.problem(nb=1, hq=1, hkv=1, nq=1, nk=700)
        self.succeed(*p.args, "--map", "m.png")
        self.assertEqual(read_png(self.path("m.png")).shape, (16 + 16 + self.LABEL, 350 + 16, 3))

    def test_grids(self):
        for nb, hq, columns, rows in ((1, 1, 1, 1), (1, 6, 3, 2), (2, 4, 4, 2), (1, 7, 3, 3)):
            p = self.problem(nb=nb, hq=hq, hkv=1, nq=32, nk=32, d=2)
            self.succeed(*p.args, "--map", "m.png")
            shape = read_png(self.path("m.png")).shape
            height = self.GAP + rows * (256 + self.LABEL + self.GAP)
            self.assertEqual(shape[:2], (height, self.GAP + columns * (256 + self.GAP)))


class Refused(StatsTest):
    def test_usage(self):
        self.problem()
        for flags, says in (
            ("--zoom 0:6,0:7", ("--zoom", "queries 0:6", "0:5 (nq)")),
            ("--zoom 0:5,0:8", ("--zoom", "keys 0:8", "0:7 (nk)")),
            ("--zoom 3:3,0:7", ("--zoom", "3:3", "empty")),
            ("--zoom 4:2,0:7", ("--zoom", "4:2")),
            ("--zoom 0:5", ("--zoom", "'0:5'", "r0:r1,c0:c1")),
            ("--zoom=-1:5,0:7", ("--zoom", "'-1:5,0:7'")),
            ("--zoom 0:5,0:7x", ("--zoom", "0:7x")),
            ("--zoom 0:99999999999999999999,0:7", "--zoom"),
            ("--top 0", ("--top", "0 is outside 1..8")),
            ("--top 9", ("--top", "9 is outside 1..8")),
            ("--top x", ("--top", "'x'")),
            ("--last 2", ("--last", "--columns")),
            ("--columns --last 0", "--last"),
            ("--columns --last 6", ("--last", "6 is outside 1..5 (nq)")),
            ("--noise -1", ("--noise", "-1 is negative")),
            ("--noise x", "--noise"),
            ("--rows --json --columns", ("--columns", "--out")),
            ("--rows --json --zoom 0:1,0:1", ("--zoom", "--out")),
            ("--map m.jpg", ("--map", "m.jpg", "FILE.png")),
            ("--map q.npy", ("--map", "q.npy")),
            ("--map absent/m.png", ("--map", "absent/m.png", "No such file")),
            ("--map m.png --out absent/s.safetensors", "absent/s.safetensors"),
            ("--map absent/m.png --out s.safetensors", "absent/m.png"),
            ("--out s.npy", ("--out", "s.npy", "FILE.safetensors")),
            ("--out s.safetensors:x", "--out"),
            ("--row", "did you mean '--rows'"),
            ("--force", "--force"),
            ("--causal no", ("--causal", "no")),
            ("--mask absent.npy", ("--mask", "absent.npy", "No such file")),
            ("--isa none", ("--isa", "none")),
        ):
            with self.subTest(flags=flags):
                self.refuse("stats", *QK, *flags.split(), says=says)

    def test_inputs(self):
        self.problem()
        self.save("v6.npy", np.zeros((2, 2, 6, 6), "f4"))
        for flags, says in (
            ("--k k.npy", "--q is missing"),
            ("--q q.npy", "--k is missing"),
            ("--q absent.npy --k k.npy", ("--q", "absent.npy", "No such file")),
            ("--q k.npy --k q.npy", ("hq", "hkv")),
            ("--q q.npy --k k.npy --v v6.npy", ("--v", "v6.npy", "nk")),
        ):
            with self.subTest(flags=flags):
                self.refuse("stats", *flags.split(), says=says)

    def test_an_input_is_not_overwritten(self):
        p = self.problem()
        tensors = {n: ("F32", x.astype("f4")) for n, x in zip("qkv", p.values)}
        harness.write_safetensors(self.path("m.safetensors"), tensors)
        self.refuse(
            "stats",
            *("--q", "m.safetensors:q", "--k", "m.safetensors:k"),
            *("--out", "m.safetensors"),
            says=("--out", "--q"),
        )

    def test_nothing_to_draw(self):
        p = self.problem(nq=0)
        self.refuse(*p.args, "--map", "m.png", says=("--map", "nothing"))

    def test_a_large_zoom_is_not_printed(self):
        p = self.problem(nb=1, nq=70, nk=20)
        for zoom in "0:65,0:2", "0:2,0:17":
            self.refuse(*p.args, "--zoom", zoom, says=("--zoom", "--out", "--json"))
        self.succeed(*p.args, "--zoom", "0:70,0:20", "--out", "s.safetensors")
        self.assertEqual(self.load("s.safetensors:zoom").shape, (1, 4, 70, 20))

    def test_weights_of_everything_are_not_kept(self):
        for name in "qk":
            self.save(name + ".npy", np.zeros((2**14 + 1, 1), "f4"))
        n = 2**14 + 1
        self.refuse("stats", *QK, "--json", "--zoom", f"0:{n},0:{n}", says="268435456")

    def test_full_standard_output(self):
        p = self.problem()
        for flags in [], ["--json"], ["--rows", "--json"]:
            self.say_to_full(*p.args, *flags)

    def test_closed_standard_output(self):
        p = self.problem()
        self.say_to_closed(*p.args, "--out", "s.safetensors", "--map", "m.png")


class Said(StatsTest):
    def test_help(self):
        flags = "q k v rows top columns last zoom map noise json out layout dtype scale"
        flags += " softcap bias alibi sinks causal window-left window-right key-lengths"
        text = self.help_of("stats", flags + " mask threads isa")
        for character in CHARACTERS:
            self.assertIn(f"  {character} ", text)

    def test_a_signal_leaves_nothing(self):
        rng = np.random.default_rng(6)
        for name in "qk":
            self.save(name + ".npy", rng.standard_normal((1, 1, 4000, 64)).astype("f4"))
        files = "--map", "m.png", "--out", "s.safetensors"
        args = "stats", *QK, "--isa", "ref", "--threads", "1", *files
        self.leave_nothing(*args, files=2, signals=(signal.SIGINT, signal.SIGTERM))
