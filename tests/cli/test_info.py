# SPDX-License-Identifier: MIT
"""`attend info`, help and version."""

import os
import re
import subprocess

import harness
from harness import CliTest

NAMES = [*("amx", "avx512bf16", "avx512", "avx2"), *("neonbf16", "neon", "simd128", "scalar", "ref")]


class Info(CliTest):
    def test_json(self):
        text = self.succeed("info", "--json")
        self.assertEqual(text.count("\n"), 1)
        said = harness.info()
        self.assertRegex(said["version"], r"^\d+\.\d+\.\d+$")
        names = [s["name"] for s in said["kernel_sets"]]
        self.assertEqual(names[-2:], ["scalar", "ref"])
        self.assertEqual([n for n in NAMES if n in names], [n for n in names if n in NAMES])
        features = set(said["cpu_features"])
        for kernel_set in said["kernel_sets"]:
            self.assertEqual(kernel_set["runs"], set(kernel_set["needs"]) <= features)
        first = next(s["name"] for s in said["kernel_sets"] if s["runs"])
        self.assertEqual((said["isa"], said["isa_reason"]), (first, "best that runs here"))
        # A quota may reduce the number.
        self.assertIn(said["threads"], range(1, len(os.sched_getaffinity(0)) + 1))

    def test_features_are_those_that_the_system_names(self):
        flags = re.search(r"^(?:flags|Features)\s*: (.*)$", harness.read("/proc/cpuinfo"), re.M)[1].split()
        if "fma" in flags:
            self.assertEqual({"avx2", "bmi2"} <= set(flags), self.runs("avx2"))
            self.assertEqual(self.runs("avx2") and "avx512bw" in flags, self.runs("avx512"))
            wide = self.runs("avx512") and "avx512_bf16" in flags
            self.assertEqual(wide, self.runs("avx512bf16"))
        if "asimd" in flags:
            self.assertTrue(self.runs("neon"))

    @staticmethod
    def runs(name):
        return name in harness.runnable_sets()

    def test_forced(self):
        for name in harness.runnable_sets():
            said = harness.info("--isa", name)
            self.assertEqual((said["isa"], said["isa_reason"]), (name, "forced by --isa"))
            said = harness.info(env={"ATTEND_ISA": name})
            self.assertEqual((said["isa"], said["isa_reason"]), (name, "forced by ATTEND_ISA"))
        said = harness.info("--isa", "ref", env={"ATTEND_ISA": "scalar"})
        self.assertEqual((said["isa"], said["isa_reason"]), ("ref", "forced by --isa"))
        said = harness.info("--threads", "3", env={"OMP_NUM_THREADS": "5"})
        self.assertEqual((said["threads"], said["threads_reason"]), (3, "set by --threads"))
        said = harness.info(env={"OMP_NUM_THREADS": "5"})
        self.assertEqual((said["threads"], said["threads_reason"]), (5, "set by OMP_NUM_THREADS"))

    def test_sets_that_cannot_run(self):
        for kernel_set in harness.info()["kernel_sets"]:
            if not kernel_set["runs"]:
                self.refuse("info", "--isa", kernel_set["name"], says=kernel_set["needs"])

    def test_text(self):
        text = self.succeed("info")
        said = harness.info()
        self.assertIn(f"attend {said['version']}\n", text)
        self.assertRegex(text, rf"chosen +{said['isa']}: best that runs here\n")
        self.assertRegex(text, rf"threads +{said['threads']}: ")
        for kernel_set in said["kernel_sets"]:
            word = "runs" if kernel_set["runs"] else "cannot"
            self.assertRegex(text, rf"\b{kernel_set['name']} +{word}\b")

    def test_refused(self):
        for args, says in (
            (["--jsn"], "did you mean '--json'"),
            (["x"], "'x'"),
            (["--isa", "sse9"], "sse9"),
            (["--isa"], "--isa needs a value"),
            (["--threads", "0"], "--threads"),
            (["--json", "--json"], "twice"),
            (["--json=1"], "--json"),
        ):
            self.refuse("info", *args, says=says)
        self.refuse("info", env={"ATTEND_ISA": "sse9"}, says=("ATTEND_ISA", "sse9"))

    def test_full_standard_output(self):
        for args in "info", "info --json", "--help", "run --help", "--version":
            self.say_to_full(*args.split())


class Help(CliTest):
    def test_help(self):
        text = self.succeed("--help")
        for command in harness.COMMANDS:
            self.assertIn(f"  {command} ", text)
        for args in ["help"], ["-h"], ["help", "help"]:
            self.assertEqual(self.succeed(*args), text)

    def test_help_of_each_command(self):
        for command in harness.COMMANDS:
            text = self.succeed(command, "--help")
            self.assertTrue(text.startswith(f"usage: attend {command}"), text)
            self.assertIn("example", text)
            self.assertEqual(self.succeed("help", command), text)
            self.assertLessEqual(max(map(len, text.splitlines())), 90)

    def test_help_has_every_flag(self):
        """Options in the tables of the parser, from which completion is generated."""
        experiments = self.succeed("help", "--words", "lab").split()
        self.assertEqual(self.succeed("help", "--words").split(), list(harness.COMMANDS))
        self.assertGreater(len(experiments), 15)
        for words in [[c] for c in harness.COMMANDS if c != "lab"] + [["lab", e] for e in experiments]:
            text = self.succeed(*words, "--help")
            flags = [line.split("\t")[0] for line in self.succeed("help", "--words", *words).splitlines()]
            self.assertIn("--help", flags)
            for flag in flags:
                self.assertRegex(text, rf"{flag}(?![\w-])")

    def test_manual(self):
        """Every option in a command's help has an item in its section of attend(1)."""
        done = subprocess.run(
            [harness.BIN, "help", "--manual"],
            input="@commands\n",
            stdout=subprocess.PIPE,
            encoding="utf-8",
            check=True,
        )
        sections = dict(part.split("\n", 1) for part in done.stdout.split(".Sh ")[1:])
        self.assertEqual(list(sections), [command.upper() for command in harness.COMMANDS])
        for command in harness.COMMANDS:
            options = set(re.findall(r"^  (?:-\w, )?--([\w-]+)", self.succeed(command, "--help"), re.M)) - {
                "help"
            }
            for option in options:
                self.assertRegex(sections[command.upper()], rf"(?m)^(\.It.* Fl -|  --){option}\b")

    def test_version(self):
        self.assertEqual(self.succeed("--version"), f"attend {harness.info()['version']}\n")
