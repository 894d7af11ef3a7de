# SPDX-License-Identifier: MIT
"""The processes that hold the engines, seen from the one that times them in turn.

A library's idle threads may spin for a while after a call.  Here every process but the
one whose turn it is stands still (SIGSTOP), so none disturbs another, and each may keep
its threads spinning between calls of its own turn, which is fastest.
"""

import json
import os
import signal
import subprocess
import sys


class EngineError(Exception):
    """The engine failed; the text is its own."""


# Keeps freed memory: some engines allocate their output in every call.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(4 << 30), "MALLOC_TRIM_THRESHOLD_": str(8 << 30)}


def environment(threads):
    """The same threads for every runtime, which may spin between calls."""
    variables = "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"
    return {
        **os.environ,
        **dict.fromkeys(variables, str(threads)),
        "OMP_WAIT_POLICY": "active",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class EngineProcess:
    def __init__(self, name, threads):
        self.name = name
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "engine_process.py")
        self.process = subprocess.Popen(
            [sys.executable, program, name, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**environment(threads), **KEEP_MEMORY},
        )
        self.version = self.ask("hello")["version"]

    def ask(self, what, **arguments):
        """Wake the process, send a request, wait for the reply and stop it again."""
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.stdin.write(json.dumps({"do": what, **arguments}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise EngineError(f"{self.name}: its process ended, status {self.process.wait()}")
        self.process.send_signal(signal.SIGSTOP)
        answer = json.loads(line)
        if "error" in answer:
            raise EngineError(answer["error"])
        return answer

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
