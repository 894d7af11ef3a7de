# SPDX-License-Identifier: MIT
"""`attend run` against a dense evaluation in double."""

import json
import os
import signal
import time

import numpy as np

import dense
import harness
from harness import CliTest
from problem import GOOD, TOLERANCE, Problem, decode, encode


class AgainstDense(CliTest):
    def test_dtypes_ranks_and_layouts(self):
        for dtype in TOLERANCE:
            for layout in "bhld", "blhd":
                for rank in 2, 3, 4:
                    with self.subTest(dtype=dtype, layout=layout, rank=rank):
                        nb, hq = (2 if rank == 4 else 1), (1 if rank == 2 else 4)
                        form = {"dtype": dtype, "rank": rank, "layout": layout}
                        Problem(self, nb=nb, hq=hq, hkv=min(hq, 2), **form).check()

    def test_out_dtype(self):
        for dtype in "f32", "f16", "bf16", "f64":
            with self.subTest(dtype=dtype):
                p = Problem(self, dtype=dtype)
                p.check("--out-dtype", "same")
                if dtype == "f64":  # rounded to f32 at the end
                    self.succeed(*p.args, "--out", "o.npy", "--out-dtype", "f32")
                    out = dense.attention(*p.values)[0]
                    self.assertEqual(self.load("o.npy").dtype, np.float32)
                    p.near(self.load("o.npy"), out, 2.0**-24 * np.abs(out).max())
                else:
                    p.check("--out-dtype=f32", out_dtype="f32")

    def test_gqa(self):
        for hq, hkv in (1, 1), (6, 1), (6, 2), (6, 3), (6, 6):
            with self.subTest(hq=hq, hkv=hkv):
                Problem(self, hq=hq, hkv=hkv).check()

    def test_scale(self):
        p = Problem(self, dtype="f64")
        for text, scale in (("0.3", 0.3), ("-0.2", -0.2), ("0", 0.0), ("1e-1", 0.1), ("-.5", -0.5)):
            p.check("--scale", text, scale=scale)
            p.check(f"--scale={text}", scale=scale)

    def test_softcap(self):
        p = Problem(self)
        p.check("--softcap", "0")
        p.check("--softcap", "0.7", softcap=0.7)
        p.check("--softcap", "30", softcap=30.0)

    def test_causal(self):
        for nq, nk in (5, 7), (7, 5), (6, 6):
            p = Problem(self, nq=nq, nk=nk)
            for causal in "none", "top-left", "bottom-right":
                p.check("--causal", causal, causal=causal)
            p.check("--causal", "offset:-3,2", causal="offset", offset=[-3, 2])
            p.check("--causal=offset:0,-1", causal="offset", offset=[0, -1])
            far = [2**59, -(2**59)]
            p.check(f"--causal offset:{far[0]},{far[1]}", causal="offset", offset=far)
        Problem(self, nb=1).check("--causal", "offset:-3", causal="offset", offset=[-3])

    def test_bottom_right_uses_the_tensors_nk(self):
        p = Problem(self, nq=3, nk=7)
        flags = "--causal bottom-right --key-lengths 4,6"
        p.check(flags, causal="bottom-right", lengths=[4, 6])

    def test_window(self):
        p = Problem(self, nq=6, nk=9)
        p.check("--window-left", "-1", "--window-right", "-1")
        p.check("--window-left", "2", left=2)
        p.check("--window-right", "0", right=0)
        p.check("--window-left=1", "--window-right=2", left=1, right=2)
        flags = "--window-left 1 --causal bottom-right"
        p.check(flags, left=1, causal="bottom-right")
        p.check("--window-left", str(2**63 - 1), "--window-right", str(2**63 - 1))

    def test_key_lengths(self):
        p = Problem(self)
        p.check("--key-lengths", "0,7", lengths=[0, 7])
        p.check("--key-lengths", "3,5", lengths=[3, 5])
        Problem(self, nb=1, rank=3, hq=2).check("--key-lengths", "4", lengths=[4])

    def test_masks_broadcast_as_numpy_does(self):
        rng = np.random.default_rng(2)
        p = Problem(self)
        shapes = [
            (2, 4, 5, 7),
            (1, 4, 1, 7),
            (2, 1, 5, 1),
            (1, 1, 1, 1),
            (4, 5, 7),
            (1, 5, 7),
            (5, 7),
            (1, 7),
            (5, 1),
            (7,),
            (1,),
            (),
        ]
        for shape in shapes:
            with self.subTest(shape=shape):
                mask = rng.random(shape) < 0.6
                self.save("m.npy", np.asarray(mask))
                p.check("--mask", "m.npy", mask=mask)
                bias = rng.standard_normal(shape)
                self.save("b.npy", np.asarray(bias))
                p.check("--bias", "b.npy", bias=bias)
                p.check("--bias", "b.npy", "--mask", "m.npy", mask=mask, bias=bias)

    def test_mask_of_input_without_b_and_h(self):
        mask = np.random.default_rng(3).random((5, 7)) < 0.5
        self.save("m.npy", mask)
        for layout in "bhld", "blhd":
            Problem(self, nb=1, hq=1, hkv=1, rank=2, layout=layout).check("--mask", "m.npy", mask=mask)
            Problem(self, nb=1, hq=4, rank=3, layout=layout).check("--mask", "m.npy", mask=mask)

    def test_masked_nan_does_not_leak(self):
        p = Problem(self)
        for name, index in ("k", 1), ("v", 2):
            p.values[index][:, :, 3] = np.nan
            self.save(name + ".npy", p.values[index].astype("f4"))
            p.values[index][:, :, 3] = 0
        mask = np.arange(7) != 3
        self.save("m.npy", mask)
        p.check("--mask", "m.npy", mask=mask)

    def test_bias_has_a_dtype_of_its_own(self):
        values = np.random.default_rng(4).standard_normal((4, 1, 7))
        for dtype in TOLERANCE:
            for bias_dtype in TOLERANCE:
                with self.subTest(dtype=dtype, bias=bias_dtype):
                    p = Problem(self, dtype=dtype)
                    stored, bias = encode(values, bias_dtype)
                    self.save("b.npy", stored)
                    told = bias_dtype == "bf16" and dtype != "bf16"
                    p.check("--bias b.npy", "--dtype bf16" * told, bias=bias)

    def test_infinite_bias(self):
        bias = np.zeros((5, 7))
        bias[2] = -np.inf
        bias[3, 1:] = -np.inf
        self.save("b.npy", bias)
        Problem(self).check("--bias", "b.npy", bias=bias)
        self.save("b.npy", np.full((1, 7), np.finfo("f4").min, dtype="f4"))
        p = Problem(self)
        self.succeed(*p.args, "--out", "o.npy", "--bias", "b.npy")
        mean = p.values[2].mean(axis=2, keepdims=True).repeat(2, axis=1)
        p.near(self.load("o.npy"), np.broadcast_to(mean, (2, 4, 5, 6)), 1e-6)

    def test_alibi(self):
        for hq, hkv in (4, 2), (1, 1), (6, 2), (12, 4), (8, 8):
            with self.subTest(hq=hq):
                p = Problem(self, hq=hq, hkv=hkv)
                slopes = dense.alibi_slopes(hq)
                p.check("--alibi auto", alibi=slopes)
                flags = "--alibi auto --causal bottom-right"
                p.check(flags, alibi=slopes, causal="bottom-right")
        p = Problem(self)
        for dtype in TOLERANCE:
            stored, slopes = encode(np.array([0.5, -0.25, 0.1, 0]), dtype)
            self.save("a.npy", stored)
            p.check("--alibi a.npy", "--dtype bf16" * (dtype == "bf16"), alibi=slopes)

    def test_sinks(self):
        p = Problem(self)
        for dtype in TOLERANCE:
            stored, sinks = encode(np.array([0.5, -1.0, 3, -np.inf]), dtype)
            self.save("s.npy", stored)
            flags = "--sinks s.npy" + " --dtype bf16" * (dtype == "bf16")
            p.check(flags, sinks=sinks)
            p.check(flags, "--key-lengths 0,3", sinks=sinks, lengths=[0, 3])

    def test_sizes_of_zero(self):
        for size in ({"nq": 0}, {"nk": 0}, {"d": 0}, {"dv": 0}, {"nb": 0}, {"hq": 0}):
            with self.subTest(**size):
                Problem(self, **size).check()
        Problem(self, nq=0).check("--causal", "bottom-right", causal="bottom-right")

    def test_everything_at_once(self):
        rng = np.random.default_rng(5)
        for seed in range(40):
            with self.subTest(seed=seed):
                self.random_problem(rng, seed)

    def random_problem(self, rng, seed):
        pick = lambda *choices: choices[rng.integers(len(choices))]
        nb, group, hkv = (int(rng.integers(1, 4)) for _ in range(3))
        nq, nk, d, dv = (int(rng.integers(0, 40)) for _ in range(4))
        dtype, layout = pick("f64", "f32", "f16", "bf16"), pick("bhld", "blhd")
        p = Problem(self, nb, group * hkv, hkv, nq, nk, d, dv, dtype, 4, layout, seed)
        flags, rule = ["--threads", pick("1", "2")], {}
        causal = pick("none", "top-left", "bottom-right", "offset")
        if causal == "offset":
            rule["offset"] = [int(x) for x in rng.integers(-20, 20, nb)]
            flags += ["--causal", "offset:" + ",".join(map(str, rule["offset"]))]
        else:
            flags += ["--causal", causal]
        rule["causal"] = causal
        for side in "left", "right":
            if pick(0, 1):
                rule[side] = int(rng.integers(-1, 30))
                flags += [f"--window-{side}", str(rule[side])]
        if pick(0, 1):
            rule["lengths"] = [int(x) for x in rng.integers(0, nk + 1, nb)]
            flags += ["--key-lengths", ",".join(map(str, rule["lengths"]))]
        if pick(0, 1):
            rule["softcap"] = 2.5
            flags += ["--softcap", "2.5"]
        shape = lambda: tuple(pick(1, n) for n in (nb, group * hkv, nq, nk))[pick(0, 0, 1, 2) :]
        if pick(0, 1):
            rule["mask"] = rng.random(shape()) < 0.8
            flags += ["--mask", self.save("m.npy", rule["mask"])]
        if pick(0, 1):
            rule["bias"] = rng.standard_normal(shape()).astype("f2").astype("f8")
            flags += ["--bias", self.save("b.npy", rule["bias"].astype(pick("f2", "f4")))]
        if pick(0, 1):
            rule["alibi"] = rng.standard_normal(group * hkv) / 16
            flags += ["--alibi", self.save("a.npy", rule["alibi"])]
        if pick(0, 1):
            rule["sinks"] = rng.standard_normal(group * hkv)
            flags += ["--sinks", self.save("s.npy", rule["sinks"])]
        p.check(*flags, **rule)


class Files(CliTest):
    def test_safetensors_in_and_out(self):
        p = Problem(self)
        names = {"f64": "F64", "f32": "F32", "f16": "F16", "bf16": "BF16"}
        for dtype in TOLERANCE:
            stored = [encode(x, dtype)[0] for x in p.values]
            harness.write_safetensors(
                self.path("m.safetensors"), {f"layer.{n}": (names[dtype], x) for n, x in zip("qkv", stored)}
            )
            out = dense.attention(*(encode(x, dtype)[1] for x in p.values))[0]
            inputs = [w for n in "qkv" for w in (f"--{n}", f"m.safetensors:layer.{n}")]
            self.succeed("run", *inputs, "--out", "o.safetensors:y", "--lse", "l.npy")
            tensors = harness.read_safetensors(self.path("o.safetensors"))
            self.assertEqual({n: t for n, (t, _) in tensors.items()}, {"y": names[dtype]})
            got = decode(tensors["y"][1])
            p.near(got, out, TOLERANCE[dtype] * np.abs(p.values[2]).max())
            os.remove(self.path("o.safetensors"))

    def test_big_endian_and_fortran_order(self):
        p = Problem(self)
        for change in (
            lambda x: x.astype(">f4"),
            np.asfortranarray,
            lambda x: np.asfortranarray(x.astype(">f4")),
        ):
            for name, x in zip("qkv", p.values):
                self.save(name + ".npy", change(x.astype("f4")))
            p.check()

    def test_bytes_after_an_array_are_legal(self):
        p = Problem(self)
        with open(self.path("k.npy"), "ab") as file:
            np.save(file, np.zeros(3))
        p.check()

    def test_v2_is_bf16_only_when_told(self):
        p = Problem(self, dtype="bf16")
        self.refuse(*p.args[:-2], "--out", "o.npy", says=("q.npy", "--dtype bf16"))

    def test_bf16_is_not_written_to_npy(self):
        p = Problem(self, dtype="bf16")
        says = "--out", "o.npy", "bf16", "--out-dtype f32"
        self.refuse(*p.args, "--out", "o.npy", "--lse", "l.npy", says=says)

    def test_outputs_share_a_safetensors_file(self):
        p = Problem(self)
        spec = "o.safetensors:"
        self.succeed(*p.args, "--out", spec + "o", "--lse", spec + "l", "--weights", spec + "w")
        out, lse, weights = dense.attention(*p.values)
        for name, want in ("o", out), ("l", lse), ("w", weights):
            p.near(self.load(spec + name), want, 1e-5)
        # A checkpoint with additional tensors is not overwritten.
        self.refuse(*p.args, "--out", spec + "o", says="o.safetensors")
        self.refuse(*p.args, "--out", spec + "o", "--lse", spec + "o", says=("--out", "--lse"))

    def test_an_output_is_replaced(self):
        p = Problem(self)
        self.save("o.npy", np.zeros(3))
        self.succeed(*p.args, "--out", "o.npy")
        self.assertEqual(self.load("o.npy").shape, (2, 4, 5, 6))

    def test_only_what_was_asked_for_is_written(self):
        p = Problem(self)
        self.succeed(*p.args, "--out", "o.npy")
        self.assertEqual(sorted(os.listdir(self.dir)), ["k.npy", "o.npy", "q.npy", "v.npy"])


class Said(CliTest):
    def test_json(self):
        p = Problem(self)
        flags = "--out o.npy --lse l.npy --json --threads 2 --isa ref"
        text = self.succeed(*p.args, *flags.split())
        self.assertEqual(text.count("\n"), 1)
        said = json.loads(text)
        self.assertEqual(said["shape"], {"nb": 2, "hq": 4, "hkv": 2, "nq": 5, "nk": 7, "d": 8, "dv": 6})
        self.assertEqual((said["dtype"], said["isa"], said["threads"]), ("f32", "ref", 2))
        self.assertEqual(said["inputs"], {"q": "q.npy", "k": "k.npy", "v": "v.npy"})
        self.assertEqual(
            said["outputs"],
            [
                {"name": "out", "file": "o.npy", "dtype": "f32", "shape": [2, 4, 5, 6]},
                {"name": "lse", "file": "l.npy", "dtype": "f32", "shape": [2, 4, 5]},
            ],
        )
        self.assertGreaterEqual(said["seconds"], 0)

    def test_one_line_for_people(self):
        p = Problem(self)
        text = self.succeed(*p.args, "--out", "o.npy")
        self.assertEqual(text.count("\n"), 1)
        for word in "o.npy", "(2, 4, 5, 6)", "f32":
            self.assertIn(word, text)

    def test_full_standard_output(self):
        self.say_to_full(*Problem(self).args, "--out", "o.npy")

    def test_closed_standard_output(self):
        args = *Problem(self).args, "--out", "o.npy"
        self.say_to_closed(*args, says="standard output")

    def test_help(self):
        flags = "q k v out lse weights layout scale softcap causal window-left"
        flags += " window-right key-lengths mask bias alibi sinks out-dtype threads isa"
        text = self.help_of("run", flags + " dtype force json")
        self.assertEqual(self.succeed("help", "run"), text)
        self.assertEqual(self.succeed("run", "-h"), text)


class SameBits(CliTest):
    def outputs(self, p, *flags, env=None):
        specs = "--out", "o.safetensors:out", "--lse", "l.npy", "--weights", "w.npy"
        self.succeed(*p.args, *specs, *flags, env=env)
        files = []
        for name in "o.safetensors", "l.npy", "w.npy":
            files.append(harness.read_bytes(self.path(name)))
        return files

    def test_threads(self):
        for isa in harness.runnable_sets():
            for dtype in TOLERANCE:
                with self.subTest(isa=isa, dtype=dtype):
                    p = Problem(self, nq=150, nk=200, d=32, dv=40, dtype=dtype)
                    flags = "--isa", isa, "--causal", "bottom-right"
                    one = self.outputs(p, "--threads", "1", *flags)
                    for threads in "3", *harness.sample("28", 1):
                        self.assertEqual(one, self.outputs(p, "--threads", threads, *flags))

    def test_layout(self):
        p = Problem(self, nq=33, nk=65)
        one = self.outputs(p)
        p = Problem(self, nq=33, nk=65, layout="blhd")
        two = self.outputs(p)
        self.assertEqual(one[1:], two[1:])

    def test_every_kernel_set(self):
        for isa in harness.runnable_sets():
            for dtype in TOLERANCE:
                with self.subTest(isa=isa, dtype=dtype):
                    p = Problem(self, nq=33, nk=70, d=20, dv=9, dtype=dtype)
                    p.check("--isa", isa, "--causal", "bottom-right", causal="bottom-right")
                    # The variable has the effect of the option.
                    option = self.outputs(p, "--isa", isa)
                    variable = self.outputs(p, env={"ATTEND_ISA": isa})
                    self.assertEqual(option, variable)


class Long(CliTest):
    """A run of seconds: progress on a terminal, no file after a signal."""

    ARGS = f"run {GOOD} --lse l.npy --weights w.npy --isa ref --threads 1".split()

    def setUp(self):
        super().setUp()
        self.inputs(3000)

    def inputs(self, n):
        rng = np.random.default_rng(6)
        for name in "qkv":
            self.save(name + ".npy", rng.standard_normal((1, 1, n, 64)).astype("f4"))

    def test_signals_leave_nothing(self):
        signals = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
        self.leave_nothing(*self.ARGS, files=3, signals=signals)

    def test_progress_on_a_terminal(self):
        """Progress is shown after 2 s; the process is stopped for these, so the work may be short."""
        self.inputs(1500)
        terminal, end = os.openpty()
        seen = b""
        with harness.start(*self.ARGS, cwd=self.dir, stderr=end) as job:
            os.close(end)
            harness.wait_for_work(job, 0.1)
            job.send_signal(signal.SIGSTOP)
            time.sleep(2.1)
            job.send_signal(signal.SIGCONT)
            while True:
                try:
                    piece = os.read(terminal, 4096)
                except OSError:
                    piece = b""
                if not piece:
                    break
                seen += piece
            job.communicate(timeout=harness.HANG)
        os.close(terminal)
        self.assertEqual(job.returncode, 0)
        self.assertIn(b"%", seen)
        self.assertTrue(seen.endswith(b"\r\x1b[K"), seen[-40:])
