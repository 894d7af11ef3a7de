# SPDX-License-Identifier: MIT
"""Every node test of ONNX's operator Attention, on onnx's own runner."""

import unittest
import warnings

import onnx
import onnx.backend.base
import onnx.backend.test
import onnx_attention


class Attention(onnx.backend.base.Backend):
    """A backend with one operator."""

    @classmethod
    def prepare(cls, model, device="CPU", **_):
        return Prepared(model)

    @classmethod
    def supports_device(cls, device):
        return device == "CPU"


class Prepared(onnx.backend.base.BackendRep):
    def __init__(self, model):
        (self.node,) = model.graph.node
        self.names = [i.name for i in model.graph.input]

    def run(self, inputs, **_):
        have = dict(zip(self.names, inputs))
        return tuple(
            onnx_attention.run(self.node, [have.get(name) if name else None for name in self.node.input])
        )


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    runner = onnx.backend.test.BackendTest(Attention, __name__)
runner.include(r"^test_attention_.*_cpu$")
runner.exclude(r"_expanded")
Nodes = runner.test_cases["OnnxBackendNodeModelTest"]


class Count(unittest.TestCase):
    def test_all_are_there(self):
        """onnx 1.23.2 has 93 tests; the runner skips none."""
        names = [x for x in dir(Nodes) if x.startswith("test_attention_")]
        names = [x for x in names if not getattr(getattr(Nodes, x), "__unittest_skip__", False)]
        self.assertEqual(len(names), 93)
        print(f"ONNX: {len(names)} node tests of Attention")


# The runner's other tests are of operators that this backend lacks.
for name in dir(Nodes):
    if name.startswith("test_") and getattr(getattr(Nodes, name), "__unittest_skip__", False):
        delattr(Nodes, name)
