# SPDX-License-Identifier: MIT
"""The cost of watching a model on a GPU: a Llama of random weights, its prompt watched and not, in turns.

    PYTHONPATH=python python bench/watch_cuda.py --tokens 1024 4096

Also torch's own attention, and that no attention call of the watched model is missed.
"""
import argparse
import json
import statistics
import time

import torch
import transformers as hf

import attend
import attend.transformers


def seconds(run):
    torch.cuda.synchronize()
    start = time.perf_counter()
    run()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--tokens", type=int, nargs="+", default=[1024, 4096])
    args.add_argument("--layers", type=int, default=16)
    args.add_argument("--repeats", type=int, default=5)
    args.add_argument("--rows", type=int, nargs="+", default=[1024, 0], help="of attend.watch; 0: all")
    args.add_argument("--json")
    args = args.parse_args()
    attend.transformers.register()
    config = hf.LlamaConfig(
        vocab_size=32000,
        hidden_size=2048,
        intermediate_size=8192,
        num_hidden_layers=args.layers,
        num_attention_heads=32,
        num_key_value_heads=8,
        max_position_embeddings=1 << 17,
    )
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = hf.LlamaForCausalLM(config).to(torch.bfloat16).eval()
    rows = []
    for tokens in args.tokens:
        ids = torch.randint(32000, (1, tokens), device="cuda")

        def forward():
            with torch.no_grad():
                return model(input_ids=ids, logits_to_keep=1).logits

        def watched(**options):
            with attend.watch(model, **options) as w:
                forward()
            assert len(w.layers) == args.layers and all(len(layer.calls) == 1 for layer in w.layers)
            return w

        ways = {"sdpa": ("sdpa", forward), "attend": ("attend", forward)}
        for count in args.rows:
            ways[f"watched, {count or 'all'} rows"] = (
                "attend",
                lambda count=count: watched(rows=count or None),
            )
        taken = {name: [] for name in ways}
        for repeat in range(args.repeats + 1):  # the first allocates
            for name, (way, run) in ways.items():
                model.set_attn_implementation(way)
                taken[name] += [seconds(run)] * (repeat > 0)
        medians = {name: statistics.median(x) for name, x in taken.items()}
        w = watched(rows=None)
        entropy = [float(layer.rows("entropy", 0).mean()) for layer in w.layers]
        rows.append(
            dict(
                case=f"watch, {args.layers} layers, {tokens} tokens",
                **{name: 1e3 * x for name, x in medians.items()},
                entropy_first=entropy[0],
                entropy_last=entropy[-1],
            )
        )
        print(
            f"{tokens} tokens:",
            "  ".join(
                f"{name} {1e3 * x:.1f} ms ({x / medians['attend']:.2f} x)" for name, x in medians.items()
            ),
            f" mean entropy of head 0, first and last layer: {entropy[0]:.3f} {entropy[-1]:.3f}",
            flush=True,
        )
        if args.json:
            with open(args.json, "w", encoding="utf-8") as file:
                json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
