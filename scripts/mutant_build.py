# SPDX-License-Identifier: MIT
"""Builds and tests for mutate.py: the build of a stage in a worker's copy of the tree."""
import collections
import contextlib
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time

from mutants import locate

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORK = ROOT / "build/mutants"

STAGES = ["release", "python", "asan", "tsan"]
# Patterns of test names: tests that a stage skips, and the only tests of a stage.
REPEATS = r"test_(seeds|sheets|sheets_worlds|teaching|experiments|noise_experiments)$|_mpich$"
LEFT_OUT = {
    "release": "_mpich$",
    "asan": REPEATS,
    "python": "test_(fuzz|models|onnx|types|watch_models|wheel)$",
}
ONLY = {"tsan": r"test_(threads|threads_split|split|pool)$"}
# Groups that a stage leaves out: scripts check the tree, tests of the page need another
# build.
NOT_IN = {
    "release": {"script", "page", "python"},
    "asan": {"script", "cli", "page", "python"},
    "tsan": {"script", "cli", "page", "python"},
}
SLOW = {"mpi", "cuda"}  # run last
GPU = {"emulated", "cuda"}  # groups with GPU kernels, run only for mutants of GPU kernels
ENVIRONMENT = {
    "ATTEND_TEST_QUICK": "1",
    "ATTEND_TEST_SCALE": "0.1",
    "OMP_NUM_THREADS": "2",
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=0",
    "LSAN_OPTIONS": f"suppressions={ROOT}/tests/mpi/leaks.supp:print_suppressions=0",
}
# Tests that never find a mutant of a folder: commands of the engine, ranks.  Then tests
# that rarely find one, which run last.
RANKS = r"cli_test_mpirun$|_mpi_"
ENGINE = r"cli_test_(bench|build|check|compare|info|malformed|refused|run|stats\w*)$|" + RANKS
NEVER = {"theory": ENGINE, "lab": ENGINE}
UNLIKELY = {"core": RANKS, "cpu": RANKS}
COUNT = re.compile(r"\d+ passed, (\d+) failed, \d+ skipped$")


def digest(path):
    return hashlib.sha1(path.read_bytes()).hexdigest() if path.exists() else ""


def end_session(leader):
    """Ends what a test has left running, whichever process group it is in."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[3]) == leader:
                os.kill(int(stat.parent.name), signal.SIGKILL)
        except OSError:
            pass


def limits():
    """Limits of memory and file size for a mutant that allocates or writes without end."""
    for kind, gigabytes in (resource.RLIMIT_DATA, 6), (resource.RLIMIT_FSIZE, 16), (resource.RLIMIT_CORE, 0):
        resource.setrlimit(kind, (gigabytes << 30, resource.getrlimit(kind)[1]))


def reaches(test, folder):
    """Whether the mutants of a folder can change what a test runs."""
    if folder == "cuda" or test["group"] in GPU:
        return folder == "cuda" and test["group"] in GPU
    if folder == "mpi":
        return bool(re.search(RANKS, test["name"]))
    return not re.search(NEVER.get(folder, "$^"), test["name"])


class Build:
    """A worker's copy of folder/tree.tar, its build of a stage with a number of jobs, and the tests."""

    def __init__(self, stage, folder, number, jobs=1, python="", budget=0):
        self.budget = budget if stage == "release" else 0
        self.stage, self.python = stage, python
        worker = folder / f"worker-{number}"
        self.tree, self.directory, self.planted = worker / "tree", worker / stage, worker / "planted.json"
        self.temporary = pathlib.Path(f"/tmp/mutate-{os.getpid()}-{number}")  # some tests print it
        self.environment = {**os.environ, "TMPDIR": str(self.temporary)}
        if stage in ("asan", "tsan"):
            self.environment.update(ENVIRONMENT)
        if shutil.which("ccache"):  # workers compile the same, each in folders of its own
            self.environment.update(
                CMAKE_C_COMPILER_LAUNCHER="ccache",
                CMAKE_CXX_COMPILER_LAUNCHER="ccache",
                CCACHE_DIR=os.environ.get("CCACHE_DIR", str(WORK / "ccache")),
                CCACHE_BASEDIR=str(worker),
                CCACHE_NOHASHDIR="1",
            )
        self.unpack(folder / "tree.tar")
        self.uproot()
        self.hits, self.seconds = collections.Counter(), {}
        self.configure()
        if stage != "python":
            self.build(self.targets(), jobs)  # ctest lists only programs that exist
        self.read_tests()
        self.build({u for t in self.tests for u in t["uses"]}, jobs)
        if stage == "python":
            self.link_package()
        for test in self.tests:
            test["uses"] |= {o for u in test["uses"] for o in self.loaded(u)}
        self.objects = collections.defaultdict(set)
        for block in self.ninja(["-t", "deps"]).stdout.strip().split("\n\n"):
            out, *inputs = block.split("\n")
            for path in inputs:
                self.objects[os.path.normpath(self.directory / path.strip())].add(out.split(":")[0])
        files = {o for some in self.objects.values() for o in some}
        files.update(u for t in self.tests for u in t["uses"])
        self.pristine = {name: digest(self.directory / name) for name in files}
        self.size = {name: (self.directory / name).stat().st_size for name in files}

    def unpack(self, archive):
        if not self.tree.exists():
            fresh = self.tree.with_name("fresh")
            shutil.rmtree(fresh, ignore_errors=True)
            fresh.mkdir(parents=True)
            subprocess.run(["tar", "x", "-C", fresh, "-f", archive], check=True)
            fresh.rename(self.tree)

    def command(self, *command):
        return subprocess.run(
            [str(c) for c in command],
            cwd=self.tree,
            env=self.environment,
            capture_output=True,
            text=True,
            errors="replace",
        )

    def ninja(self, targets, jobs=1):
        return self.command("ninja", f"-j{jobs}", "-C", self.directory, *targets)

    def build(self, targets, jobs=1):
        done = self.ninja(targets, jobs)
        if done.returncode != 0:
            raise RuntimeError(done.stdout + done.stderr)

    def targets(self):
        """What the tests need, where the build says so, or else everything."""
        listed = self.directory / "test_list.txt"
        if self.stage == "tsan":
            return ["test_threads", "test_split", "test_pool"]
        if not listed.exists():
            return []
        wanted = [line.split() for line in listed.read_text().splitlines()]
        return sorted(
            {
                target
                for name, group, tier, *targets in wanted
                if group not in NOT_IN[self.stage]
                for target in ":".join(targets).split(":")
                if target
            }
        )

    def configure(self):
        nvcc = self.tree.parent / "nvcc"  # the emulator does not use the output of nvcc
        nvcc.write_text(
            '#!/bin/sh\nwhile [ $# -gt 0 ]; do [ "$1" = -o ] && echo kernels >"$2"; shift; done\n'
        )
        nvcc.chmod(0o755)
        flags = pathlib.Path("/proc/cpuinfo").read_text()
        sets = [
            name
            for name, flag in [
                ("avx2", "avx2"),
                ("avx512", "avx512f"),
                ("avx512bf16", "avx512_bf16"),
                ("amx", "amx_bf16"),
            ]
            if flag in flags
        ]
        done = self.command(
            "cmake",
            "--preset",
            "release" if self.stage == "python" else self.stage,
            "-S",
            self.tree,
            "-B",
            self.directory,
            "-G",
            "Ninja",
            "-DATTEND_TESTS=ON",
            "-DATTEND_WERROR=OFF",
            f"-DNVCC={nvcc}",
            "-DATTEND_CUDA=" + ("ON" if self.stage == "release" else "OFF"),
            "-DATTEND_PYTHON=" + ("ON" if self.stage == "python" else "OFF"),
            "-DATTEND_KERNEL_SETS=" + (";".join(sets) or "scalar"),
            "-DCMAKE_C_FLAGS=-Werror=incompatible-pointer-types -Werror=int-conversion",
        )
        if done.returncode != 0:
            raise RuntimeError(done.stdout + done.stderr)
        rules = self.ninja(["-t", "targets", "all"]).stdout
        self.outputs = set(
            re.findall(r"^(\S+): \w+_(?:EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)_LINKER", rules, re.M)
        )

    def read_tests(self):
        """Tests: name, group, tier, command, folder, environment, what they use of the build, cost."""
        self.tests = []
        if self.stage == "python":
            uses = {o for o in self.outputs if "/tests" not in o and o.endswith((".abi3.so", "_theory.so"))}
            for path in sorted(self.tree.glob("tests/python/test_*.py")):
                self.add_test(
                    f"python_{path.stem}",
                    "python",
                    "test",
                    [self.python, "-B", str(self.tree / "tests/cli/harness.py"), str(path)],
                    self.tree,
                    {
                        "PYTHONPATH": str(self.directory / "package"),
                        "HF_HUB_OFFLINE": "1",
                        "OMP_NUM_THREADS": "1",
                        "ATTEND_BIN": str(self.directory / "attend"),
                        "PATH": f"{os.path.dirname(self.python)}:{os.environ['PATH']}",
                    },
                    uses,
                )
            return
        shown = json.loads(self.command("ctest", "--test-dir", self.directory, "--show-only=json-v1").stdout)
        for entry in shown["tests"]:
            of = {p["name"]: p["value"] for p in entry.get("properties", [])}
            tier = "all" if "all" in of["LABELS"] or self.stage != "release" else "test"
            (group,) = set(of["LABELS"]) - {"test", "all"}
            command = entry.get("command")
            if (
                command
                and "DEPENDS" not in of
                and group not in NOT_IN[self.stage]
                and not any("/house/" in word for word in command)
            ):
                self.add_test(
                    entry["name"],
                    group,
                    tier,
                    command,
                    of.get("WORKING_DIRECTORY", self.directory),
                    dict(e.split("=", 1) for e in of.get("ENVIRONMENT", [])),
                    set(),
                    of.get("COST", 0),
                )

    def add_test(self, name, group, tier, command, folder, environment, uses, cost=0):
        if not re.search(ONLY.get(self.stage, ""), name) or re.search(LEFT_OUT.get(self.stage, "$^"), name):
            return
        words = " ".join([*command, *environment.values()])
        for output in self.outputs:
            path = self.directory / output
            if (
                re.search(re.escape(str(path)) + r"(?![\w/.-])", words)
                or ".so" in output
                and (
                    str(path.parent) == environment.get("LD_LIBRARY_PATH")
                    or name.startswith("cli_")
                    and path.parent == self.directory
                )
            ):
                uses.add(output)
        self.tests.append(
            {
                "name": name,
                "group": group,
                "tier": tier,
                "command": command,
                "folder": folder,
                "environment": {**self.environment, **environment},
                "uses": set(uses),
                "cost": cost,
            }
        )

    def loaded(self, output):
        """Libraries of this build that a program is linked to."""
        found = re.findall(r"=> (\S+)", self.command("ldd", self.directory / output).stdout)
        names = {os.path.relpath(os.path.realpath(path), self.directory) for path in found}
        return names & self.outputs

    def link_package(self):
        package = self.directory / "package/attend"
        shutil.rmtree(package.parent, ignore_errors=True)
        (package / "_libs").mkdir(parents=True)
        for path in self.tree.glob("python/attend/*"):
            (package / path.name).symlink_to(path)
        self.command(self.python, self.tree / "scripts/theory_bindings.py", package / "theory.py")
        for output in {u for t in self.tests for u in t["uses"] if u.endswith(".so")}:
            name = os.path.basename(output)
            (package / ("_libs/" + name if name == "_theory.so" else name)).symlink_to(
                self.directory / output
            )

    def measure(self, name):
        """The seconds of a test without a mutant, None where it fails, and how it ended.  With a
        budget those of a long test are a lower limit: mutants are left open before it."""
        (test,) = (t for t in self.tests if t["name"] == name)
        self.build(test["uses"])
        start = time.time()
        why, said = self.run(test, 4 * self.budget or 1800)
        failed = why and not (why == "time" and self.budget)
        return None if failed else round(time.time() - start, 2), f"{why} {said}".strip()

    def run(self, test, limit):
        """("", its last line) if the test passes, else (how it ended, its first line of a failure)."""
        shutil.rmtree(self.temporary, ignore_errors=True)
        self.temporary.mkdir(parents=True)
        program = subprocess.Popen(
            test["command"],
            cwd=test["folder"],
            env=test["environment"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=limits,
        )
        tail = subprocess.Popen(["tail", "-c", "3000"], stdin=program.stdout, stdout=subprocess.PIPE)
        program.stdout.close()
        why = ""
        try:
            status = program.wait(limit)
        except subprocess.TimeoutExpired:
            why, status = "time", 0
        finally:
            end_session(program.pid)
        program.wait()
        output = tail.communicate()[0].decode(errors="replace").strip()
        count = COUNT.search(output)
        if status:
            why = "crash" if status < 0 or status > 128 else "failed"
        elif not why and not test["name"].startswith("example") and (not count or int(count[1])):
            why = "failed"
        said = re.findall(r"^.*FAIL.*$|^.*ERROR: .*$", output, re.M) if why else []
        return why, (said + output.split("\n")[-1:])[0][:160]

    def uproot(self):
        """Takes out the mutant that is planted, or was when a run was killed."""
        if self.planted.exists():
            path, original = json.loads(self.planted.read_text())
            pathlib.Path(path).write_text(original)
            self.planted.unlink()

    def order(self, mutant):
        def rank(test):
            hits = self.hits[test["name"], mutant["folder"]] + 4 * self.hits[test["name"], mutant["file"]]
            named = set(re.split(r"[/_.]", mutant["file"])) & set(test["name"].split("_"))
            unlikely = re.search(UNLIKELY.get(mutant["folder"], "$^"), test["name"])
            seconds = self.seconds[test["name"]]
            return test["tier"] != "test", -(0.01 if unlikely else 0.5 + len(named) + hits) / (seconds + 0.5)

        return sorted(
            (
                t
                for t in self.tests
                if self.seconds.get(t["name"]) is not None
                and reaches(t, mutant["folder"])
                and t["name"] not in mutant.get("passed", [])
            ),
            key=rank,
        )

    def learn(self, seconds, records):
        """Sets the data by which tests are ordered: seconds, and mutants found."""
        self.seconds, self.hits = seconds, collections.Counter()
        for record in records:
            if record["outcome"] == "found":
                self.hits[record["found_by"], record["folder"]] += 1
                self.hits[record["found_by"], record["file"]] += 1

    def changed(self, names):
        return any(digest(self.directory / name) != self.pristine[name] for name in names)

    @contextlib.contextmanager
    def plant(self, at, mutant):
        path = self.tree / mutant["file"]
        original = path.read_text()
        lines = original.split("\n")
        lines[at] = mutant["after"]
        self.planted.write_text(json.dumps([str(path), original]))
        path.write_text("\n".join(lines))
        try:
            yield self.objects[str(path)]
        finally:
            self.uproot()

    def compiles(self, mutant):
        """Whether a mutant compiles, and changes an object; the small ones are tried first."""
        with self.plant(mutant["line"] - 1, mutant) as objects:
            for name in sorted(objects, key=self.size.get):
                if self.ninja([name]).returncode != 0:
                    return False
                if self.changed([name]):
                    return True
        return False

    def judge(self, mutant):
        """Plants a mutant and runs the tests; None: it does not compile, or changes nothing."""
        place = locate(self.tree, mutant)
        if place is None:
            return {"outcome": "gone"}
        mutant, at = {**mutant, "file": place[0]}, place[1]
        start = time.time()
        with self.plant(at, mutant) as objects:
            if not objects or self.ninja(objects).returncode != 0 or not self.changed(objects):
                return None
            outcome = self.try_tests(self.order(mutant))
            return outcome and {**outcome, "stage": self.stage, "seconds": round(time.time() - start, 1)}

    def try_tests(self, tests):
        """Ends as open before a test that would take it beyond the budget of a mutant, unless it is the first."""
        size, passed, spent = 4, [], 0
        while tests:
            batch, tests, size = tests[:size], tests[size:], size * 3
            if self.ninja({u for t in batch for u in t["uses"]}).returncode != 0:
                return None
            for test in batch:
                if self.changed(test["uses"]):
                    if passed and self.budget and spent + self.seconds[test["name"]] > self.budget:
                        return {"outcome": "open", "passed": passed}
                    passed.append(test["name"])
                    spent += self.seconds[test["name"]]
                    limit = max(60, 5 * self.seconds[test["name"]])
                    why, said = self.run(test, limit)
                    if why not in ("", "time") and test["group"] == "mpi":  # a retry
                        why, said = self.run(test, limit)
                    if why:
                        return {
                            "outcome": "found",
                            "passed": [],
                            "found_by": test["name"],
                            "how": why,
                            "said": said,
                            "group": test["group"],
                            "tier": test["tier"],
                        }
        return {"outcome": "survived"}
