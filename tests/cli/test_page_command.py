# SPDX-License-Identifier: MIT
"""`attend page`: writes the built page, or explains how to build it."""

import os
import resource
import shutil
import subprocess

import harness
from harness import CliTest


class Page(CliTest):
    def installed(self):
        """The command as if it were installed in a folder of its own."""
        folder = os.path.join(self.dir, "usr")
        os.makedirs(os.path.join(folder, "bin"), exist_ok=True)
        return folder, shutil.copy(harness.BIN, os.path.join(folder, "bin", "attend"))

    def run_it(self, program, *args):
        return subprocess.run(
            [program, "page", *args], capture_output=True, encoding="utf-8", cwd=self.dir, check=False
        )

    def test_without_a_page(self):
        _, program = self.installed()
        out = os.path.join(self.dir, "page.html")
        done = self.run_it(program, "-o", out)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("make page", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertFalse(os.path.exists(out))

    def test_the_page_that_was_installed(self):
        folder, program = self.installed()
        share = os.path.join(folder, "share", "attend")
        os.makedirs(share)
        page = b"<!DOCTYPE html>\n" + bytes(range(256)) * 300
        harness.write(os.path.join(share, "attend.html"), page)
        for args, name in ((), "attend.html"), (("-o", "other.html"), "other.html"):
            done = self.run_it(program, *args)
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual(done.stdout, f"the page: {name}\n")
            self.assertEqual(harness.read_bytes(os.path.join(self.dir, name)), page)
        done = self.run_it(program, "-o", os.path.join(self.dir, "no", "where.html"))
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("-o", done.stderr)

    def test_a_file_that_may_not_grow(self):
        folder, program = self.installed()
        share = os.path.join(folder, "share", "attend")
        os.makedirs(share)
        harness.write(os.path.join(share, "attend.html"), bytes(1 << 20))
        before = sorted(os.listdir(self.dir))
        done = subprocess.run(
            [program, "page", "-o", "large.html"],
            capture_output=True,
            encoding="utf-8",
            cwd=self.dir,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
        )
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("large.html", done.stderr)
        self.assertEqual(sorted(os.listdir(self.dir)), before)

    def test_usage(self):
        self.assertIn("make page", self.succeed("page", "--help"))
        self.refuse("page", "--nothing", says="--nothing")
