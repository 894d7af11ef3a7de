# SPDX-License-Identifier: MIT
"""The cases that `attend bench` times, as it lists them."""

import dataclasses
import fnmatch
import json
import subprocess


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    batch: int
    hq: int
    hkv: int
    nq: int
    nk: int
    d: int
    causal: bool
    window_left: int  # -1: open
    mask: str  # none, random or docs8, as bench/cases.inc explains them
    kind: str

    @property
    def group(self):
        return self.hq // self.hkv

    @property
    def has_mask(self):
        return self.mask != "none"

    @property
    def rotates(self):
        """Decode reads each key once: times from the cache would be too short."""
        return self.kind == "decode"

    def seen(self, i):
        """First and past-the-last key that row i sees, before the mask."""
        first = max(0, i - self.window_left) if self.window_left >= 0 else 0
        return first, i + 1 if self.causal else self.nk


def from_listing(fields):
    """A case from an object of `attend bench --list --json`."""
    rest = "batch", "hq", "hkv", "nq", "nk", "d", "window_left", "mask", "kind"
    causal = fields["causal"] != "none"
    case = Case(fields["case"], causal=causal, **{name: fields[name] for name in rest})
    if (causal or case.window_left >= 0) and case.nq != case.nk:
        raise ValueError(f"{case.name}: the rivals place rows differently where nq != nk")
    return case


def load(command):
    """Every case of `COMMAND bench` that is plain attention: no rival has statistics."""
    done = subprocess.run(
        [command, "bench", "--list", "--json"], stdout=subprocess.PIPE, text=True, check=True
    )
    listed = [json.loads(line) for line in done.stdout.splitlines()]
    return [from_listing(fields) for fields in listed if fields["stats"] == "none"]


def select(cases, pattern):
    return [case for case in cases if fnmatch.fnmatchcase(case.name, pattern)]
