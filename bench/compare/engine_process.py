# SPDX-License-Identifier: MIT
"""One engine in a process of its own; run as engine_process.py ENGINE THREADS.

Reads one JSON object per line from standard input and answers each with one on what was
standard output; whatever a library prints goes to standard error.  A request that
raises is answered by {"error": text}.
"""

import ctypes
import importlib
import json
import os
import signal
import sys
import time

import cases
import engine
import inputs as inputs_module

PR_SET_PDEATHSIG = 1  # linux/prctl.h


class Session:
    """The state between requests: the inputs of a case and its variants."""

    def __init__(self, name, threads):
        self.module = importlib.import_module(f"engine_{name}")
        self.version = self.module.start(threads)
        self.inputs, self.prepared, self.turn = None, {}, 0

    def hello(self):
        return {"version": self.version, "pid": os.getpid()}

    def load(self, case, dtype):
        self.prepared.clear()
        self.inputs = None  # before the next ones are made
        case = cases.Case(**case)
        names = self.module.variants(case, dtype)
        if not names:
            return {"variants": []}
        self.inputs = inputs_module.Inputs(case, dtype)
        return {"variants": names, "checksum": self.inputs.checksum()}

    def check(self, variant, rows):
        """Prepare the variant; its outputs at the rows, from the first and last copies."""
        prepared = self.module.prepare(variant, self.inputs)
        values = []
        for call in {prepared.calls[0], prepared.calls[-1]}:
            prepared.poison()
            start = time.perf_counter_ns()
            with prepared.context():
                returned = call()
            taken = time.perf_counter_ns() - start
            picked = prepared.fetch(returned)[tuple(zip(*rows))]
            values.append(inputs_module.widen(picked, self.inputs.dtype).tolist())
        self.prepared[variant] = prepared
        return {"rows": values, "ns": taken}

    def forget(self, variant):
        self.prepared.pop(variant, None)
        return {}

    def time(self, variant, samples, repeats, warm_ns):
        """Nanoseconds of one call, `samples` times, each the mean of `repeats` calls.

        Calls of at least warm_ns altogether go before, untimed (none for 0).
        """
        prepared, clock = self.prepared[variant], time.perf_counter_ns
        taken = []
        with prepared.context():
            start = clock()
            while clock() - start < warm_ns:
                self.next_call(prepared)()
            for _ in range(samples):
                batch = [self.next_call(prepared) for _ in range(repeats)]
                start = clock()
                for call in batch:
                    call()
                taken.append((clock() - start) / repeats)
        return {"ns": taken}

    def next_call(self, prepared):
        """On the next copy of K and V."""
        self.turn += 1
        return prepared.calls[self.turn % len(prepared.calls)]


def die_with_parent():
    """A stopped process would not notice the end of its parent."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main():
    die_with_parent()
    requests = sys.stdin
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    session = Session(sys.argv[1], int(sys.argv[2]))
    for line in requests:
        request = json.loads(line)
        try:
            answer = getattr(session, request.pop("do"))(**request)
        except Exception as failure:  # any exception is reported as the rival's result
            answer = {"error": f"{type(failure).__name__}: {failure}".splitlines()[0]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in engine.NAMES:
        sys.exit("usage: engine_process.py ENGINE THREADS")
    main()
