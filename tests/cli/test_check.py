# SPDX-License-Identifier: MIT
"""`attend check`: every kernel set of the machine, every test, within the bound."""

import re
import resource

import harness
from harness import CliTest

# test_laws tests the laws; here the output of the command is tested.
EFFORT = ("--effort", 1 if harness.SCALE >= harness.WHOLE else 0.05)


class Check(CliTest):
    @staticmethod
    def computed():
        """CPU seconds of the commands so far, on all their threads."""
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def test_every_set_is_within_its_bound(self):
        before = self.computed()
        text = self.succeed("check", *EFFORT)
        seconds = self.computed() - before
        rows = re.findall(r"(?m)^([a-z0-9]+)(/split)? +(\S+) +(\d+) +(\S+) +(ok|FAILED)$", text)
        for row in rows:
            self.assertEqual(row[5], "ok", row)
            self.assertLessEqual(float(row[4]), 1, row)  # of three digits
            self.assertGreater(int(row[3]), 0, row)
        tests = {row[2] for row in rows}
        self.assertGreaterEqual(len(tests), 16)
        for name in harness.runnable_sets():
            plain = [r[2] for r in rows if r[0] == name and not r[1]]
            split = [r[2] for r in rows if r[0] == name and r[1]]
            self.assertEqual(sorted(plain), sorted(tests), name)
            self.assertEqual(
                sorted(split), [] if name == "ref" else sorted(tests - {"exp2", "inspect"}), name
            )
        for kernel_set in harness.info()["kernel_sets"]:
            if not kernel_set["runs"]:
                needs = " ".join(kernel_set["needs"])
                self.assertRegex(text, rf"(?m)^{kernel_set['name']} +SKIPPED: .*{needs}$")
        # The stated limit is 20 s on two idle cores.  The CPU time is twice that, and up to twice as much
        # again where other work shares cores and caches.
        self.assertLess(seconds, 80)

    def test_one_set(self):
        rows = self.objects("check", "--json", "--isa", "ref", *EFFORT)
        self.assertEqual({(r["set"], r["split"]) for r in rows}, {("ref", False)})
        for row in rows:
            self.assertEqual(list(row), ["set", "split", "test", "cases", "worst_over_bound", "ok"])
            self.assertIs(row["ok"], True, row)

    def rows_of_scalar(self, effort):
        env = {"ATTEND_ISA": "scalar"}
        return self.objects("check", "--json", "--effort", effort, env=env)

    def test_both_runs_of_a_set_as_json(self):
        rows = self.rows_of_scalar(0.05)
        self.assertEqual({(r["set"], r["split"]) for r in rows}, {("scalar", False), ("scalar", True)})
        for row in rows:
            self.assertLess(row["worst_over_bound"], 1, row)
        few = {(r["test"], r["split"]): r["cases"] for r in rows}
        more = {(r["test"], r["split"]): r["cases"] for r in self.rows_of_scalar(0.1)}
        self.assertEqual(few.keys(), more.keys())
        self.assertEqual(few["bound", True] * 2, more["bound", True])
        self.assertEqual(few["merge", True], more["merge", True])  # the core

    def test_refused(self):
        self.refuse("check", "--isa", "sse9", says=("--isa", "sse9"))
        self.refuse("check", env={"ATTEND_ISA": "sse9"}, says=("ATTEND_ISA", "sse9"))
        self.refuse("check", "--threads", "0", says="--threads")
        self.refuse("check", "--seed", "x", says="--seed")
        self.refuse("check", "--effort", "0", says="--effort")
