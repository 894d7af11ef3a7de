# SPDX-License-Identifier: MIT
# %% [markdown]
# # What the heads of a layer do
#
# Three heads with known behaviour: one copies the previous token, one attends to the
# first token only, one averages everything.  Their statistics show it.  Run it as a
# script, or cell by cell.

# %%
import numpy as np

import attend

n, d = 64, 32
rng = np.random.default_rng(0)

# %% [markdown]
# Positions are random unit vectors, nearly orthogonal.  A query that is 30 times the
# vector of position i - 1 finds that position and nothing else.

# %%
position = rng.standard_normal((n, d))
position /= np.linalg.norm(position, axis=1, keepdims=True)

keys = np.stack([position] * 3)
queries = np.stack(
    [
        30 * np.roll(position, 1, axis=0),  # the previous token
        30 * np.broadcast_to(position[0], (n, d)),  # the first token
        np.zeros((n, d)),  # everything alike
    ]
)
values = rng.standard_normal((3, n, d))

out = attend.attention(queries, keys, values, scale=1.0, causal="bottom-right")
print("output:", out.shape)

# %% [markdown]
# The first head copies: its output is the value of the token before.

# %%
error = np.abs(out[0, 1:] - values[0, :-1]).max()
print(f"the first head copies, with an error of {error:.1e}")
assert error < 0.05

# %% [markdown]
# The statistics, without storing the weights:

# %%
stats = attend.stats(queries, keys, scale=1.0, causal="bottom-right")
for head in stats.heads():
    print(f"head {head.head}: {head.character:14} {head.reason}")

assert stats.previous[0, 1:].min() > 0.99  # weight on the previous token
assert stats.sink1[1].min() > 0.99  # weight on the first
assert np.allclose(stats.n_eff[2], np.arange(1, n + 1))  # every key counts alike

# %% [markdown]
# A map of the weights, pooled over blocks of 8 by 8: each row of blocks sums to 8.

# %%
pooled = attend.inspect(queries, keys, scale=1.0, causal="bottom-right", pooled=8).pooled
print(pooled[0].round(1))
assert np.allclose(pooled.sum(-1), 8)
