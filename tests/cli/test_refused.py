# SPDX-License-Identifier: MIT
"""Bad usage: status 2, one line that names the error, and no file."""

import os
import resource

import numpy as np

import harness
from harness import CliTest
from problem import GOOD, Problem


# Flags, and words of the one line.  nb 2, hq 4, hkv 2, nq 5, nk 7, d 8, dv 6.
BAD_USAGE = (
    [
        ("--k k.npy --v v.npy --out o.npy", "--q"),
        ("--q q.npy --v v.npy --out o.npy", "--k"),
        ("--q q.npy --k k.npy --out o.npy", "--v"),
        ("--q q.npy --k k.npy --v v.npy", "--out"),
        ("", "--q"),
        (GOOD + " stray", "stray"),
        (GOOD + " -", "'-'"),
        (GOOD + " --", "'--'"),
        (GOOD + " -x", "'-x'"),
        (GOOD + " --sacle 1", "'--sacle': did you mean '--scale'"),
        (GOOD + " --scales=1", "did you mean '--scale'"),
        (GOOD + " --nonsense", "'--nonsense'"),
        (GOOD + " --scale", "--scale needs a value"),
        (GOOD + " --scale --force", "--scale needs a value"),
        (GOOD + " --scale=", "--scale"),
        (GOOD + " --scale 1 --scale 1", "--scale is given twice"),
        (GOOD + " --q q.npy", "--q is given twice"),
        (GOOD + " --force=yes", "--force"),
        (GOOD + " --json=1", "--json"),
        (GOOD + " --force --force", "--force is given twice"),
    ]
    + [
        (f"{GOOD} --scale {x}", ("--scale", x))
        for x in "nan inf -inf 1e999 0x10 1.5x 1,5 e5 infinity -nan".split()
    ]
    + [(f"{GOOD} --softcap {x}", ("--softcap", x)) for x in ("-1", "-0.5", "nan", "inf", "x", "1e999")]
    + [
        (f"{GOOD} --threads {x}", ("--threads", x))
        for x in (
            *("0", "-1", "-2147483648", "1.5", "two", "99999999999999999999"),
            *("2147483648", "4294967297"),
        )
    ]
    + [
        (f"{GOOD} --window-{side} {x}", (f"--window-{side}", x))
        for side in ("left", "right")
        for x in ("-2", "-99", "1.0", "x", "9223372036854775808", "1e3", "-")
    ]
    + [
        (f"{GOOD} --causal {x}", ("--causal", x))
        for x in ("yes", "top-right", "offset", "Offset:1", "bottom_right")
    ]
    + [
        (f"{GOOD} --causal {x}", ("--causal", says))
        for x, says in (
            ("offset:", "''"),
            ("offset:x,1", "'x'"),
            ("offset:1,", "''"),
            ("offset:,1", "''"),
            ("offset:1.5,2", "'1.5'"),
            ("offset:9223372036854775807,0", "9223372036854775807"),
            ("offset:9223372036854775808,0", "9223372036854775808"),
            ("offset:1", "1 "),
            ("offset:1,2,3", "3 "),
        )
    ]
    + [
        (f"{GOOD} --key-lengths {x}", ("--key-lengths", says))
        for x, says in (
            ("8,7", "8 is outside 0..7 (nk) for batch 0"),
            ("7,9", "9 is outside 0..7 (nk) for batch 1"),
            ("-1,7", "-1 is outside 0..7 (nk) for batch 0"),
            ("7", "b"),
            ("7,7,7", "b"),
            ("7;7", ""),
            ("7,,7", ""),
            ("7,99999999999999999999", "99999999999999999999"),
        )
    ]
    + [
        (GOOD + " --layout bhdl", ("--layout", "bhdl")),
        (GOOD + " --out-dtype f16", ("--out-dtype", "f16")),
        (GOOD + " --out-dtype f64", ("--out-dtype", "f64")),
        (GOOD + " --dtype f16", ("--dtype", "f16")),
        (GOOD + " --isa sse9", ("isa", "sse9")),
        (GOOD + " --isa REF", ("isa", "REF")),
        (GOOD + " --alibi none.npy", ("--alibi", "none.npy")),
        # files
        (GOOD.replace("q.npy", "absent.npy"), ("absent.npy", "No such file")),
        (GOOD.replace("k.npy", "."), "."),
        (GOOD.replace("v.npy", "v.txt"), "v.txt"),
        (GOOD.replace("v.npy", "m.safetensors:absent"), ("m.safetensors", "absent")),
        (GOOD.replace("v.npy", "m.safetensors"), "m.safetensors"),
        (GOOD.replace("v.npy", "m.safetensors:"), "m.safetensors"),
        (GOOD.replace("v.npy", "absent.safetensors:x"), "absent.safetensors"),
        # shapes
        (GOOD.replace("k.npy", "k_d.npy"), ("k_d.npy", "(2, 2, 7, 9)", "q.npy")),
        (GOOD.replace("k.npy", "k_b.npy"), ("k_b.npy", "(3, 2, 7, 8)", "q.npy")),
        (GOOD.replace("k.npy", "k_h.npy"), ("k_h.npy", "(2, 3, 7, 8)", "hq", "hkv")),
        (GOOD.replace("v.npy", "v_n.npy"), ("v_n.npy", "(2, 2, 6, 6)", "k.npy")),
        (GOOD.replace("v.npy", "v_h.npy"), ("v_h.npy", "(2, 4, 7, 6)", "k.npy")),
        (GOOD.replace("v.npy", "v_b.npy"), ("v_b.npy", "(1, 2, 7, 6)")),
        (GOOD.replace("k.npy", "three.npy"), ("three.npy", "q.npy")),
        (GOOD.replace("q.npy", "one.npy"), ("one.npy", "(5,)")),
        (GOOD.replace("q.npy", "five.npy"), ("five.npy", "(1, 1, 1, 1, 1)")),
        (GOOD.replace("k.npy", "k_none.npy"), ("k_none.npy", "hkv")),
        # dtypes
        (GOOD.replace("v.npy", "v_f64.npy"), ("v_f64.npy", "f64", "f32", "q.npy")),
        (GOOD.replace("v.npy", "v_int.npy"), "v_int.npy"),
        (GOOD.replace("v.npy", "v_bool.npy"), "v_bool.npy"),
        (GOOD.replace("v.npy", "v_c8.npy"), "v_c8.npy"),
        (GOOD + " --mask bias.npy", ("--mask", "bias.npy", "bool", "f32")),
        (GOOD + " --mask mask_u8.npy", "mask_u8.npy"),
        (GOOD + " --bias mask.npy", ("--bias", "mask.npy", "bool")),
        (GOOD + " --alibi mask.npy", ("--alibi", "mask.npy")),
        # options that must match (b, hq, nq, nk), and hq
        (GOOD + " --mask mask_6.npy", ("--mask", "mask_6.npy", "(6,)", "(2, 4, 5, 7)")),
        (GOOD + " --mask mask_5d.npy", ("--mask", "mask_5d.npy", "(1, 2, 4, 5, 7)")),
        (GOOD + " --bias bias_x.npy", ("--bias", "bias_x.npy", "(2, 5, 7)")),
        (GOOD + " --bias bias_0.npy", ("--bias", "bias_0.npy", "(0,)")),
        (GOOD + " --alibi slopes_2.npy", ("--alibi", "slopes_2.npy", "(2,)", "hq")),
        (GOOD + " --sinks slopes_2.npy", ("--sinks", "slopes_2.npy", "(2,)", "hq")),
        (GOOD + " --sinks slopes_2d.npy", ("--sinks", "slopes_2d.npy", "(4, 1)")),
        (GOOD + " --alibi slopes_inf.npy", ("alibi[2]", "(-inf)", "finite")),
        (GOOD + " --sinks sinks_nan.npy", ("sinks[3]", "(nan)", "finite")),
        # outputs
        (GOOD + " --lse o.npy", ("--out", "--lse", "o.npy")),
        (GOOD + " --lse ./o.npy", ("--out", "--lse")),
        (GOOD + " --lse w.npy --weights w.npy", ("--lse", "--weights", "w.npy")),
        (GOOD + " --lse k.npy", ("--lse", "--k", "k.npy")),
        (GOOD + " --lse m.safetensors:x --bias m.safetensors:q", ("--lse", "m.safetensors")),
        (GOOD.replace("o.npy", "q.npy"), ("--out", "--q", "q.npy")),
        (GOOD.replace("o.npy", "./link.npy"), ("--out", "--q")),
        (GOOD.replace("o.npy", "o.txt"), "o.txt"),
        (GOOD.replace("o.npy", "o.safetensors"), "o.safetensors"),
        (GOOD.replace("o.npy", "absent/o.npy"), ("absent/o.npy", "No such file")),
        (GOOD.replace("o.npy", "q.npy/o.npy"), ("q.npy/o.npy", "Not a directory")),
        (GOOD.replace("o.npy", "folder.npy"), "folder.npy"),
        (GOOD.replace("o.npy", "/proc/o.npy"), "/proc/o.npy"),
        (GOOD.replace("o.npy", "x" * 300 + ".npy"), "File name too long"),
        (GOOD + " --lse absent/l.npy", "absent/l.npy"),
        (GOOD + " --weights absent/w.npy --lse l.npy", "absent/w.npy"),
        (GOOD + " --lse folder.npy", "folder.npy"),
    ]
)


class Refused(CliTest):
    def setUp(self):
        super().setUp()
        Problem(self)
        f4 = np.float32
        arrays = {
            "k_d": np.zeros((2, 2, 7, 9), f4),
            "k_b": np.zeros((3, 2, 7, 8), f4),
            "k_h": np.zeros((2, 3, 7, 8), f4),
            "k_none": np.zeros((2, 0, 7, 8), f4),
            "v_n": np.zeros((2, 2, 6, 6), f4),
            "v_h": np.zeros((2, 4, 7, 6), f4),
            "v_b": np.zeros((1, 2, 7, 6), f4),
            "three": np.zeros((2, 7, 8), f4),
            "one": np.zeros(5, f4),
            "five": np.zeros((1,) * 5, f4),
            "v_f64": np.zeros((2, 2, 7, 6), "f8"),
            "v_int": np.zeros((2, 2, 7, 6), "i4"),
            "v_bool": np.zeros((2, 2, 7, 6), bool),
            "v_c8": np.zeros((2, 2, 7, 6), "c8"),
            "bias": np.zeros((5, 7), f4),
            "mask": np.ones((5, 7), bool),
            "mask_u8": np.ones((5, 7), "u1"),
            "mask_6": np.ones(6, bool),
            "mask_5d": np.ones((1, 2, 4, 5, 7), bool),
            "bias_x": np.zeros((2, 5, 7), f4),
            "bias_0": np.zeros(0, f4),
            "slopes_2": np.zeros(2, f4),
            "slopes_2d": np.zeros((4, 1), f4),
            "slopes_inf": np.array([0, 0.5, -np.inf, 0], f4),
            "sinks_nan": np.array([0, 0.5, -np.inf, np.nan], f4),
        }
        for name, array in arrays.items():
            self.save(name + ".npy", array)
        harness.write_safetensors(self.path("m.safetensors"), {"q": ("F32", np.zeros((5, 7), f4))})
        os.mkdir(self.path("folder.npy"))
        os.symlink("q.npy", self.path("link.npy"))
        harness.write(self.path("v.txt"), "no tensor\n")

    def test_bad_usage(self):
        for flags, says in BAD_USAGE:
            with self.subTest(flags=flags):
                self.refuse("run", *flags.split(), says=says)

    def test_words_that_a_shell_would_not_split(self):
        good = GOOD.split()
        for flags, says in (
            (["--scale", " 1"], "--scale"),
            (["--scale", "1 "], "--scale"),
            (["--threads", " 2"], "--threads"),
            (["--threads", ""], "--threads"),
            (["--causal", "offset:1, 2"], "--causal"),
            (["--isa", ""], "--isa"),
            (["", "x"], "''"),
            (["--mask", "a\nb.npy"], "a?b.npy"),
        ):
            with self.subTest(flags=flags):
                self.refuse("run", *good, *flags, says=says)

    def test_an_impossible_variable(self):
        self.refuse("run", *GOOD.split(), env={"ATTEND_ISA": "sse9"}, says="sse9")

    def test_a_failed_run_keeps_an_older_output(self):
        self.save("o.npy", np.arange(3))
        self.refuse("run", *GOOD.split(), "--lse", "absent/l.npy")
        self.assertEqual(self.load("o.npy").tolist(), [0, 1, 2])

    def test_no_room_on_the_device(self):
        """A file size limit simulates a full disk; the command must not end by a signal."""
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
        self.refuse("run", *GOOD.split(), preexec_fn=limit, says="o.npy")

    def test_large_weights_need_force(self):
        self.save("q.npy", np.zeros((1, 1, 2**15, 1), "f4"))
        self.save("k.npy", np.zeros((1, 1, 2**13 + 1, 1), "f4"))
        self.save("v.npy", np.zeros((1, 1, 2**13 + 1, 1), "f4"))
        self.refuse("run", *GOOD.split(), "--weights", "w.npy", says=("--weights", "--force"))

    def test_no_command(self):
        done = self.attend()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        first, *lines = done.stderr.splitlines()
        self.assertTrue(first.startswith("attend: no command"), first)
        self.assertEqual({line.split()[0] for line in lines}, set(harness.COMMANDS))

    def test_other_commands(self):
        for args, says in (
            (["rnu"], "'rnu': did you mean 'run'"),
            (["frobnicate"], "frobnicate"),
            (["--frobnicate"], "--frobnicate"),
            (["help", "rnu"], "rnu"),
            (["help", "run", "info"], "info"),
            (["--version", "x"], "'x'"),
        ):
            with self.subTest(args=args):
                self.refuse(*args, says=says)
