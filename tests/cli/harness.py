# SPDX-License-Identifier: MIT
"""What the command line tests share: the command, temporary files, the runner.

The command is the environment variable ATTEND_BIN.  `harness.py PROGRAM` runs the unittest
cases of a test program and ends with the line "N passed, N failed, N skipped".
"""

import importlib
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

BIN = os.path.abspath(os.environ.get("ATTEND_BIN") or "ATTEND_BIN-is-not-set")

# Each prefixes its messages with its own name.
COMMANDS = (
    *("run", "stats", "info", "check", "bench"),
    *("lab", "sheets", "judge", "grade", "design", "report", "page"),
)

EXPERIMENTS = (
    "copy extract average window magnitude heads one-vs-two how-many-heads remedies "
    "permute positions dispersion phases capacity variants"
).split()

# Without variables that select a kernel set or the number of threads.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("ATTEND_", "OMP_"))}

# The amount of work of a test, as tests/support/test.h explains: a fixed core always, and SCALE times the
# usual number of drawn cases; from WHOLE on, all of them.  SEED selects them.
try:
    SCALE = float(os.environ.get("ATTEND_TEST_SCALE") or 1)
    SEED = int(os.environ.get("ATTEND_TEST_SEED") or 1)
except ValueError as error:
    sys.exit(f"ATTEND_TEST_SCALE or _SEED: {error}")
if not SCALE > 0 or not 0 < SEED < 2**53:
    sys.exit(f"ATTEND_TEST_SCALE ({SCALE}) or _SEED ({SEED}): not a positive number")
WHOLE = 10.0


def count(number):
    """number times the scale, at least 1."""
    return max(1, int(number * SCALE))


def sample(cases, number):
    """At scale 1, `number` of the cases, drawn by the seed, in their order."""
    cases = list(cases)
    if SCALE >= WHOLE or count(number) >= len(cases):
        return cases
    drawn = random.Random(SEED).sample(range(len(cases)), count(number))
    return [cases[at] for at in sorted(drawn)]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, content):
    """Text or bytes."""
    with open(path, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)


# Time limit of a command in seconds, above the time on a busy machine.
HANG = 1200


def attend(*args, env=None, **kwargs):
    """Run the command; the result has returncode, stdout and stderr as text."""
    return subprocess.run(
        [BIN, *map(str, args)],
        stdout=kwargs.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
        env={**ENVIRONMENT, **(env or {})},
        timeout=HANG,
        **kwargs,
    )


def _heed_signals():
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, signal.SIG_DFL)


def start(*args, **kwargs):
    """Starts the command, with default signal handlers: the tests may run under nohup, which
    ignores SIGHUP in all children.  Returns the Popen."""
    kwargs = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **kwargs}
    return subprocess.Popen([BIN, *map(str, args)], preexec_fn=_heed_signals, **kwargs)


def wait_until(holds, what):
    """Waits until holds() is true; AssertionError after the time limit."""
    end = time.monotonic() + HANG
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain: {what}")
        time.sleep(0.01)


def wait_for_work(process, seconds):
    """Waits until the process has used this much CPU time, however busy the machine is."""

    def has_worked():
        with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
            # Fields after the name, which may contain any character: user and system time of all threads.
            fields = file.read().rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        return ticks >= seconds * os.sysconf("SC_CLK_TCK") or process.poll() is not None

    wait_until(has_worked, f"{seconds} s of work")


def info(*args, env=None):
    """The object that `attend info --json` prints."""
    done = attend("info", "--json", *args, env=env)
    if done.returncode != 0:
        raise AssertionError(f"attend info: {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def runnable_sets():
    return [s["name"] for s in info()["kernel_sets"] if s["runs"]]


def to_bf16(x):
    """Round to bf16, to nearest and ties to even; the bits as uint16."""
    bits = np.ascontiguousarray(x, dtype=np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return rounded.astype(np.uint16)


def from_bf16(bits):
    return (np.asarray(bits).view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def write_safetensors(path, tensors):
    """tensors: {name: (dtype name, array)}; arrays are written in C order."""
    header, data = {}, b""
    for name, (dtype, array) in tensors.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {
            "dtype": dtype,
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    write(path, struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    """{name: (dtype name, array)}; bf16 as V2."""
    kinds = {"F64": "f8", "F32": "f4", "F16": "f2", "BF16": "V2", "I64": "i8"}
    raw = read_bytes(path)
    (size,) = struct.unpack("<Q", raw[:8])
    header, data = json.loads(raw[8 : 8 + size]), raw[8 + size :]
    header.pop("__metadata__", None)
    tensors = {}
    for name, t in header.items():
        piece = data[slice(*t["data_offsets"])]
        array = np.frombuffer(piece, dtype=kinds[t["dtype"]]).reshape(t["shape"])
        tensors[name] = t["dtype"], array
    return tensors


class CliTest(unittest.TestCase):
    """A test with a directory of its own that is the command's working directory."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="attend-cli-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def save(self, name, array):
        np.save(self.path(name), array)
        return name

    def load(self, spec):
        """FILE.npy or FILE.safetensors:NAME"""
        file, _, name = spec.partition(":")
        if name:
            return read_safetensors(self.path(file))[name][1]
        return np.load(self.path(file), allow_pickle=False)

    def attend(self, *args, **kwargs):
        return attend(*args, cwd=self.dir, **kwargs)

    def succeed(self, *args, **kwargs):
        done = self.attend(*args, **kwargs)
        # On a busy machine a long command also prints an estimate of its time.
        said = re.sub(r"^attend \w+: .* takes about .*\n", "", done.stderr)
        self.assertEqual((done.returncode, said), (0, ""), f"attend {args}")
        return done.stdout

    def objects(self, *args, **kwargs):
        """The objects that a command prints, one a line; there are some."""
        found = [json.loads(line) for line in self.succeed(*args, **kwargs).splitlines()]
        self.assertTrue(found, f"attend {args} prints nothing")
        return found

    def refuse(self, *args, says=(), status=2, **kwargs):
        """One line on standard error, the status, no output and no file."""
        before = sorted(os.listdir(self.dir))
        done = self.attend(*args, **kwargs)
        what = f"attend {' '.join(map(str, args))}: {done.stderr!r}"
        self.assertEqual(done.returncode, status, what)
        self.assertEqual(done.stdout, "", what)
        self.assertTrue(done.stderr.endswith("\n"), what)
        self.assertEqual(done.stderr.count("\n"), 1, what)
        if args and args[0] in COMMANDS:
            named = re.match(rf"attend {args[0]}( [a-z0-9-]+)?: ", done.stderr)
            self.assertTrue(named, what)
        else:
            self.assertTrue(done.stderr.startswith("attend: "), what)
        for word in (says,) if isinstance(says, str) else says:
            self.assertIn(word, done.stderr, what)
        self.assertEqual(sorted(os.listdir(self.dir)), before, what)

    def fail_to_say(self, *args, says="", **kwargs):
        """Standard output cannot be written: status 1, one line, no file is left."""
        before = sorted(os.listdir(self.dir))
        done = self.attend(*args, **kwargs)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), args)
        self.assertIn(says, done.stderr)
        self.assertEqual(sorted(os.listdir(self.dir)), before)

    def say_to_full(self, *args):
        with open("/dev/full", "w", encoding="utf-8") as full:
            self.fail_to_say(*args, stdout=full)

    def say_to_closed(self, *args, says=""):
        """No file of the command may get the descriptor of standard output."""
        self.fail_to_say(*args, says=says, preexec_fn=lambda: os.close(1))

    def interrupt(self, *args, number, until, status):
        """Sends the signal once until(process) returns; the output and the errors."""
        with start(*args, cwd=self.dir, stderr=subprocess.PIPE, text=True) as job:
            until(job)
            self.assertIsNone(job.poll(), "the work must still be under way")
            job.send_signal(number)
            said = job.communicate(timeout=HANG)
        self.assertEqual(job.returncode, status)
        return said

    def stop(self, *args, work=0.5):
        """Ctrl-C after `work` seconds of CPU time: standard output and standard error."""
        return self.interrupt(
            *args, number=signal.SIGINT, until=lambda job: wait_for_work(job, work), status=130
        )

    def stop_when_it_says(self, *args):
        """Ctrl-C after the first line on standard error: the output, that line, and the rest."""
        first = []
        out, rest = self.interrupt(
            *args, number=signal.SIGINT, until=lambda job: first.append(job.stderr.readline()), status=130
        )
        return out, first[0], rest

    def leave_nothing(self, *args, files, signals):
        """Each signal, sent while the command writes this many files: none remains."""
        before = sorted(os.listdir(self.dir))

        def under_way(job):
            many = lambda: len(os.listdir(self.dir)) >= len(before) + files
            wait_until(many, "outputs under way")
            wait_for_work(job, 0.05)

        for number in signals:
            with self.subTest(signal=number):
                self.interrupt(*args, number=number, until=under_way, status=-number)
                self.assertEqual(sorted(os.listdir(self.dir)), before)

    def help_of(self, command, flags):
        """The help of a command contains these flags and an example."""
        text = self.succeed(command, "--help")
        for flag in flags.split():
            self.assertIn(f"--{flag} ", text.replace("\n", " "))
        self.assertIn("example", text)
        return text


class _Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.passed = 0
        self.bad = set()

    def _report(self, word, test, text=""):
        print(f"{word} {test.id().split('.', 1)[-1]}{text}", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1
        self._report("ok  ", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._report("skip", test, f": {reason}")

    def _fail(self, test, err):
        text = self._exc_info_to_string(err, test)
        self._report("FAIL", test, "\n  " + text.rstrip().replace("\n", "\n  "))
        self.bad.add(test.id())

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._fail(test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self._fail(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._report("    ", subtest)
            self._fail(test, err)


def main():
    """harness.py PROGRAM [CASE...]: runs the cases of a test program, or those that are named."""
    if len(sys.argv) < 2:
        sys.exit("usage: harness.py PROGRAM [CASE...]")
    folder, file = os.path.split(os.path.abspath(sys.argv[1]))
    if folder == os.path.dirname(os.path.abspath(__file__)) and not os.access(BIN, os.X_OK):
        sys.exit("ATTEND_BIN must name the attend command")
    sys.path.insert(0, folder)
    module = importlib.import_module(file.removesuffix(".py"))
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromModule(module)
    if len(sys.argv) > 2:
        suite = loader.loadTestsFromNames(sys.argv[2:], module)
    result = _Result()
    suite.run(result)
    print(f"{result.passed} passed, {len(result.bad)} failed, {len(result.skipped)} skipped")
    sys.exit(1 if result.bad or not (result.passed or result.skipped) else 0)


if __name__ == "__main__":
    main()
