# SPDX-License-Identifier: MIT
"""scripts/build.sh, on a CMake that only pretends: its one line, and its log."""

import os
import subprocess

import harness
from harness import CliTest

SCRIPT = os.path.join(os.path.dirname(__file__), "..", "..", "scripts", "build.sh")

CMAKE = """#!/bin/sh
[ "$1" = --preset ] && { echo "configured with $*"; exit 0; }
echo "[ 12%] Building C object a.o"
echo "a.c:1: error: no luck" >&2
echo "[100%] Built target $*"
exit ${FAKE_STATUS:-0}
"""


class Build(CliTest):
    def setUp(self):
        super().setUp()
        with open(self.path("cmake"), "w", encoding="utf-8") as file:
            file.write(CMAKE)
        os.chmod(self.path("cmake"), 0o755)

    def build(self, status=0, **kwargs):
        env = {**os.environ, "FAKE_STATUS": str(status), "JOBS": "3"}
        env["PATH"] = self.dir + os.pathsep + env["PATH"]
        command = ["sh", os.path.abspath(SCRIPT), "release", "one two", "-DX=1"]
        return subprocess.run(command, cwd=self.dir, env=env, text=True, **kwargs)

    def log(self):
        with open(self.path("build/release.log"), encoding="utf-8") as file:
            return file.read()

    def test_elsewhere_one_line(self):
        done = self.build(capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (0, "building release\n"))
        self.assertEqual(done.stderr, "")
        for said in "-DX=1", "--parallel 3 --target one two", "no luck":
            self.assertIn(said, self.log())

    def test_a_failure_shows_what_the_compiler_said(self):
        done = self.build(status=2, capture_output=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("a.c:1: error: no luck\n", done.stdout)
        self.assertTrue(done.stdout.endswith("FAILED: the release build\n"))

    def on_terminal(self, status):
        terminal, end = os.openpty()
        done = self.build(status=status, stdout=end, stderr=end)
        os.close(end)
        seen = b""
        try:
            while piece := os.read(terminal, 4096):
                seen += piece
        except OSError:
            pass
        os.close(terminal)
        return done.returncode, seen.decode()

    def test_on_a_terminal_a_share_that_is_wiped_away(self):
        status, seen = self.on_terminal(0)
        self.assertEqual(status, 0)
        for said in "building release: 12 %", "building release: 100 %":
            self.assertIn(said, seen)
        self.assertNotIn("\n", seen)
        self.assertTrue(seen.endswith("\r\x1b[K"), seen)
        self.assertIn("no luck", self.log())

    def test_on_a_terminal_a_failure(self):
        status, seen = self.on_terminal(2)
        self.assertEqual(status, 1)
        self.assertIn("a.c:1: error: no luck", seen)
        self.assertIn("FAILED: the release build", seen)


if __name__ == "__main__":
    harness.main()
