# SPDX-License-Identifier: MIT
"""attend, through ctypes: the part of include/attend/attend.h that the cases need."""

import ctypes
import functools
import os

import numpy as np

import inputs as inputs_module
from engine import Prepared

DTYPE = {"f32": 2, "f16": 3, "bf16": 4, "bool": 5}
CAUSAL_NONE, CAUSAL_TOP_LEFT = 0, 1


class View(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("dtype", ctypes.c_int),
        ("size", ctypes.c_int64 * 4),
        ("stride", ctypes.c_int64 * 4),
    ]


class Options(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("threads", ctypes.c_int),
        ("isa", ctypes.c_char_p),
        ("hooks", ctypes.c_void_p * 7),
        ("order", ctypes.c_int64),
    ]


class Rule(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("scale_is_set", ctypes.c_int),
        ("scale", ctypes.c_double),
        ("softcap", ctypes.c_double),
        ("causal", ctypes.c_int),
        ("causal_offset", ctypes.c_void_p),
        ("window_left", ctypes.c_int64),
        ("window_right", ctypes.c_int64),
        ("key_lengths", ctypes.c_void_p),
        ("mask", View),
        ("bias", View),
        ("alibi", ctypes.c_void_p),
        ("sinks", ctypes.c_void_p),
    ]


class Io(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("q", View),
        ("k", View),
        ("v", View),
        ("out", View),
        ("lse", View),
        ("weights", View),
        ("force_weights", ctypes.c_int),
        ("stats", ctypes.c_void_p),
    ]


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("message", ctypes.c_char * 252)]


def library_path():
    """The library of the release build, or of the path in ATTEND_LIBRARY."""
    here = os.path.dirname(os.path.abspath(__file__))
    built = os.path.join(here, "..", "..", "build", "release", "libattend.so")
    return os.environ.get("ATTEND_LIBRARY") or os.path.normpath(built)


library = context = None


def start(threads):
    global library, context
    library = ctypes.CDLL(library_path())
    library.attend_version.restype = ctypes.c_char_p
    library.attend_context_isa.restype = ctypes.c_char_p
    context = ctypes.c_void_p()
    options = Options(struct_size=ctypes.sizeof(Options), threads=threads)
    failure = Error()
    if library.attend_context_create(ctypes.byref(context), ctypes.byref(options), ctypes.byref(failure)):
        raise RuntimeError(failure.message.decode())
    isa = library.attend_context_isa(context).decode()
    return f"{library.attend_version().decode()} {isa}"


def variants(case, dtype):
    return ["attend_forward"]


def view(array, dtype):
    """A view of a contiguous array; the array must outlive it."""
    strides = [stride // array.itemsize for stride in array.strides]
    return View(
        array.ctypes.data, DTYPE[dtype], (ctypes.c_int64 * 4)(*array.shape), (ctypes.c_int64 * 4)(*strides)
    )


def forward(rule, io):
    failure = Error()
    arguments = context, ctypes.byref(rule), ctypes.byref(io), ctypes.byref(failure)
    if library.attend_forward(*arguments):
        raise RuntimeError(failure.message.decode())


def prepare(variant, inputs):
    case, dtype = inputs.case, inputs.dtype
    out = inputs_module.empty((case.batch, case.hq, case.nq, case.d), inputs.q.dtype)
    rule = Rule(
        struct_size=ctypes.sizeof(Rule),
        causal=CAUSAL_TOP_LEFT if case.causal else CAUSAL_NONE,
        window_left=case.window_left,
        window_right=-1,
    )
    if inputs.mask is not None:
        rule.mask = view(inputs.mask, "bool")
    calls = []
    for k, v in zip(inputs.k, inputs.v):
        io = Io(struct_size=ctypes.sizeof(Io), out=view(out, dtype))
        io.q, io.k, io.v = view(inputs.q, dtype), view(k, dtype), view(v, dtype)
        forward(rule, io)  # the only call that can fail: later ones repeat it
        calls.append(
            functools.partial(library.attend_forward, context, ctypes.byref(rule), ctypes.byref(io), None)
        )

    def poison():
        out.view(np.uint8)[...] = 0xFF  # NaN in every dtype

    return Prepared(calls, lambda _: out, poison=poison)
