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
    mask: bool  # random, (1, 1, nq, nk), half of it true
    kind: str

    @property
    def group(self):
        return self.hq // self.hkv

    @property
    def rotates(self):
        """Decode reads each key once: timing it in the cache would flatter everyone."""
        return self.kind == "decode"

    def seen(self, i):
        """First and past-the-last key that row i sees, before the mask."""
        if not self.causal and self.window_left < 0:
            return 0, self.nk
        position = i + self.nk - self.nq
        first = max(0, position - self.window_left) if self.window_left >= 0 else 0
        return first, min(self.nk, position + 1) if self.causal else self.nk


def from_dict(fields):
    names = [field.name for field in dataclasses.fields(Case)]
    case = Case(**{name: fields[name] for name in names})
    if case.causal and case.nq != case.nk:
        raise ValueError(f"{case.name}: the rivals do not agree on causal with nq != nk")
    return case


def load(command):
    """Every case of `COMMAND bench`."""
    done = subprocess.run(
        [command, "bench", "--list", "--json"], capture_output=True, text=True, check=True
    )
    return [from_dict(json.loads(line)) for line in done.stdout.splitlines()]


def select(cases, pattern):
    return [case for case in cases if fnmatch.fnmatchcase(case.name, pattern)]
