# SPDX-License-Identifier: MIT
"""attend.torch beside torch's own function: results, shapes, exceptions, memory."""

import contextlib
import inspect
import itertools
import resource
import threading
import unittest
import warnings

import torch
from setting import TOLERANCE
from torch.nn import functional
from torch.testing._internal.common_methods_invocations import op_db

import attend
import attend.torch
from attend.torch import scaled_dot_product_attention as sdpa
from attend.torch import torch_sdpa

DTYPES = torch.float64, torch.float32, torch.float16, torch.bfloat16


def draw(*shape, dtype=torch.float32, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).to(dtype)


@contextlib.contextmanager
def fresh_warnings():
    """All warnings of the block, including those that Python shows only once."""
    attend.torch._said.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def ours(caught):
    return [str(w.message) for w in caught if str(w.message).startswith("attend")]


def run_threads(work):
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Case(unittest.TestCase):
    def same(self, *args, **kwargs):
        """attend's result equals torch's, and torch's function was not called for it."""
        wanted = torch_sdpa(*args, **kwargs)
        with fresh_warnings() as caught:
            got = self.alone(*args, **kwargs)
        self.assertEqual(ours(caught), [])
        self.assertEqual((got.shape, got.dtype, got.device), (wanted.shape, wanted.dtype, wanted.device))
        t = TOLERANCE[str(wanted.dtype).split(".")[1]]
        torch.testing.assert_close(got, wanted, atol=t, rtol=t, equal_nan=True)
        return got

    @staticmethod
    def alone(*args, **kwargs):
        """The call, with torch's function disabled."""

        def refuse(*_, **__):
            raise AssertionError("torch's function was called")

        attend.torch.torch_sdpa = refuse
        try:
            return sdpa(*args, **kwargs)
        finally:
            attend.torch.torch_sdpa = torch_sdpa


class Semantics(Case):
    def test_signature(self):
        mine = inspect.signature(sdpa).parameters
        documented = "query key value attn_mask dropout_p is_causal scale enable_gqa".split()
        self.assertEqual(list(mine), documented)
        for name in documented:
            self.assertIn(name, torch_sdpa.__doc__)
        defaults = {name: mine[name].default for name in documented[3:]}
        self.assertEqual(
            defaults,
            {"attn_mask": None, "dropout_p": 0.0, "is_causal": False, "scale": None, "enable_gqa": False},
        )

    def test_dtypes(self):
        for dtype in DTYPES:
            q, k, v = (
                draw(2, 3, 5, 8, dtype=dtype),
                draw(2, 3, 7, 8, dtype=dtype, seed=1),
                draw(2, 3, 7, 6, dtype=dtype, seed=2),
            )
            self.same(q, k, v)
            self.same(q, k, v, is_causal=True)
            self.same(q, k, v, scale=0.3)

    def test_leading_dimensions(self):
        for lead in (), (3,), (2, 3), (2, 3, 2), (1, 2, 1, 3, 2):
            q, k, v = draw(*lead, 5, 8), draw(*lead, 7, 8, seed=1), draw(*lead, 7, 6, seed=2)
            self.same(q, k, v, is_causal=True)

    def test_broadcasting(self):
        q = draw(2, 3, 5, 8)
        for k_lead, v_lead in (
            ((2, 3), (1, 3)),
            ((2, 1), (2, 3)),
            ((3,), (3,)),
            ((1,), (2, 1)),
            ((), ()),
            ((4, 2, 3), (2, 3)),
        ):
            k, v = draw(*k_lead, 7, 8, seed=1), draw(*v_lead, 7, 6, seed=2)
            lead = torch.broadcast_shapes((2, 3), k_lead, v_lead)
            wanted = torch_sdpa(q.expand(*lead, 5, 8), k.expand(*lead, 7, 8), v.expand(*lead, 7, 6))
            torch.testing.assert_close(sdpa(q, k, v), wanted, atol=2e-5, rtol=2e-5)

    def test_masks(self):
        q, k, v = draw(2, 3, 5, 8), draw(2, 3, 7, 8, seed=1), draw(2, 3, 7, 6, seed=2)
        for shape in (2, 3, 5, 7), (1, 3, 5, 7), (2, 1, 1, 7), (3, 5, 7), (5, 7), (1, 7), (5, 1):
            self.same(q, k, v, draw(*shape, seed=3))
            self.same(q, k, v, draw(*shape, seed=3) > -0.5)
        for dtype in torch.float16, torch.bfloat16:
            self.same(*(x.to(dtype) for x in (q, k, v)), draw(5, 7, seed=3))
        five = [x.expand(2, *x.shape) for x in (q, k, v)]
        self.same(*five, draw(2, 1, 5, 7, seed=3) > 0)

    def test_strided_mask(self):
        q, k, v = draw(2, 3, 5, 8), draw(2, 3, 7, 8, seed=1), draw(2, 3, 7, 6, seed=2)
        self.same(q, k, v, (draw(7, 5, seed=3) > 0).T)
        self.same(q, k, v, draw(2, 14, seed=3)[:, None, None, ::2])

    def test_hidden_rows(self):
        q = draw(1, 2, 5, 8)
        mask = torch.ones(5, 5, dtype=torch.bool)
        mask[2] = False
        out = self.same(q, q, q, mask)
        self.assertTrue((out[:, :, 2] == 0).all())
        self.same(q, q, q, torch.zeros(5, 5).masked_fill(~mask, -torch.inf))

    def test_grouped_queries(self):
        q = draw(2, 6, 5, 8)
        for heads in 1, 2, 3, 6:
            k, v = draw(2, heads, 7, 8, seed=1), draw(2, heads, 7, 6, seed=2)
            self.same(q, k, v, enable_gqa=True)
            self.same(q, k, v, draw(2, 6, 5, 7, seed=3), enable_gqa=True)
            self.same(q[0], k[0], v[0], enable_gqa=True)

    def test_empty(self):
        for shape in (
            (0, 2, 3, 4),
            (1, 0, 3, 4),
            (1, 2, 0, 4),
            (0, 4),
            (0, 0, 0),
            (1, 2, 2, 0, 4),
            (2, 0, 2, 3, 4),
        ):
            x = torch.zeros(shape)
            self.same_empty(x, x, x)
        for lead in (), (2,), (1, 2), (1, 2, 2), (2, 1, 3, 2):
            q = draw(*lead, 3, 4)
            for some in (
                (q[..., :0, :], q, q),
                (q, q[..., :0, :], q[..., :0, :]),
                (q, q, q[..., :0]),
                (q[..., :0], q[..., :0], q),
            ):
                self.same_empty(*some)
                self.same_empty(*some, torch.ones(some[0].shape[-2], some[1].shape[-2], dtype=torch.bool))

    def test_empty_and_broadcast(self):
        for q, kv in (
            ((1, 0, 5), (3, 4, 5)),
            ((1, 3, 5, 8), (2, 3, 0, 8)),
            ((3, 5, 8), (2, 1, 3, 0, 8)),
            ((0, 5, 8), (2, 1, 7, 8)),
        ):
            self.same_empty(torch.zeros(q), torch.zeros(kv), torch.zeros(kv))

    def same_empty(self, *args):
        wanted, got = torch_sdpa(*args), sdpa(*args)
        self.assertEqual((got.shape, got.stride(), got.dtype), (wanted.shape, wanted.stride(), wanted.dtype))
        torch.testing.assert_close(got, wanted)

    def test_strides(self):
        """The result has the memory layout of torch's."""
        lengths = 10, 7, 7
        for order in itertools.permutations(range(3)):
            back = [order.index(axis) for axis in range(3)] + [3]
            q, k, v = (draw(*((2, 4, n)[axis] for axis in order), 16).permute(back) for n in lengths)
            for m in None, draw(10, 7), draw(4, 10, 7), draw(2, 1, 10, 7) > 0:
                self.same_strides(q, k, v, m)
                self.same_strides(q, k[:, ::2], v[:, ::2], m, enable_gqa=True)
            self.same_strides(q, k, v, is_causal=True)
            self.same_strides(q[0], k[0], v[0])
            self.same_strides(q[None], k[None], v[None])
            self.same_strides(q, k, v[..., :8])
            self.same_strides(q, k[:1], v[:1])
            self.same_strides(q, k[:, :1], v[:, :1])
            self.same_strides(q[..., ::2], k[..., ::2], v[..., ::2])
            self.same_strides(q[:, :, :1], k, v)
            self.same_strides(q[:, :1], k[:, :1], v[:, :1])
            self.same_strides(q[:1].expand(2, -1, -1, -1), k, v)
            self.same_strides(q[:, :, :1].expand(-1, -1, 10, -1), k, v)
        q, k, v = (x.transpose(1, 2) for x in draw(2, 10, 3, 4, 16).unbind(2))  # of one projection
        self.same_strides(q, k, v).transpose(1, 2).view(2, 10, -1)

    def same_strides(self, *args, **kwargs):
        got = self.same(*args, **kwargs)
        self.assertEqual(got.stride(), torch_sdpa(*args, **kwargs).stride())
        return got

    def test_views(self):
        q, k, v = (draw(2, 7, 3, 16, seed=s).transpose(1, 2)[..., ::2] for s in range(3))
        self.same(q, k, v, is_causal=True)
        self.same(q.flip(2), k.mT.contiguous().mT, v)
        self.same(draw(1, 1, 1, 8).expand(2, 3, 5, 8), k, v)

    def test_negative_view(self):
        """A view of an imaginary part with the negative bit set."""
        whole = torch.complex(draw(2, 3, 5, 8), draw(2, 3, 5, 8, seed=1))
        negative = whole.conj().imag
        self.assertTrue(negative.is_neg())
        torch.testing.assert_close(
            sdpa(negative, negative, negative), torch_sdpa(negative, negative, negative)
        )

    def test_parameters_and_no_grad(self):
        q = torch.nn.Parameter(draw(1, 2, 5, 8))
        with torch.no_grad():
            self.same(q, q, q)
        with torch.inference_mode():
            self.same(q, q, q)

    def test_autocast(self):
        q = draw(1, 2, 5, 8)
        with torch.autocast("cpu", torch.bfloat16):
            self.assertEqual(sdpa(q, q, q).dtype, torch_sdpa(q, q, q).dtype)
            self.same(q, q, q)
            self.assertEqual(sdpa(q.double(), q.double(), q.double()).dtype, torch.float64)

    def test_same_exceptions(self):
        q, k, v = draw(2, 4, 5, 8), draw(2, 4, 7, 8), draw(2, 4, 7, 6)
        table = [
            ((q, k[..., :3], v), {}),
            ((q, k, v[:, :, :3]), {}),
            ((q, k.double(), v), {}),
            ((q.int(), k.int(), v.int()), {}),
            ((q > 0, k > 0, v > 0), {}),
            ((q.cfloat(), k, v), {}),
            ((q[0, 0, 0], k, v), {}),
            ((torch.tensor(1.0), k, v), {}),
            ((q, k[:, :3], v[:, :3]), {"enable_gqa": True}),
            ((q, k[:, :2], v[:, :2]), {}),
            ((q, k[:, :2], v[:, :4]), {"enable_gqa": True}),
            ((q, k, v, torch.ones(5, 7)), {"is_causal": True}),
            ((q, k, v, torch.ones(5, 7, dtype=torch.int32)), {}),
            ((q, k, v, torch.ones(5, 7, dtype=torch.float64)), {}),
            ((q, k, v, torch.ones(5, 6)), {}),
            ((q, k, v, torch.ones(9, 2, 4, 5, 7)), {}),
            ((q, k, v), {"dropout_p": 2.0}),
            ((q, k, v), {"dropout_p": -1.0}),
            ((q, k, v), {"scale": "big"}),
            ((q, k, v), {"scale": torch.ones(2)}),
            ((q, k, v), {"scale": 1j}),
            ((q, k, v), {"scale": True}),
            ((q, k, v), {"scale": torch.tensor(0.5)}),
            ((q, k, v, None, 0.0, False, 0.5), {}),
            ((q, k, v), {"dropout_p": None}),
            ((q, k, v), {"dropout_p": "much"}),
            ((q, k, v), {"is_causal": 1}),
            ((q, k, v), {"is_causal": None}),
            ((q, k, v), {"is_causal": torch.tensor(True)}),
            ((q, k, v), {"enable_gqa": "x"}),
            ((q, k, v), {"enable_gqa": 1}),
            ((q, k, v, 3), {}),
            ((q, k, v, torch.tensor(True)), {}),
            ((q, k, v, torch.tensor(1.0)), {}),
            ((q, k, v, torch.ones(7) > 0), {}),
            ((q[0], k[0], v[0], torch.tensor(True)), {}),
            ((q, k, v), {"colour": 1}),
            ((None, k, v), {}),
            ((q.numpy(), k, v), {}),
            ((q, k.to_sparse(), v), {}),
            ((q, k), {}),
        ]
        for args, kwargs in table:
            outcomes = []
            for function in torch_sdpa, sdpa:
                try:
                    outcomes.append(tuple(function(*args, **kwargs).shape))
                except Exception as error:
                    outcomes.append(type(error))
            with self.subTest(shapes=[getattr(a, "shape", a) for a in args], kwargs=kwargs):
                self.assertEqual(outcomes[1], outcomes[0])

    def test_messages_name_the_argument(self):
        q = draw(1, 2, 5, 8)
        for name, value in (
            ("is_causal", 1),
            ("enable_gqa", "x"),
            ("scale", "a"),
            ("dropout_p", None),
            ("attn_mask", 3),
        ):
            with self.assertRaisesRegex(TypeError, name):
                sdpa(q, q, q, **{name: value})

    def test_scale_that_is_no_number(self):
        q = draw(1, 1, 3, 4)
        for scale in torch.inf, torch.nan:
            torch.testing.assert_close(
                sdpa(q, q, q, scale=scale), torch_sdpa(q, q, q, scale=scale), equal_nan=True
            )


class OpInfo(Case):
    def test_samples(self):
        """torch's own samples of the operation, every dtype."""
        (op,) = [o for o in op_db if o.name == "nn.functional.scaled_dot_product_attention"]
        count = {"same": 0, "dropout": 0}
        for dtype in DTYPES:
            torch.manual_seed(0)
            for sample in op.sample_inputs("cpu", dtype):
                if sample.kwargs.get("dropout_p", 0) > 0:
                    count["dropout"] += 1
                    continue
                self.same(sample.input, *sample.args, **sample.kwargs)
                count["same"] += 1
        print(
            f"OpInfo: {count['same']} samples passed, 0 failed, {count['dropout']} skipped (dropout is random)"
        )
        self.assertGreater(count["same"], 50)


class TorchsPath(Case):
    def test_gradients(self):
        q = draw(1, 2, 5, 8).requires_grad_()
        with fresh_warnings() as caught:
            for _ in range(3):
                out = sdpa(q, q, q, is_causal=True)
        self.assertEqual(len(ours(caught)), 1)
        self.assertIn("gradients", ours(caught)[0])
        out.sum().backward()
        again = q.detach().requires_grad_()
        torch_sdpa(again, again, again, is_causal=True).sum().backward()
        torch.testing.assert_close(q.grad, again.grad)

    def test_gradient_of_the_mask(self):
        q, mask = draw(1, 2, 5, 8), draw(5, 5).requires_grad_()
        sdpa(q, q, q, mask).sum().backward()
        self.assertIsNotNone(mask.grad)

    def test_dropout(self):
        q = draw(1, 2, 5, 8)
        with fresh_warnings() as caught:
            torch.manual_seed(3)
            got = sdpa(q, q, q, dropout_p=0.5)
            sdpa(q, q, q, dropout_p=0.5)
        torch.manual_seed(3)
        torch.testing.assert_close(got, torch_sdpa(q, q, q, dropout_p=0.5))
        self.assertEqual(len(ours(caught)), 1)
        self.assertIn("dropout", ours(caught)[0])

    def test_other_devices(self):
        q = torch.empty(1, 2, 5, 8, device="meta")
        self.assertEqual(sdpa(q, q, q).device.type, "meta")

    def test_transforms(self):
        q = draw(3, 2, 5, 8)
        torch.testing.assert_close(
            torch.vmap(lambda x: sdpa(x, x, x))(q), torch_sdpa(q, q, q), atol=2e-5, rtol=2e-5
        )
        got = torch.func.grad(lambda x: sdpa(x, x, x).sum())(q)
        torch.testing.assert_close(got, torch.func.grad(lambda x: torch_sdpa(x, x, x).sum())(q))

    def test_forward_gradients(self):
        q, tangent = draw(1, 2, 5, 8, dtype=torch.float64), draw(1, 2, 5, 8, seed=1, dtype=torch.float64)
        f = lambda x: sdpa(x, x, x)
        wanted = torch.func.jvp(lambda x: torch.softmax(x @ x.mT / 8**0.5, -1) @ x, (q,), (tangent,))[1]
        import torch.autograd.forward_ad as forward

        with forward.dual_level(), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            got = forward.unpack_dual(f(forward.make_dual(q, tangent))).tangent
        torch.testing.assert_close(got, wanted)


class Use(Case):
    def test_use(self):
        q = draw(1, 2, 5, 8)
        with attend.torch.use():
            self.assertIs(functional.scaled_dot_product_attention, sdpa)
            with attend.torch.use():
                self.alone(q, q, q)
            self.assertIs(functional.scaled_dot_product_attention, sdpa)
        self.assertIs(functional.scaled_dot_product_attention, torch_sdpa)
        with self.assertRaises(KeyError), attend.torch.use():
            raise KeyError
        self.assertIs(functional.scaled_dot_product_attention, torch_sdpa)

    def test_blocks_that_overlap(self):
        first, second = attend.torch.use(), attend.torch.use()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        self.assertIs(functional.scaled_dot_product_attention, sdpa)
        second.__exit__(None, None, None)
        self.assertIs(functional.scaled_dot_product_attention, torch_sdpa)

    def test_blocks_of_threads(self):
        q, others, together = draw(1, 2, 5, 8), [], threading.Barrier(4)

        def work():
            for _ in range(50):
                with attend.torch.use():
                    together.wait()
                    functional.scaled_dot_product_attention(q, q, q)
                    if functional.scaled_dot_product_attention is not sdpa:
                        others.append(1)

        run_threads(work)
        self.assertEqual(others, [])
        self.assertIs(functional.scaled_dot_product_attention, torch_sdpa)

    def test_modules(self):
        """Modules of torch run on the engine without knowing it."""
        layer = torch.nn.MultiheadAttention(16, 4, batch_first=True)
        x = draw(2, 5, 16)
        called = []

        def spy(*args, **kwargs):
            called.append(1)
            return sdpa(*args, **kwargs)

        with torch.no_grad():
            layer.train()  # eval() takes a fused path in torch
            wanted = layer(x, x, x, need_weights=False)[0]
            with attend.torch.use():
                functional.scaled_dot_product_attention = spy
                got = layer(x, x, x, need_weights=False)[0]
        self.assertEqual(called, [1])
        torch.testing.assert_close(got, wanted)


class Compiled(Case):
    def compiled(self, function, **kwargs):
        torch._dynamo.reset()
        return torch.compile(function, fullgraph=True, backend="aot_eager", **kwargs)

    def test_graph(self):
        q, k, v = draw(2, 4, 5, 8), draw(2, 2, 7, 8, seed=1), draw(2, 2, 7, 6, seed=2)
        mask = draw(5, 7, seed=3) > 0
        f = self.compiled(lambda q, k, v, m: sdpa(q * 2, k, v, m, enable_gqa=True, scale=0.2) + 1)
        wanted = torch_sdpa(q * 2, k, v, mask, enable_gqa=True, scale=0.2) + 1
        torch.testing.assert_close(f(q, k, v, mask), wanted, atol=2e-5, rtol=2e-5)

    def test_the_graph_holds_the_operation(self):
        found = []

        def backend(graph, _):
            found.extend(str(node.target) for node in graph.graph.nodes)
            return graph

        torch._dynamo.reset()
        q = draw(1, 2, 5, 8)
        torch.compile(lambda x: sdpa(x, x, x), fullgraph=True, backend=backend)(q)
        self.assertTrue(any("attend" in name for name in found), found)

    def test_dynamic_shapes(self):
        f = self.compiled(lambda q, k: sdpa(q, k, k, is_causal=True), dynamic=True)
        for nq, nk in (5, 7), (3, 9), (11, 2):
            q, k = draw(1, 2, nq, 8), draw(1, 2, nk, 8, seed=1)
            torch.testing.assert_close(f(q, k), torch_sdpa(q, k, k, is_causal=True), atol=2e-5, rtol=2e-5)

    def test_strides(self):
        """The strides in the graph are the actual strides."""
        many = [x.transpose(1, 2) for x in draw(2, 10, 3, 4, 16).unbind(2)]
        for dynamic in False, True:
            f = self.compiled(
                lambda q, k, v: sdpa(q, k, v).transpose(1, 2).view(q.shape[0], q.shape[2], -1),
                dynamic=dynamic,
            )
            torch.testing.assert_close(
                f(*many), torch_sdpa(*many).transpose(1, 2).view(2, 10, -1), atol=2e-5, rtol=2e-5
            )
        plain = [x.contiguous() for x in many]
        for args in (
            many,
            plain,
            [many[0], *plain[1:]],
            [x[0] for x in many],
            [*many[:2], many[2][..., :8]],
            [x[..., ::2] for x in many],
        ):
            torch.library.opcheck(torch.ops.attend.sdpa.default, (*args, None, 0.0, False, None, False))
            got = self.compiled(lambda q, k, v: sdpa(q, k, v))(*args)
            self.assertEqual(got.stride(), torch_sdpa(*args).stride())

    def test_empty(self):
        f = self.compiled(sdpa)
        for q, kv in (
            ((1, 2, 2, 0, 8), (1, 2, 2, 5, 8)),
            ((1, 3, 5, 8), (2, 3, 0, 8)),
            ((2, 3, 0, 8), (2, 3, 0, 8)),
        ):
            q, kv = torch.zeros(q), torch.zeros(kv)
            self.assertEqual(f(q, kv, kv).shape, torch_sdpa(q, kv, kv).shape)

    def test_wrong_types(self):
        q = draw(1, 2, 5, 8)
        for wrong in {"is_causal": 1}, {"enable_gqa": "x"}, {"scale": "a"}, {"dropout_p": None}:
            with self.assertRaises(Exception):
                self.compiled(lambda q: sdpa(q, q, q, **wrong))(q)

    def test_numbers_of_the_shape(self):
        f = self.compiled(
            lambda q: sdpa(q, q, q, scale=1 / q.shape[-2] ** 0.5, is_causal=q.shape[-2] > 1), dynamic=True
        )
        for n in 5, 7:
            q = draw(1, 2, n, 8)
            torch.testing.assert_close(
                f(q), torch_sdpa(q, q, q, scale=1 / n**0.5, is_causal=True), atol=2e-5, rtol=2e-5
            )

    def test_use(self):
        q = draw(1, 2, 5, 8)
        with attend.torch.use():
            got = self.compiled(lambda x: functional.scaled_dot_product_attention(x, x, x) * 3)(q)
        torch.testing.assert_close(got, torch_sdpa(q, q, q) * 3, atol=2e-5, rtol=2e-5)

    def test_gradients(self):
        q, again = draw(1, 2, 5, 8).requires_grad_(), draw(1, 2, 5, 8).requires_grad_()
        self.compiled(lambda x: sdpa(x, x, x).sum())(q).backward()
        torch_sdpa(again, again, again).sum().backward()
        torch.testing.assert_close(q.grad, again.grad)

    def test_the_operation_is_well_formed(self):
        q, k, v = draw(2, 4, 5, 8), draw(2, 2, 7, 8, seed=1), draw(2, 2, 7, 6, seed=2)
        for args in (q, k, v, None, 0.0, True, 0.3, True), (q, q, q, draw(5, 5) > 0, 0.0, False, None, False):
            torch.library.opcheck(torch.ops.attend.sdpa.default, args)


class Resources(Case):
    def test_threads_follow_torch(self):
        before = torch.get_num_threads()
        try:
            for threads in 1, 3, 2:
                torch.set_num_threads(threads)
                sdpa(*[draw(1, 2, 5, 8)] * 3)
                self.assertEqual(attend.default_context().threads, threads)
            attend.set_threads(4)
            self.assertEqual(attend.default_context().threads, 4)
        finally:
            attend.set_threads(0)
            torch.set_num_threads(before)
        self.assertEqual(attend.default_context().threads, before)

    def test_threads_of_python(self):
        q = draw(2, 4, 64, 32)
        wanted, wrong = sdpa(q, q, q), []

        def work():
            for _ in range(50):
                if not torch.equal(sdpa(q, q, q), wanted):
                    wrong.append(1)

        run_threads(work)
        self.assertEqual(wrong, [])

    def test_memory(self):
        """A call allocates its output only, in torch's memory and in others'."""
        q, k, v = (draw(1, 8, 2048, 128, dtype=torch.bfloat16, seed=s) for s in range(3))
        size = q.numel() * 2
        sdpa(q, k, v)
        with torch.profiler.profile(profile_memory=True) as profile:
            out = sdpa(q, k, v)
        taken = [e.self_cpu_memory_usage for e in profile.key_averages() if e.self_cpu_memory_usage > 0]
        self.assertEqual(sum(taken), size)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        outs = [sdpa(q, k, v) for _ in range(4)]
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
        self.assertLess(grown, 4 * size // 1024 + 512)  # KiB
        self.assertTrue(torch.equal(outs[3], out))
