# SPDX-License-Identifier: MIT
"""The command under mpirun: the numbers of one process, printed once, or nothing.

ATTEND_TEST_MPIS lists the MPIs of the build, as ABI=LAUNCHER separated by commas.
"""

import json
import os
import signal
import subprocess
import time
import unittest

import harness
import numpy as np
from harness import CliTest

MPIS = [m.split("=") for m in os.environ.get("ATTEND_TEST_MPIS", "").split(",") if m]
# Long cases with the same result for every MPI run with one of them.
SOME_MPI = harness.sample(MPIS, 1)
RANKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../mpi/run_ranks.sh")
# A job ends seconds after it has lost a rank; on a busy machine later.
END = 60


def command(mpi, ranks, *words):
    return ["sh", RANKS, *mpi, str(ranks), *map(str, words)]


def launch(*words, env=None):
    return subprocess.run(
        command(*words),
        capture_output=True,
        stdin=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
        env={**harness.ENVIRONMENT, **(env or {})},
        timeout=harness.HANG,
    )


def mpirun(mpi, ranks, *args, env=None):
    return launch(mpi, ranks, harness.BIN, *args, env=env)


def run_script(mpi, script, *args):
    """Two ranks of a shell script, with the command and its arguments as "$@"."""
    return launch(mpi, 2, "sh", "-c", script, "sh", harness.BIN, *args)


@unittest.skipUnless(MPIS, "this build has no MPI")
class UnderMpirun(CliTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.dir)

    def write(self, nq, nk, hq=4, hkv=2, d=16, dtype="f4"):
        rng = np.random.default_rng(3)
        for name, heads, rows in ("q", hq, nq), ("k", hkv, nk), ("v", hkv, nk):
            x = rng.standard_normal((1, heads, rows, d), dtype=np.float32)
            if dtype == "bf16":
                x = harness.to_bf16(x).view("V2")
            else:
                x = x.astype(dtype)
            np.save(name + ".npy", x)

    def ours(self, stderr):
        """Lines of the command itself, without those that the launcher adds after a failure."""
        return [line for line in stderr.splitlines() if line.startswith(("attend", "rank"))]

    def say(self, *args):
        """The output of ranks that succeed."""
        got = mpirun(*args)
        self.assertEqual(got.returncode, 0, got.stderr)
        return got.stdout

    def told_once(self, got, status=None):
        """The one line that ranks print when they fail."""
        self.assertNotEqual(got.returncode, 0)
        self.assertIn(status, (None, got.returncode))
        self.assertEqual(got.stdout, "")
        (line,) = self.ours(got.stderr)
        self.assertFalse(os.path.exists("o.npy"))
        return line

    def test_files_have_the_same_bytes(self):
        causal, window = ["--causal", "bottom-right"], ["--window-left", "300"]
        core = [("f4", causal, 8), ("bf16", [], 3), ("f4", window, 3), ("bf16", causal, 2)]
        others = [
            (dtype, rule, ranks)
            for dtype in ("f4", "bf16")
            for rule in ([], causal, window)
            for ranks in (1, 2, 3, 4, 5, 8)
            if (dtype, rule, ranks) not in core
        ]
        flags = ["run", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--dtype", "bf16"]
        flags += ["--out", "a.safetensors:o", "--lse", "a.safetensors:lse"]
        for dtype, rule, ranks in core + harness.sample(others, 1):
            self.write(1500, 3100, dtype=dtype)
            self.succeed(*flags, *rule)
            want = harness.read_bytes("a.safetensors")
            for mpi in MPIS:
                os.remove("a.safetensors")
                said = self.say(mpi, ranks, *flags, *rule)
                self.assertEqual(said.count("a.safetensors:o"), 1, said)
                self.assertEqual(harness.read_bytes("a.safetensors"), want, (mpi, dtype, rule, ranks))
        self.assertEqual([f for f in os.listdir(".") if f.startswith(".")], [])

    def test_statistics_are_the_same(self):
        self.write(700, 1300)
        flags = ["stats", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--causal"]
        flags += ["bottom-right", "--columns", "--last", "5", "--top", "3", "--json"]
        flags += ["--zoom", "600:640,400:530"]
        want = self.succeed(*flags, "--out", "one.safetensors")
        for mpi in MPIS:
            self.assertEqual(self.say(mpi, 3, *flags, "--out", "ranks.safetensors"), want)
            one, many = (harness.read_bytes(f"{name}.safetensors") for name in ("one", "ranks"))
            self.assertEqual(one, many)

    def test_a_map_is_drawn_once(self):
        self.write(300, 400)
        for mpi in MPIS:
            self.say(mpi, 2, *"stats --q q.npy --k k.npy --map m.png".split())
            self.assertEqual(harness.read_bytes("m.png")[:4], b"\x89PNG")
            self.assertEqual(sorted(os.listdir(".")), ["k.npy", "m.png", "q.npy", "v.npy"])

    def test_trials_are_shared(self):
        flags = ["lab", "magnitude", "--trials", "2000", "--json"]
        want = self.objects(*flags)
        for mpi in MPIS:
            self.assertEqual([json.loads(line) for line in self.say(mpi, 3, *flags).splitlines()], want)

    def test_a_report_has_the_same_bytes(self):
        flags = ["report", "--trials", "100", "--threads", "1", "-o"]
        self.succeed(*flags, "one.html")
        want = harness.read_bytes("one.html")
        for mpi in SOME_MPI:
            self.say(mpi, 2, *flags, "ranks.html")
            self.assertTrue(harness.read_bytes("ranks.html") == want, mpi)
            os.remove("ranks.html")

    def test_bench_has_the_same_bits(self):
        flags = ["bench", "--mpi", "--json", "--case", "bits-3k-f32", "--threads", "1"]
        want = json.loads(self.succeed(*flags))
        self.assertEqual((want["ranks"], want["sent_bytes"]), (1, 0))
        for mpi in MPIS:
            line = json.loads(self.say(mpi, 3, *flags, "--trace", "times"))
            self.assertEqual((line["ranks"], line["checksum"]), (3, want["checksum"]))
            for rank in range(3):
                with open(f"times.{rank}", encoding="utf-8") as file:
                    kinds = {json.loads(line)["what"] for line in file}
                self.assertIn("c", kinds)
        self.assertIn("--mpi", self.told_once(mpirun(MPIS[0], 2, "bench")))

    def test_bad_input_is_told_once(self):
        self.write(10, 20)
        for mpi in MPIS:
            got = mpirun(mpi, 3, *"run --q q.npy --k x.npy --v v.npy --out o.npy".split())
            self.assertIn("x.npy", self.told_once(got))

    def test_copies_are_refused(self):
        for mpi in MPIS:
            for args, env in (
                (["check"], None),
                (["lab", "place"], None),
                (["run"], {"ATTEND_MPI": "/nowhere/libattend_mpi.so"}),
            ):
                self.assertIn("launcher of MPI", self.told_once(mpirun(mpi, 2, *args, env=env)))

    def test_the_library_of_another_mpi_is_refused(self):
        if len(MPIS) < 2:
            self.skipTest("this build has one MPI")
        self.write(40, 40)
        for mpi, other in (MPIS[0], MPIS[1]), (MPIS[1], MPIS[0]):
            flags = "run --q q.npy --k k.npy --v v.npy --out o.npy".split()
            self.told_once(mpirun(mpi, 2, *flags, env={"ATTEND_MPI": other[0]}))

    def test_one_rank_that_cannot_join_ends_the_job(self):
        self.write(40, 40)
        flags = "run --q q.npy --k k.npy --v v.npy --out o.npy".split()
        rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
        for mpi in MPIS:
            for victim in 0, 1:
                named = "attend" if victim == 0 else "rank 1: attend"
                script = f'[ {rank} != {victim} ] || export ATTEND_MPI=/nowhere.so; exec "$@"'
                line = self.told_once(run_script(mpi, script, *flags), 2)
                self.assertTrue(line.startswith(named) and "/nowhere.so" in line, line)
                script = f'[ {rank} != {victim} ] || exec "$1" nosuch; exec "$@"'
                got = run_script(mpi, script, *flags)
                self.assertEqual(got.returncode, 2, (mpi, victim))
                self.assertIn("unknown command 'nosuch'", got.stderr)

    def test_one_rank_prints_a_wrong_command(self):
        for mpi in MPIS:
            for args in ["nosuch"], []:
                self.told_once(mpirun(mpi, 3, *args), 2)

    def test_ranks_with_other_arguments_are_refused(self):
        self.write(40, 40)
        flags = "run --q q.npy --k k.npy --v v.npy".split()
        script = 'exec "$@" --out ${OMPI_COMM_WORLD_RANK:-$PMI_RANK}.npy'
        for mpi in MPIS:
            got = run_script(mpi, script, *flags)
            self.assertNotEqual(got.returncode, 0)
            self.assertIn("other arguments than those of rank 0", got.stderr)
            self.assertEqual([f for f in os.listdir(".") if f[0] in "01."], [])

    def test_one_rank_prints_the_version(self):
        for mpi in MPIS:
            self.assertEqual(mpirun(mpi, 2, "--version").stdout.count("attend"), 1)

    def test_a_step_without_mpi_is_refused(self):
        step = {"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0"}
        got = harness.attend("run", env=step)
        self.assertEqual((got.returncode, got.stdout), (2, ""))
        self.assertIn("--mpi=", got.stderr)

    def test_a_rank_that_dies_ends_the_job(self):
        self.write(40000, 40000, hq=4, hkv=4, d=64)
        flags = "run --q q.npy --k k.npy --v v.npy --out o.npy --threads 1".split()
        for mpi in MPIS:
            for victim in 0, 2:
                job = subprocess.Popen(
                    command(mpi, 3, harness.BIN, *flags),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=harness.ENVIRONMENT,
                )
                harness.wait_until(
                    lambda: [f for f in os.listdir(".") if f.startswith(".attend")], "a temporary file"
                )
                os.kill(self.find_rank(victim), signal.SIGKILL)
                start = time.monotonic()
                job.wait(timeout=harness.HANG)
                self.assertLess(time.monotonic() - start, END)
                self.assertNotEqual(job.returncode, 0)
                self.assertFalse(os.path.exists("o.npy"))
                for left in os.listdir("."):
                    if left.startswith(".attend"):
                        os.remove(left)  # of a rank that was killed

    def find_rank(self, rank):
        """The process of a rank of the job in this folder."""
        names = f"OMPI_COMM_WORLD_RANK={rank}", f"PMI_RANK={rank}"
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{pid}/cwd") != os.getcwd():
                    continue
                if os.path.basename(os.readlink(f"/proc/{pid}/exe")) != "attend":
                    continue
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if set(file.read().decode().split("\0")) & set(names):
                        return int(pid)
            except (FileNotFoundError, PermissionError, ProcessLookupError):
                continue
        raise AssertionError(f"no process of rank {rank}")
