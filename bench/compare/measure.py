# SPDX-License-Identifier: MIT
"""One case in one dtype: all engines agree, then all are timed, in turns."""

import dataclasses
import statistics

import bandwidth
import inputs as inputs_module
import reference
from engine_client import EngineError

OURS = "attend"
LEAST_ROUNDS, MOST_ROUNDS = 3, 9
SAMPLE_NS = 200_000  # shorter calls are timed several at once
WARM_NS = 10_000_000  # of untimed calls at the start of a turn ...
LONG_NS = 50_000_000  # ... unless a call is so long that warm caches do not matter
FAR_BEHIND = 1.8  # the library's best, in a first call that is long: not calibrated
SLOWER_VARIANT, SLOWER_LONG = 1.2, 1.05  # than its library's best: not timed further


class Disagreement(Exception):
    """attend's result is wrong: there is nothing to time."""


@dataclasses.dataclass
class Runner:
    """A variant of an engine that agreed, and its times."""

    process: object
    variant: str
    error: float
    estimate: float  # ns; of a first call until it is calibrated
    turns: list = dataclasses.field(default_factory=list)  # the samples of each, in ns

    @property
    def name(self):
        return self.process.name

    @property
    def samples(self):
        return [ns for turn in self.turns for ns in turn]

    def time(self, samples, repeats, warm_ns):
        request = {"samples": samples, "repeats": repeats, "warm_ns": warm_ns}
        return self.process.ask("time", variant=self.variant, **request)["ns"]

    def calibrate(self):
        self.estimate = self.time(1, 1, 0)[0]
        if self.estimate < LONG_NS:
            repeats = max(1, int(SAMPLE_NS / self.estimate))
            self.estimate = min(self.time(5, repeats, WARM_NS))

    def take_turn(self, nanoseconds):
        repeats = max(1, int(SAMPLE_NS / self.estimate))
        samples = max(1, min(1000, int(nanoseconds / (repeats * self.estimate))))
        warm_ns = WARM_NS if self.estimate < LONG_NS else 0
        self.turns.append(self.time(samples, repeats, warm_ns))

    def result(self):
        taken = self.samples or [self.estimate]
        return {
            "engine": self.name,
            "variant": self.variant,
            "median_ms": statistics.median(taken) / 1e6,
            "min_ms": min(taken) / 1e6,
            "samples": len(self.samples),  # 0: an estimate, for its library has a faster way
            "error": self.error,
        }


def agreeing(processes, case, dtype, complain):
    """A Runner for each variant of each engine that agrees with the dense evaluation."""
    inputs = inputs_module.Inputs(case, dtype)
    checksum, rows = inputs.checksum(), reference.pick_rows(case)
    expected = reference.dense_rows(inputs, rows)
    del inputs
    runners = []
    for process in processes:
        loaded = process.ask("load", case=dataclasses.asdict(case), dtype=dtype)
        if loaded["variants"] and loaded["checksum"] != checksum:
            raise EngineError(f"{process.name} made other inputs for {case.name} {dtype}")
        for variant in loaded["variants"]:
            try:
                answer = process.ask("check", variant=variant, rows=rows)
                error = max(reference.error(got, expected) for got in answer["rows"])
                fault = f"differs by {error:.2g}" if error > reference.TOLERANCE[dtype] else ""
            except EngineError as failure:
                error, fault = None, str(failure)
            if not fault:
                runners.append(Runner(process, variant, error, answer["ns"]))
                continue
            text = f"{case.name} {dtype}: {process.name} {variant}: {fault}"
            if process.name == OURS:
                raise Disagreement(text)
            complain(text)
            process.ask("forget", variant=variant)
    return runners


def best_estimates(runners):
    best = {}
    for runner in runners:
        best[runner.name] = min(runner.estimate, best.get(runner.name, runner.estimate))
    return best


def calibrate(runners):
    """All but those that are far behind after their first call."""
    best = best_estimates(runners)
    for runner in runners:
        if runner.estimate < max(LONG_NS, FAR_BEHIND * best[runner.name]):
            runner.calibrate()


def keep_fastest(runners):
    """Without the variants that are clearly slower than another of the same engine."""
    best = best_estimates(runners)
    kept = []
    for runner in runners:
        slower = SLOWER_VARIANT if best[runner.name] < LONG_NS else SLOWER_LONG
        if runner.estimate <= slower * best[runner.name]:
            kept.append(runner)
    for runner in runners:
        if runner not in kept:
            runner.process.ask("forget", variant=runner.variant)
    return kept


def measure(processes, case, dtype, seconds, complain, read):
    """Times of each variant: `seconds` of timed calls each, spread over the rounds.

    Returns `timings`, and for a decoding case `bins` of them by the speed of memory, which
    read() gives: a round's is the median of those measured before each of its turns.
    """
    runners = agreeing(processes, case, dtype, complain)
    calibrate(runners)
    kept = keep_fastest(runners)
    budget = seconds * 1e9
    slowest = max(runner.estimate for runner in kept)
    rounds = max(LEAST_ROUNDS, min(MOST_ROUNDS, int(3 * budget / slowest)))
    speeds = []
    for _ in range(rounds):
        beside = []
        for runner in kept:
            if case.rotates:
                beside.append(read())
            runner.take_turn(budget / rounds)
        if beside:
            speeds.append(statistics.median(beside))
    return {
        "timings": [runner.result() for runner in runners],
        "bins": bandwidth.bins(speeds, kept) if speeds else [],
    }
