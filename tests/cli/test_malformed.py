# SPDX-License-Identifier: MIT
"""Truncated, inconsistent or foreign files: status 2, one line, no output."""

import json
import os

from harness import CliTest, read_bytes, write
from problem import GOOD, Problem


def npy(header, data=b"", version=b"\x01\x00", length=None):
    text = header.encode("latin-1")
    length = len(text) if length is None else length
    size = length.to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + version + size + text + data


def npy_header(descr="'<f4'", order="False", shape="(2, 2, 7, 8)", more=""):
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, {more}}}"
    return text + " " * (-(len(text) + 11) % 64) + "\n"


FULL = bytes(4 * 2 * 2 * 7 * 8)

MALFORMED_NPY = {
    "empty file": b"",
    "magic alone": b"\x93NUMPY",
    "half a magic": b"\x93NU",
    "zeroed magic": bytes(512),
    "no data": npy(npy_header()),
    "data cut": npy(npy_header(), FULL[:-1]),
    "header cut": npy(npy_header(), b"", length=500),
    "header length of 4 GiB": npy(npy_header(), FULL, b"\x02\x00", 0xFFFFFFFF),
    "header of 2 MB": npy(npy_header() + " " * (2 << 20), FULL, b"\x02\x00"),
    "version 9": npy(npy_header(), FULL, b"\x09\x00"),
    "negative size": npy(npy_header(shape="(2, -2, 7, 8)"), FULL),
    "size of nan": npy(npy_header(shape="(2, nan, 7, 8)"), FULL),
    "float size": npy(npy_header(shape="(2, 2.0, 7, 8)"), FULL),
    "sizes that overflow": npy(npy_header(shape="(4294967296, 4294967296, 4, 4)"), FULL),
    "size beyond 64 bits": npy(npy_header(shape="(99999999999999999999, 1, 1, 1)"), FULL),
    "huge claim": npy(npy_header(shape="(2, 2, 1000000000, 8)"), FULL),
    "zero times huge": npy(npy_header(shape="(0, 9223372036854775807, 9223372036854775807, 8)")),
    "object array": npy(npy_header(descr="'|O'"), b"\x80\x04N." * 64),
    "structured": npy(npy_header(descr="[('a', '<f4')]"), FULL),
    "strings": npy(npy_header(descr="'<U4'"), FULL * 4),
    "float8": npy(npy_header(descr="'<f1'"), FULL[: len(FULL) // 4]),
    "long double": npy(npy_header(descr="'<f16'"), FULL * 4),
    "no descr": npy("{'fortran_order': False, 'shape': (2, 2, 7, 8), }\n", FULL),
    "no shape": npy("{'descr': '<f4', 'fortran_order': False, }\n", FULL),
    "no order": npy("{'descr': '<f4', 'shape': (2, 2, 7, 8), }\n", FULL),
    "unknown key": npy(npy_header(more="'x': 1, "), FULL),
    "key twice": npy(npy_header(more="'shape': (1,), "), FULL),
    "not a dictionary": npy("[1, 2]\n", FULL),
    "code": npy("__import__('os').system('touch owned')\n", FULL),
    "unfinished": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 7\n", FULL),
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(100),
}


def safetensors(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def entry(dtype="F32", shape=(2, 2, 7, 8), offsets=(0, len(FULL))):
    return {"k": {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}}


MALFORMED_SAFETENSORS = {
    "empty file": b"",
    "seven bytes": bytes(7),
    "header length 0": safetensors(b""),
    "header past the end": safetensors(entry(), FULL, 1 << 20),
    "header length of 2^63": safetensors(entry(), FULL, 1 << 63),
    "no JSON": safetensors(b"{nonsense}", FULL),
    "a list": safetensors(b"[1, 2]  ", FULL),
    "data cut": safetensors(entry(), FULL[:-1]),
    "data too long": safetensors(entry(), FULL + b"\0"),
    "offsets past the end": safetensors(entry(offsets=(0, 2 * len(FULL))), FULL),
    "offsets reversed": safetensors(entry(offsets=(len(FULL), 0)), FULL),
    "a hole": safetensors(entry(offsets=(4, 4 + len(FULL))), bytes(4) + FULL),
    "shape against offsets": safetensors(entry(shape=(2, 2, 7, 9)), FULL),
    "sizes that overflow": safetensors(entry(shape=(1 << 32, 1 << 32, 1, 1), offsets=(0, 0))),
    "negative size": safetensors(entry(shape=(-2, -2, 7, 8)), FULL),
    "float size": safetensors(entry(shape=(2.0, 2, 7, 8)), FULL),
    "unknown dtype": safetensors(entry(dtype="F33"), FULL),
    "NaN": safetensors(b'{"k": {"dtype": "F32", "shape": [NaN], "data_offsets": [0, 4]}}', bytes(4)),
}


class Malformed(CliTest):
    def refuse_file(self, bad, place, *flags):
        """The file replaces q.npy, k.npy or v.npy, or the file that the flags name."""
        words = GOOD.replace(place, bad) if place else GOOD
        self.refuse("run", *words.split(), *flags, says=bad.partition(":")[0])

    def test_npy(self):
        Problem(self)
        for name, data in MALFORMED_NPY.items():
            with self.subTest(name=name):
                write(self.path("bad.npy"), data)
                for flag in "qkv":
                    self.refuse_file("bad.npy", f"{flag}.npy", "--lse", "l.npy")
                for flag in "mask", "bias", "alibi", "sinks":
                    named = "--" + flag, "bad.npy"
                    self.refuse_file("bad.npy", "", "--lse", "l.npy", *named)

    def test_safetensors(self):
        Problem(self)
        for name, data in MALFORMED_SAFETENSORS.items():
            with self.subTest(name=name):
                write(self.path("bad.safetensors"), data)
                self.refuse_file("bad.safetensors:k", "k.npy")

    def test_every_cut_of_a_good_file(self):
        Problem(self)
        good = read_bytes(self.path("k.npy"))
        for size in [*range(0, 140, 7), len(good) // 2, len(good) - 1]:
            with self.subTest(size=size):
                write(self.path("bad.npy"), good[:size])
                self.refuse_file("bad.npy", "k.npy")

    def test_a_pipe_is_no_file(self):
        Problem(self)
        os.mkfifo(self.path("pipe.npy"))
        self.refuse_file("pipe.npy", "k.npy")
