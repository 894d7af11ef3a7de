# SPDX-License-Identifier: MIT
"""The wheel: its tag, contents and needs; `pip install .` into an empty environment."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

from setting import ROOT, run_cases

import attend


def header_version():
    with open(os.path.join(ROOT, "include", "attend", "attend.h"), encoding="utf-8") as file:
        return ".".join(re.findall(r"#define ATTEND_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", file.read()))


def run(*command, **keywords):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", **keywords)


def readme_example():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        (block,) = re.findall(r"^```python\n(.*?)^```$", file.read(), re.M | re.S)
    return block


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        found = glob.glob(os.path.join(sys.prefix, "wheels", "attend-*.whl"))
        if len(found) != 1:
            raise unittest.SkipTest("no wheel in this environment: tests/python/environment.sh makes one")
        cls.path = found[0]
        with zipfile.ZipFile(cls.path) as archive:
            cls.names = archive.namelist()
            cls.read = {name: archive.read(name) for name in cls.names}

    def test_one_version(self):
        self.assertEqual(attend.__version__, header_version())
        self.assertIn(f"attend-{header_version()}-", os.path.basename(self.path))

    def test_tag(self):
        self.assertRegex(os.path.basename(self.path), r"-cp311-abi3-\w+\.whl$")

    def test_contents(self):
        """Every file of the package, and libraries besides."""
        package = os.path.join(ROOT, "python", "attend")
        wanted = {f"attend/{x}" for x in os.listdir(package) if os.path.isfile(os.path.join(package, x)) and not x.endswith(".so")}
        have = {x for x in self.names if x.startswith("attend/")}
        self.assertEqual({x for x in have if not x.endswith(".so")}, wanted)
        libraries = {"attend/_core.abi3.so", "attend/_lab.abi3.so", "attend/_libs/_theory.so"}
        self.assertEqual({x for x in have if x.endswith(".so")}, libraries)
        self.assertTrue(any(x.endswith("LICENSE") for x in self.names))

    def test_metadata(self):
        (name,) = [x for x in self.names if x.endswith("METADATA")]
        text = self.read[name].decode()
        self.assertIn("\nRequires-Python: >=3.11\n", text)
        plain = [x for x in re.findall(r"^Requires-Dist: (.*)$", text, re.M) if "extra ==" not in x]
        self.assertEqual([x.split(">")[0] for x in plain], ["numpy"])

    def symbols(self, *command):
        """What a command says of each library of the wheel: (name, text)."""
        for name in self.names:
            if name.endswith(".so"):
                with tempfile.NamedTemporaryFile(suffix=".so") as file:
                    file.write(self.read[name])
                    file.flush()
                    yield name, run(*command, file.name).stdout

    def test_needs(self):
        """The C library alone: no OpenBLAS, no jansson, no libpython."""
        for name, text in self.symbols("objdump", "-p"):
            needed = re.findall(r"NEEDED +(\S+)", text)
            foreign = [x for x in needed if not re.match(r"lib(c|m|pthread|attend\w*)\.so|ld-linux", x)]
            self.assertEqual(foreign, [], name)

    def test_exports(self):
        for name, text in self.symbols("nm", "-D", "--defined-only"):
            exported = [line.split()[-1] for line in text.splitlines()]
            self.assertEqual([x for x in exported if not re.match("attend_|PyInit__", x)], [], name)

    def test_limited_api(self):
        """Only functions of the stable interface: of those with an underscore, a few."""
        for name, text in self.symbols("nm", "-D"):
            used = re.findall(r" U (_?Py\w+)", text)
            self.assertTrue(len(used) > 10 or ".abi3." not in name, name)
            self.assertEqual([x for x in used if x.startswith("_Py") and not re.search("_SizeT$|Struct$|_Dealloc$", x)], [], name)


class Import(unittest.TestCase):
    def test_what_is_imported(self):
        code = "import sys, attend; print([x for x in ('numpy', 'torch', 'transformers', 'pandas', 'matplotlib') if x in sys.modules])"
        self.assertEqual(run(sys.executable, "-c", code, cwd="/").stdout.strip(), "[]")

    def test_time(self):
        """A figure, the least of ten, not a condition."""
        code = "import time; t = time.perf_counter(); import attend; print(time.perf_counter() - t)"
        times = [float(run(sys.executable, "-c", code, cwd="/").stdout) for _ in range(10)]
        print(f"import attend: {1000 * min(times):.1f} ms")

    def test_not_numpy(self):
        """Where NumPy is missing, the error says so."""
        code = "import sys; sys.modules['numpy'] = None\nimport attend\ntry: attend.stats(memoryview(b'').cast('B', [0, 0]), 1)\nexcept (ImportError, TypeError) as e: print('fine')"
        self.assertEqual(run(sys.executable, "-c", code, cwd="/").stdout.strip(), "fine")


class Install(unittest.TestCase):
    def test_empty_environment(self):
        """pip install . and the README's example, with nothing but NumPy."""
        done = run(sys.executable, "-m", "pip", "index", "--retries", "0", "versions", "numpy")
        if done.returncode:
            self.skipTest(f"no package index answers: {done.stdout.splitlines()[-1]}")
        folder = tempfile.mkdtemp(prefix="attend-venv-")
        self.addCleanup(shutil.rmtree, folder)
        python = os.path.join(folder, "bin", "python")
        done = run(sys.executable, "-m", "venv", folder)
        self.assertEqual(done.returncode, 0, done.stdout)
        done = run(python, "-m", "pip", "install", "--retries", "2", ROOT, cwd="/")
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        done = run(python, "-c", readme_example(), cwd=folder)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("(1, 8, 128, 64)", done.stdout)
        done = run(python, "-m", "pip", "list", "--format", "freeze", cwd=folder)
        names = {line.split("==")[0] for line in done.stdout.splitlines() if "==" in line}
        self.assertEqual(names - {"pip", "setuptools", "wheel"}, {"attend", "numpy"})


if __name__ == "__main__":
    run_cases()
