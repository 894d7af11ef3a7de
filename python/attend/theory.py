# SPDX-License-Identifier: MIT
from __future__ import annotations
import math
def random_entropy(n: float, S: float) -> float:
    return max(0.0, math.log(n) - S * S / 2)
