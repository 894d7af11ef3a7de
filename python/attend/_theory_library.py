# SPDX-License-Identifier: MIT
"""The library of closed forms in this package, its structs, and calls of it.

Types are letters: d number, b bool, i int, l int64, f floating-point format, L law,
S scene, Q query, O output, p numbers, q queries, k int64s.  A signature has the result's
letter first.
"""

from __future__ import annotations

import ctypes
import functools
import math
import operator
import os
from ctypes import POINTER, Structure, byref, c_double, c_int, c_int64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Sequence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Numbers = ArrayLike
    Array = NDArray[np.float64]

Format = Literal["f64", "f32", "f16", "bf16"]
FORMATS = {"f64": 1, "f32": 2, "f16": 3, "bf16": 4}
A, B, REST = 0, 1, 2
Triple = tuple[float, float, float]

# ---- what goes in and out ----------------------------------------------------------


@dataclass(frozen=True)
class Law:
    """A weight w = logistic(Y), Y ~ N(mean, sd^2) given Y > floor."""

    mean: float
    sd: float
    floor: float = -math.inf


@dataclass(frozen=True)
class Scene:
    """Keys of three kinds: a, b, and the n - 2 others, alike.

    sigma2: magnitude noise of a, of b, of each other key.  alpha: isotropic noise of
    every key.  softcap: 0 for none.  positive: everything given gamma_a > 0.
    """

    n: float
    tau: float = 1.0
    alpha: float = 0.0
    sigma2: Triple = (0.0, 0.0, 0.0)
    softcap: float = 0.0
    positive: bool = False


@dataclass(frozen=True)
class Query:
    """q = a mu_a + b mu_b + rest * (sum of the other means)."""

    a: float
    b: float
    rest: float = 0.0


@dataclass(frozen=True)
class Output:
    """Of an output c: moments of the coefficients of v_a, v_b and one other value.

    total_variance = E|c - E c|^2; mse = E|c - (v_a + v_b)/2|^2.
    """

    mean: Triple
    variance: Triple
    total_variance: float
    mse: float


# ---- the same in C --------------------------------------------------------------------


class CLaw(Structure):
    _fields_ = [("mean", c_double), ("sd", c_double), ("floor", c_double)]


class CScene(Structure):
    _fields_ = [
        ("n", c_double),
        ("tau", c_double),
        ("alpha", c_double),
        ("sigma2", c_double * 3),
        ("softcap", c_double),
        ("positive", c_int),
    ]


class CQuery(Structure):
    _fields_ = [("a", c_double), ("b", c_double), ("rest", c_double)]


class COutput(Structure):
    _fields_ = [
        ("mean", c_double * 3),
        ("variance", c_double * 3),
        ("total_variance", c_double),
        ("mse", c_double),
    ]


TYPES: dict[str, Any] = {
    "d": c_double,
    "b": c_int,
    "i": c_int,
    "l": c_int64,
    "f": c_int,
    "L": CLaw,
    "S": POINTER(CScene),
    "Q": CQuery,
    "O": COutput,
    "p": POINTER(c_double),
    "q": POINTER(CQuery),
    "k": POINTER(c_int64),
}


def _number(value: Any) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError("a text is not a number")
    try:
        return float(value)
    except OverflowError:  # a whole number beyond the largest double
        return math.inf if value > 0 else -math.inf


def _whole(bits: int) -> Any:
    """A whole number that C can hold: ctypes would cut it off."""

    def convert(value: Any) -> int:
        found = operator.index(value)
        if not -(1 << (bits - 1)) <= found < 1 << (bits - 1):
            raise ValueError(f"{found} has more than {bits} bits")
        return found

    return convert


def _format(name: str) -> int:
    if name not in FORMATS:
        raise ValueError(f"format = {name!r} must be one of {', '.join(FORMATS)}")
    return FORMATS[name]


def c_query(query: Query) -> CQuery:
    return CQuery(query.a, query.b, query.rest)


def c_scene(scene: Scene) -> Any:
    if len(scene.sigma2) != 3:
        raise ValueError(f"sigma2 = {scene.sigma2!r} must be three numbers: of a, of b, of the others")
    sigma2 = (c_double * 3)(*map(float, scene.sigma2))
    return byref(CScene(scene.n, scene.tau, scene.alpha, sigma2, scene.softcap, bool(scene.positive)))


CONVERT: dict[str, Any] = {
    "d": _number,
    "b": bool,
    "i": _whole(32),
    "l": _whole(64),
    "f": _format,
    "L": lambda law: CLaw(law.mean, law.sd, law.floor),
    "S": c_scene,
    "Q": c_query,
}


def result(letter: str, found: Any) -> Any:
    if letter == "L":
        return Law(found.mean, found.sd, found.floor)
    if letter == "S":
        return Scene(
            found.n, found.tau, found.alpha, tuple(found.sigma2), found.softcap, bool(found.positive)
        )
    if letter == "Q":
        return Query(found.a, found.b, found.rest)
    if letter == "O":
        return Output(tuple(found.mean), tuple(found.variance), found.total_variance, found.mse)
    return found


# ---- calls --------------------------------------------------------------------------------


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(os.path.join(os.path.dirname(__file__), "_libs", "_theory.so"))


@functools.cache
def bound(name: str, signature: str) -> Any:
    """The C function, with its types."""
    function = getattr(_library(), "attend_theory_" + name)
    function.restype = CScene if signature[0] == "S" else TYPES[signature[0]]
    function.argtypes = [TYPES[letter] for letter in signature[1:]]
    return function


def call(name: str, signature: str, *args: Any) -> Any:
    """The function of single arguments."""
    converted = []
    for letter, argument in zip(signature[1:], args, strict=True):
        try:
            converted.append(CONVERT[letter](argument))
        except (TypeError, AttributeError):
            raise TypeError(f"{name}: {argument!r} is not what this function takes") from None
    return result(signature[0], bound(name, signature)(*converted))


def form(name: str, signature: str, *args: Any) -> Any:
    """The function of numbers: arrays among them broadcast."""
    if all(isinstance(argument, (float, int, str, Law, Scene, Query)) for argument in args):
        return call(name, signature, *args)
    import numpy as np

    each = np.frompyfunc(lambda *row: call(name, signature, *row), len(args), 1)
    return np.asarray(each(*args), dtype=np.float64)


# ---- arrays ----------------------------------------------------------------------------------


def numbers(name: str, values: Any, dims: int, dtype: str = "f8") -> Any:
    """A contiguous array of so many dimensions; ValueError names the argument."""
    import numpy as np

    array = np.asarray(values)
    if dtype == "i8" and array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be whole numbers, not {array.dtype}")
    array = np.ascontiguousarray(array, dtype=dtype)
    if array.ndim != dims:
        raise ValueError(f"{name} has {array.ndim} dimensions, not {dims}")
    return array


def pointer(array: Any) -> Any:
    kind = c_int64 if array.dtype.kind == "i" else c_double
    return array.ctypes.data_as(POINTER(kind))


def queries(values: Sequence[Query]) -> Any:
    return (CQuery * max(1, len(values)))(*map(c_query, values))
