# SPDX-License-Identifier: MIT
"""`attend check`: every kernel set of the machine, every test, within the bound."""

import json
import resource

import harness
from harness import CliTest


class Check(CliTest):
    @staticmethod
    def computed():
        """Seconds that commands have computed so far, on all their threads."""
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def test_every_set_is_within_its_bound(self):
        before = self.computed()
        lines = self.succeed("check", "--json").splitlines()
        seconds = self.computed() - before
        rows = [json.loads(line) for line in lines]
        for row in rows:
            self.assertEqual(
                list(row),
                ["set", "split", "test", "cases", "worst_over_bound", "ok"],
            )
            self.assertIs(row["ok"], True, row)
            self.assertLess(row["worst_over_bound"], 1, row)
            self.assertGreater(row["cases"], 0, row)
        tests = {row["test"] for row in rows}
        self.assertGreaterEqual(len(tests), 16)
        for name in harness.runnable_sets():
            of_set = [r for r in rows if r["set"] == name]
            plain = [r["test"] for r in of_set if not r["split"]]
            split = [r["test"] for r in of_set if r["split"]]
            self.assertEqual(set(plain), tests, name)
            self.assertEqual(
                set(split), set() if name == "ref" else tests - {"exp2", "second"}, name
            )
            self.assertEqual(len(plain) + len(split), len(of_set), name)
        # The promise is 20 s on two quiet cores.  Time of computing is twice that, and
        # up to twice as much again where other work shares cores and caches.
        self.assertLess(seconds, 80)

    def test_one_set(self):
        for args, env in ((["--isa", "ref"], {}), ([], {"ATTEND_ISA": "ref"})):
            lines = self.succeed("check", "--json", *args, env=env).splitlines()
            rows = [json.loads(line) for line in lines]
            self.assertEqual({(r["set"], r["split"]) for r in rows}, {("ref", False)})

    def test_table(self):
        text = self.succeed("check")
        self.assertRegex(text, r"(?m)^scalar +bound .* ok$")
        self.assertRegex(text, r"(?m)^scalar/split +bound .* ok$")
        self.assertNotIn("ref/split", text)
        for kernel_set in harness.info()["kernel_sets"]:
            if not kernel_set["runs"]:
                needs = " ".join(kernel_set["needs"])
                self.assertRegex(
                    text, rf"(?m)^{kernel_set['name']} +SKIPPED: .*{needs}$"
                )

    def test_refused(self):
        self.refuse("check", "--isa", "sse9", says=("--isa", "sse9"))
        self.refuse("check", env={"ATTEND_ISA": "sse9"}, says=("ATTEND_ISA", "sse9"))
        self.refuse("check", "--threads", "0", says="--threads")
        self.refuse("check", "--seed", "x", says="--seed")


if __name__ == "__main__":
    harness.main()
