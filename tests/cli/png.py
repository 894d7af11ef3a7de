# SPDX-License-Identifier: MIT
"""A PNG of 8-bit palette colours, read with nothing but zlib."""

import struct
import zlib

import numpy as np


def _chunks(raw):
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


def _paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def _unfilter(kind, line, above):
    line = line.copy()
    for x in range(len(line)):
        left = int(line[x - 1]) if x else 0
        up, corner = int(above[x]), int(above[x - 1]) if x else 0
        add = (0, left, up, (left + up) // 2, _paeth(left, up, corner))[kind]
        line[x] = (int(line[x]) + add) & 255
    return line


def read_png(path):
    """Colours (height, width, 3)."""
    with open(path, "rb") as file:
        chunks = list(_chunks(file.read()))
    header = dict(chunks)[b"IHDR"]
    width, height, depth, colours, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    if (depth, colours, interlaced) != (8, 3, 0):
        raise ValueError(f"depth {depth}, kind {colours}, interlaced {interlaced}")
    palette = np.frombuffer(dict(chunks)[b"PLTE"], "u1").reshape(-1, 3)
    data = zlib.decompress(b"".join(d for k, d in chunks if k == b"IDAT"))
    lines = np.frombuffer(data, "u1").reshape(height, width + 1)
    pixels = np.zeros((height + 1, width), "u1")
    for y, line in enumerate(lines):
        pixels[y + 1] = line[1:] if line[0] == 0 else _unfilter(line[0], line[1:], pixels[y])
    return palette[pixels[1:]]
