# SPDX-License-Identifier: MIT
"""ONNX Runtime's attention operators, each a graph of one node with bound buffers.

    MultiHeadAttention   com.microsoft; K and V as (b, l, h d) or as (b, h, l, d)
    GroupQueryAttention  com.microsoft; always causal, K and V in a cache it appends to
    Attention            ai.onnx, operator set 23

The layout an operator wants is prepared before it is timed.  com.microsoft.Attention is
not here: it contains the projection to Q, K and V, which is another problem.
"""

import functools

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

from engine import Prepared, fold, unfold
from inputs import copy, empty

TYPE = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16}
CONTRIB = "com.microsoft"
ONNX_OPSET, CONTRIB_OPSET, IR_VERSION = 23, 1, 10


def start(threads):
    """One pool for all sessions: pools of their own would spin in each other's way."""
    ort.set_global_thread_pool_sizes(threads, 1)
    return ort.__version__


def variants(case, dtype):
    if dtype not in TYPE:
        return []
    names = ["MultiHeadAttention blhd", "MultiHeadAttention bhld", "Attention"]
    if case.group > 1 and case.nq == 1:
        names.append("Attention folded")
    if (case.causal or case.nq == 1) and not case.has_mask:
        names.append("GroupQueryAttention")
    return names


def session(node, dtype, arrays):
    """A session over one node whose tensors of float are of the dtype."""

    def describe(name, array=None):
        integer = array is not None and array.dtype == np.int32
        boolean = array is not None and array.dtype == np.bool_
        kind = TensorProto.INT32 if integer else TensorProto.BOOL if boolean else TYPE[dtype]
        return helper.make_tensor_value_info(name, kind, None if array is None else array.shape)

    graph = helper.make_graph(
        [node],
        "attention",
        [describe(name, array) for name, array in arrays.items()],
        [describe(name) for name in node.output],
    )
    versions = helper.make_opsetid("", ONNX_OPSET), helper.make_opsetid(CONTRIB, CONTRIB_OPSET)
    model = helper.make_model(graph, opset_imports=versions, ir_version=IR_VERSION)
    options = ort.SessionOptions()
    options.use_per_session_threads = False
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def bind(running, values, results):
    """A call with these inputs and outputs, by name, where they lie."""
    binding = running.io_binding()
    for name, array in values.items():
        binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))
    for name, array in results.items():
        binding.bind_ortvalue_output(name, ort.OrtValue.ortvalue_from_numpy(array))
    call = functools.partial(running.run_with_iobinding, binding)
    call.keeps_alive = values, results
    return call


def rows_first(array):
    """(b, h, l, d) as (b, l, h d); not copied where that is the same."""
    b, h, rows, d = array.shape
    turned = array.transpose(0, 2, 1, 3)
    if not turned.flags.c_contiguous:
        turned = copy(turned)
    return turned.reshape(b, rows, h * d)


def heads_first(array, heads):
    """(b, l, h d) as (b, h, l, d)."""
    b, rows, width = array.shape
    return array.reshape(b, rows, heads, width // heads).transpose(0, 2, 1, 3)


def additive(seen, dtype):
    return copy(np.where(seen, 0, -np.inf).astype(dtype)[None, None])


def multi_head(inputs, keys_by_head):
    """GQA by the group folded into rows where that is the same, else by K and V repeated."""
    case = inputs.case
    q, heads = inputs.q, case.hq
    k, v = inputs.k, inputs.v
    if case.nq == 1:
        q, heads = fold(q, case), case.hkv
    elif case.group > 1:
        k, v = ([copy(x.repeat(case.group, axis=1)) for x in xs] for xs in (k, v))
    if not keys_by_head:
        k, v = ([rows_first(x) for x in xs] for xs in (k, v))
    q = rows_first(q)
    values = {"q": q, "k": k[0], "v": v[0]}
    needs_bias = inputs.mask is not None or case.window_left >= 0
    if needs_bias:
        values["bias"] = additive(inputs.visible(), q.dtype)
    node = helper.make_node(
        "MultiHeadAttention",
        ["q", "k", "v"] + (["", "", "bias"] if needs_bias else []),
        ["out"],
        domain=CONTRIB,
        num_heads=heads,
        unidirectional=int(case.causal and not needs_bias),
    )
    running = session(node, inputs.dtype, values)
    out = empty(q.shape, q.dtype)
    calls = [
        bind(running, {**values, "k": k_copy, "v": v_copy}, {"out": out}) for k_copy, v_copy in zip(k, v)
    ]

    def fetch(_):
        return unfold(np.ascontiguousarray(heads_first(out, heads)), case)

    return Prepared(calls, fetch, poison=lambda: out.fill(np.nan))


def onnx_attention(inputs, folded):
    case = inputs.case
    q = fold(inputs.q, case) if folded else inputs.q
    values = {"q": q, "k": inputs.k[0], "v": inputs.v[0]}
    needs_mask = inputs.mask is not None or case.window_left >= 0
    if needs_mask:
        values["mask"] = copy(inputs.visible())
    node = helper.make_node("Attention", list(values), ["out"], is_causal=int(case.causal and not needs_mask))
    running = session(node, inputs.dtype, values)
    out = empty(q.shape, q.dtype)
    calls = [bind(running, {**values, "k": k, "v": v}, {"out": out}) for k, v in zip(inputs.k, inputs.v)]
    return Prepared(calls, lambda _: unfold(out, case), poison=lambda: out.fill(np.nan))


def group_query(inputs):
    """The cache it appends to is bound as both past and present, so nothing is copied.

    The last nq keys are the new ones; what it writes to the cache is what is there.
    """
    case = inputs.case
    new = slice(case.nk - case.nq, case.nk)
    values = {
        "q": rows_first(inputs.q),
        "k": rows_first(inputs.k[0][:, :, new]),
        "v": rows_first(inputs.v[0][:, :, new]),
        "past_k": inputs.k[0],
        "past_v": inputs.v[0],
        "last": np.full(case.batch, case.nk - 1, np.int32),
        "total": np.array(case.nk, np.int32),
    }
    node = helper.make_node(
        "GroupQueryAttention",
        list(values),
        ["out", "present_k", "present_v"],
        domain=CONTRIB,
        num_heads=case.hq,
        kv_num_heads=case.hkv,
        local_window_size=case.window_left + 1 if case.window_left >= 0 else -1,
    )
    running = session(node, inputs.dtype, values)
    out = empty(values["q"].shape, values["q"].dtype)
    calls = [
        bind(running, {**values, "past_k": k, "past_v": v}, {"out": out, "present_k": k, "present_v": v})
        for k, v in zip(inputs.k, inputs.v)
    ]

    def fetch(_):
        return np.ascontiguousarray(heads_first(out, case.hq))

    return Prepared(calls, fetch, poison=lambda: out.fill(np.nan))


def prepare(variant, inputs):
    if variant.startswith("MultiHeadAttention"):
        return multi_head(inputs, keys_by_head=variant.endswith("bhld"))
    if variant.startswith("Attention"):
        return onnx_attention(inputs, folded=variant.endswith("folded"))
    return group_query(inputs)
