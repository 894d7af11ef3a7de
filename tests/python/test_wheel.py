# SPDX-License-Identifier: MIT
"""The wheel, made by `pip wheel .`: its tag, contents and needs; installed into an empty environment."""

import os
import re
import shutil
import sys
import tempfile
import unittest
import zipfile

from setting import ROOT, read, run

import attend


def header_version():
    return ".".join(
        re.findall(
            r"#define ATTEND_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
            read(os.path.join(ROOT, "include", "attend", "attend.h")),
        )
    )


def readme_example():
    (block,) = re.findall(r"^```python\n(.*?)^```$", read(os.path.join(ROOT, "README.md")), re.M | re.S)
    return block


FOLDER = tempfile.mkdtemp(prefix="attend-wheel-")
WHEEL = None


def index_answers():
    """Whether packages can be downloaded, and pip's message if not."""
    done = run(sys.executable, "-m", "pip", "index", "--retries", "0", "versions", "numpy")
    return done.returncode == 0, done.stdout.splitlines()[-1]


def setUpModule():
    """Objects are cached in build/wheel; without an index, packages of this environment build."""
    global WHEEL
    unittest.addModuleCleanup(shutil.rmtree, FOLDER)
    here = [] if index_answers()[0] else ["--no-build-isolation"]
    done = run(sys.executable, "-m", "pip", "wheel", "--no-deps", *here, "--wheel-dir", FOLDER, ROOT, cwd="/")
    if done.returncode:
        raise AssertionError(f"no wheel: {done.stdout[-3000:]}")
    (name,) = os.listdir(FOLDER)
    WHEEL = os.path.join(FOLDER, name)


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = WHEEL
        with zipfile.ZipFile(cls.path) as archive:
            cls.names = archive.namelist()
            cls.read = {name: archive.read(name) for name in cls.names}

    def test_one_version(self):
        self.assertEqual(attend.__version__, header_version())
        self.assertIn(f"attend-{header_version()}-", os.path.basename(self.path))

    def test_tag(self):
        self.assertRegex(os.path.basename(self.path), r"-cp311-abi3-\w+\.whl$")

    def test_contents(self):
        """All files of the package, generated files, and libraries."""
        package = os.path.join(ROOT, "python", "attend")
        wanted = {
            f"attend/{x}"
            for x in os.listdir(package)
            if os.path.isfile(os.path.join(package, x)) and not x.endswith(".so")
        }
        wanted.add("attend/theory.py")
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
        """The output of a command for each library of the wheel: (name, text)."""
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
        """Only functions of the stable interface, and a few with an underscore."""
        for name, text in self.symbols("nm", "-D"):
            used = re.findall(r" U (_?Py\w+)", text)
            self.assertTrue(len(used) > 10 or ".abi3." not in name, name)
            self.assertEqual(
                [x for x in used if x.startswith("_Py") and not re.search("_SizeT$|Struct$|_Dealloc$", x)],
                [],
                name,
            )


class Install(unittest.TestCase):
    def test_empty_environment(self):
        """The wheel and the README's example, with nothing but NumPy."""
        answers, word = index_answers()
        if not answers:
            self.skipTest(f"no package index answers: {word}")
        folder = os.path.join(FOLDER, "empty")
        python = os.path.join(folder, "bin", "python")
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        for command in (
            [sys.executable, "-m", "venv", folder],
            [python, "-m", "pip", "install", "--no-compile", "--retries", "2", WHEEL],
        ):
            done = run(*command, cwd="/", env=clean)
            self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        done = run(python, "-c", readme_example(), cwd=folder, env=clean)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("(1, 8, 128, 64)", done.stdout)
        done = run(python, "-c", "import attend; print(attend.__file__)", cwd="/", env=clean)
        self.assertTrue(done.stdout.startswith(folder), done.stdout)
        done = run(python, "-m", "pip", "list", "--format", "freeze", cwd=folder, env=clean)
        names = {line.split("==")[0] for line in done.stdout.splitlines() if "==" in line}
        self.assertEqual(names - {"pip", "setuptools", "wheel"}, {"attend", "numpy"})
