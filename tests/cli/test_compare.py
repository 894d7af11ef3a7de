# SPDX-License-Identifier: MIT
"""The comparison's arithmetic, tables and files, without another engine."""

import ctypes
import json
import os
import sys
from unittest import mock

import numpy as np

import harness

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "compare"))
import bandwidth
import cases
import engine_attend
import growth_sizes
import growth_table
import growth_threads
import inputs
import measure
import reference
import results


def timing(engine, variant, median_ms):
    return {"engine": engine, "variant": variant, "median_ms": median_ms}


TIMINGS = [
    timing("attend", "attend_forward", 2.0),
    timing("torch", "enable_gqa", 9.0),
    timing("torch", "folded", 5.0),
    timing("onnxruntime", "Attention", 3.0),
]
LISTED = {
    "case": "window",
    "kind": "compute",
    "batch": 1,
    "hq": 4,
    "hkv": 2,
    "nq": 6,
    "nk": 6,
    "d": 8,
    "dv": 8,
    "causal": "top-left",
    "window_left": 2,
    "mask": "none",
    "stats": "none",
}
MACHINE = {"cpu": "a CPU", "cores": 2, "memory_gib": 8}


class Ratios(harness.CliTest):
    def test_the_best_variant_of_the_best_rival_counts(self):
        self.assertEqual(results.best_of(TIMINGS, "torch")["variant"], "folded")
        self.assertEqual(results.best_rival(TIMINGS)["engine"], "onnxruntime")
        self.assertEqual(results.ratio(TIMINGS), 1.5)

    def test_no_ratio_without_both_sides(self):
        self.assertIsNone(results.ratio(TIMINGS[:1]))
        self.assertIsNone(results.ratio(TIMINGS[1:]))

    def test_digits(self):
        for ms, text in ((1234.5, "1234"), (99.94, "99.9"), (0.0123, "0.0123"), (0.0004, "0.00040")):
            self.assertEqual(results.milliseconds({"median_ms": ms}), text)
        self.assertEqual(results.milliseconds(None), "-")


class Tables(harness.CliTest):
    document = {
        "date": "2000-01-01",
        "command": "compare",
        "machine": MACHINE,
        "threads": 2,
        "versions": {"attend": "1", "torch": "2"},
        "results": [{"case": "c", "dtype": "f32", "timings": TIMINGS}],
    }

    def test_cells(self):
        self.assertEqual(
            results.cells(self.document["results"][0]),
            ["c", "f32", "2", "5", "3", "-", "1.50", "ONNX Runtime Attention"],
        )

    def test_markdown(self):
        lines = results.markdown(self.document).splitlines()
        self.assertIn("a CPU, 2 cores", lines[0])
        self.assertIn("| c | f32 | 2 | 5 | 3 | - | 1.50 | ONNX Runtime Attention |", lines)
        self.assertEqual({line.count("|") for line in lines if line.startswith("|")}, {9})

    def test_bins_follow_their_case(self):
        part = {"read_gbps": 35.04, "rounds": 4, "timings": TIMINGS}
        result = {**self.document["results"][0], "bins": [part]}
        text = results.markdown({**self.document, "results": [result]})
        self.assertTrue(
            text.endswith(
                "| at 35.0 GB/s, 4 rounds | f32 | 2 | 5 | 3 | - | 1.50 |" " ONNX Runtime Attention |\n"
            ),
            text,
        )

    def test_text_columns_line_up(self):
        header = results.text_row(results.HEADER)
        row = results.text_row(results.cells(self.document["results"][0]))
        self.assertEqual(header.index("ratio") + len("ratio"), row.index("1.50") + len("1.50"))

    def test_table_program(self):
        with open(self.path("r.json"), "w", encoding="utf-8") as file:
            json.dump(self.document, file)
        program = os.path.join(os.path.dirname(results.__file__), "table.py")
        for name, status in (("r.json", 0), ("absent.json", 2)):
            done = harness.subprocess.run(
                [sys.executable, "-B", program, self.path(name)], capture_output=True, text=True
            )
            self.assertEqual(done.returncode, status, done.stderr)
            expected = results.markdown(self.document) if status == 0 else ""
            self.assertEqual(done.stdout, expected)

    def test_growth(self):
        point = {"n": 512, "median_ms": 1.5, "peak_bytes": 2e6, "agrees": True}
        wrong = {**point, "agrees": False}
        common = {"variant": "plain", "dtype": "f32", "stopped": ""}
        lines = [
            {"engine": "attend", **common, "points": [point]},
            {"engine": "torch", **common, "points": [wrong], "stopped": "too long"},
        ]
        where = {"machine": MACHINE, "date": "2000-01-01", "versions": {}, "threads": 2}
        rows = [{"threads": 2, "case": "c", "dtype": "f32", "timings": TIMINGS}]
        text = growth_table.markdown(
            {"sizes": {**where, "lines": lines}, "threads": {**where, "results": rows}}
        )
        self.assertIn("| 512 | 1.5 | - |", text)
        self.assertIn("| 512 | 2 | - |", text)
        self.assertIn("PyTorch, f32: too long", text)
        self.assertIn("| 2 | 2 | 5 | 3 | - | 1.50 |", text)


class Files(harness.CliTest):
    def test_json_is_replaced_whole(self):
        path = self.path("deep/results.json")
        results.write_json(path, {"x": 1})
        with self.assertRaises(TypeError):
            results.write_json(path, {"x": object()})
        self.assertEqual(results.read_json(path), {"x": 1})
        results.write_json(path, {"x": 2})
        self.assertEqual(results.read_json(path), {"x": 2})
        self.assertEqual(os.listdir(self.path("deep")), ["results.json"])

    def test_a_failed_write_leaves_nothing(self):
        os.mkdir(self.path("target"))
        with self.assertRaises(OSError):
            results.write_whole(self.path("target"), b"text")
        self.assertEqual(os.listdir(self.dir), ["target"])


class Cases(harness.CliTest):
    def test_listing(self):
        command = self.path("lists")
        with open(command, "w", encoding="ascii") as file:
            file.write(
                "#!/bin/sh\n[ \"$*\" = 'bench --list --json' ] || exit 2\n"
                f"echo '{json.dumps({**LISTED, 'stats': 'off'})}'\n"
                f"echo '{json.dumps(LISTED)}'\n"
            )
        os.chmod(command, 0o755)
        (case,) = cases.load(command)
        self.assertEqual((case.name, case.group, case.rotates), ("window", 2, False))
        self.assertEqual([case.seen(i) for i in (0, 2, 5)], [(0, 1), (0, 3), (3, 6)])
        self.assertEqual(cases.select([case], "win*"), [case])
        self.assertEqual(cases.select([case], "w"), [])

    def test_what_the_rivals_place_differently_is_refused(self):
        with self.assertRaisesRegex(ValueError, "window: .*nq != nk"):
            cases.from_listing({**LISTED, "nk": 7})


class Agreement(harness.CliTest):
    def test_bf16_rounds_like_the_harness(self):
        x = np.random.default_rng(1).standard_normal(1000).astype(np.float32)
        x[:3] = (1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-8 + 2.0**-20)  # two ties, and past one
        np.testing.assert_array_equal(inputs.narrow(x, "bf16"), harness.to_bf16(x))
        np.testing.assert_array_equal(
            inputs.widen(inputs.narrow(x, "bf16"), "bf16"), harness.from_bf16(harness.to_bf16(x))
        )

    def test_copies_rotate_and_are_equal(self):
        case = cases.from_listing({**LISTED, "kind": "decode", "d": 1 << 20})
        made = inputs.Inputs(case, "f32")
        self.assertGreaterEqual(sum(x.nbytes for x in made.k + made.v), 256 << 20)
        self.assertGreater(len(made.k), 1)
        np.testing.assert_array_equal(made.k[0], made.k[-1])
        self.assertFalse(np.shares_memory(made.k[0], made.k[-1]))
        self.assertEqual({x.ctypes.data % 64 for x in (made.q, *made.k, *made.v)}, {0})

    def test_reference_is_softmax(self):
        case = cases.from_listing({**LISTED, "mask": "random"})
        made = inputs.Inputs(case, "f32")
        made.mask[...] = True
        made.mask[0, 0, 5, 4] = False
        rows = [(0, 0, 5), (0, 3, 0)]
        k, v = (x[0][0, 0, [3, 5]].astype(np.float64) for x in (made.k, made.v))
        weight = np.exp(k @ made.q[0, 0, 5] / np.sqrt(8))
        expected = [weight @ v / weight.sum(), made.v[0][0, 1, 0]]
        np.testing.assert_allclose(reference.dense_rows(made, rows), expected, rtol=1e-12)

    def test_documents(self):
        case = cases.from_listing(
            {**LISTED, "causal": "none", "window_left": -1, "mask": "docs8"} | {"nq": 16, "nk": 16}
        )
        self.assertTrue(case.has_mask)
        made = inputs.Inputs(case, "f32")
        expected = np.kron(np.eye(8, dtype=bool), np.ones((2, 2), bool))
        np.testing.assert_array_equal(made.mask, expected[None, None])
        np.testing.assert_array_equal(made.visible(), expected)

    def test_an_unknown_mask_is_refused(self):
        case = cases.from_listing({**LISTED, "mask": "zebra"})
        with self.assertRaisesRegex(ValueError, "window: .*'zebra'"):
            inputs.Inputs(case, "f32")

    def test_nan_is_an_error(self):
        expected = np.ones((2, 3))
        self.assertEqual(reference.error(expected, expected), 0)
        got = expected.copy()
        got[1, 2] = np.nan
        self.assertEqual(reference.error(got, expected), np.inf)

    def test_checksum_tells_inputs_apart(self):
        case = cases.from_listing(LISTED)
        one, other = inputs.Inputs(case, "f16"), inputs.Inputs(case, "f16")
        self.assertEqual(one.checksum(), other.checksum())
        other.v[0][0, 0, 0, 0] += 1
        self.assertNotEqual(one.checksum(), other.checksum())


class FakeProcess:
    """An engine with the exact answers, or with those that `spoil` changes."""

    def __init__(self, name, log, spoil=lambda rows: rows):
        self.name, self.log, self.spoil = name, log, spoil

    def ask(self, what, **request):
        self.log.append((self.name, what))
        if what == "load":
            self.inputs = inputs.Inputs(cases.Case(**request["case"]), request["dtype"])
            return {"variants": ["way"], "checksum": self.inputs.checksum()}
        if what == "check":
            rows = reference.dense_rows(self.inputs, request["rows"])
            return {"rows": [self.spoil(rows).tolist()], "ns": 1e6}
        if what == "time":
            return {"ns": [1e6] * request["samples"]}
        return {}


class Bandwidth(harness.CliTest):
    def test_one_state(self):
        self.assertEqual(bandwidth.split([50, 52, 57]), [[0, 1, 2]])
        self.assertEqual(bandwidth.split([35]), [[0]])

    def test_two_states(self):
        self.assertEqual(bandwidth.split([35, 57, 36, 55]), [[0, 2], [1, 3]])
        # One of forty is beyond the 5th percentile: not a separate state.
        self.assertEqual(bandwidth.split([9] + [50] * 39), [list(range(40))])

    def test_reads(self):
        read = bandwidth.Reader(2)
        self.assertGreater(min(read() for _ in range(3)), 0)


class Turns(harness.CliTest):
    def run_with(self, *processes, read=None, **changes):
        complaints = []
        case = cases.from_listing({**LISTED, **changes})
        self.measured = measure.measure(processes, case, "f32", 0.01, complaints.append, read)
        return [t["engine"] for t in self.measured["timings"]], complaints

    def test_engines_take_turns(self):
        log = []
        engines, complaints = self.run_with(FakeProcess("attend", log), FakeProcess("torch", log))
        self.assertEqual((engines, complaints), (["attend", "torch"], []))
        timed = [name for name, what in log if what == "time"]
        rounds = timed[4:]  # each is preceded by two calibration calls
        self.assertEqual(rounds, ["attend", "torch"] * measure.MOST_ROUNDS)

        self.assertEqual(self.measured["bins"], [])

    def test_decoding_is_told_apart_by_bandwidth(self):
        log = []
        processes = FakeProcess("attend", log), FakeProcess("torch", log)

        def read():
            log.append(("memory", "read"))
            turns = sum(what == "read" for _, what in log)
            return 35e9 if turns <= 2 * 4 else 57e9  # four rounds, and the others

        with mock.patch.object(inputs, "ROTATED_BYTES", 1):
            self.run_with(*processes, read=read, kind="decode")
        turns = [name for name, what in log if what in ("read", "time")][4:]
        rounds = len(turns) // 4
        self.assertEqual(turns, ["memory", "attend", "memory", "torch"] * rounds)
        slow, fast = self.measured["bins"]
        self.assertEqual((slow["read_gbps"], slow["rounds"]), (35, 4))
        self.assertEqual((fast["read_gbps"], fast["rounds"]), (57, rounds - 4))
        for part in slow, fast:
            self.assertEqual([t["engine"] for t in part["timings"]], ["attend", "torch"])
            self.assertEqual(results.ratio(part["timings"]), 1)
        for n, whole in enumerate(self.measured["timings"]):
            samples = [part["timings"][n]["samples"] for part in (slow, fast)]
            self.assertEqual(sum(samples), whole["samples"])

    def test_a_rival_that_disagrees_is_named_and_not_timed(self):
        log = []
        for spoil in (lambda rows: rows * 1.001, lambda rows: rows * np.nan):
            wrong = FakeProcess("torch", log, spoil)
            engines, complaints = self.run_with(FakeProcess("attend", log), wrong)
            self.assertEqual(engines, ["attend"])
            self.assertRegex(complaints[0], "^window f32: torch way: differs by")
        self.assertNotIn(("torch", "time"), log)

    def test_attend_disagreeing_ends_it(self):
        log = []
        wrong = FakeProcess("attend", log, lambda rows: rows + 1)
        with self.assertRaisesRegex(measure.Disagreement, "attend way: differs"):
            self.run_with(wrong, FakeProcess("torch", log))
        self.assertNotIn("time", [what for _, what in log])


class Growth(harness.CliTest):
    def points(self, *pairs):
        return [{"peak_bytes": peak, "median_ms": ms} for peak, ms in pairs]

    def test_stops_before_the_limits(self):
        quadratic = self.points((1e9, 10), (4e9, 40))
        linear = self.points((1e9, 10), (2e9, 40))
        self.assertEqual(growth_sizes.why_stop([], 1, 1), "")
        self.assertIn("16 GB", growth_sizes.why_stop(quadratic, 15e9, 9))
        self.assertEqual(growth_sizes.why_stop(linear, 15e9, 9), "")
        self.assertIn("s, above", growth_sizes.why_stop(linear, 15e9, 0.1))

    def test_thread_counts(self):
        self.assertEqual(growth_threads.doublings(1), [1])
        self.assertEqual(growth_threads.doublings(6), [1, 2, 4, 6])
        self.assertEqual(growth_threads.doublings(16), [1, 2, 4, 8, 16])


class EngineAttend(harness.CliTest):
    """The ctypes structs in Python match the library's."""

    def test_structs(self):
        built = os.path.join(os.path.dirname(harness.BIN), "libattend.so")
        os.environ["ATTEND_LIBRARY"] = built
        try:
            self.assertRegex(engine_attend.start(1), r"^[0-9.]+ \w+$")
            rule = engine_attend.Rule(
                struct_size=ctypes.sizeof(engine_attend.Rule), window_left=-1, window_right=-1
            )
            io = engine_attend.Io(struct_size=ctypes.sizeof(engine_attend.Io))
            numbers = np.ones((1, 1, 2, 4), np.float32)
            out = np.zeros_like(numbers)
            io.q = io.k = io.v = engine_attend.view(numbers, "f32")
            io.out = engine_attend.view(out, "f32")
            engine_attend.forward(rule, io)
            self.assertTrue((out == 1).all())
        finally:
            del os.environ["ATTEND_LIBRARY"]
