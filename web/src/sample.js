// SPDX-License-Identifier: MIT
// A layer made by hand, six heads of known character, for readers without tensors.
import { writeNpy } from './files.js';

/** Uniform numbers of 32 bits from a seed (an additive Weyl sequence, mixed). */
function uniform(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return ((z ^ (z >>> 16)) >>> 0) / 2 ** 32;
  };
}

function normals(count, seed) {
  const next = uniform(seed);
  return Float64Array.from(
    { length: count },
    () => Math.sqrt(-2 * Math.log(next() + 2 ** -33)) * Math.cos(2 * Math.PI * next()),
  );
}

/** q, k and v as files: 6 heads, 160 tokens, 64 columns. */
export function sampleLayer() {
  const [H, L, D] = [6, 160, 64];
  const code = normals((L + 1) * D, 7); // a random direction for every position
  const q = new Float32Array(H * L * D);
  const k = new Float32Array(H * L * D);
  const v = normals(H * L * D, 11);
  const add = (to, h, i, from, factor) => {
    for (let j = 0; j < D; j++) to[(h * L + i) * D + j] += factor * code[from * D + j];
  };
  for (let i = 0; i < L; i++) {
    for (let h = 0; h < H; h++) add(k, h, i, i, 1);
    if (i > 0) add(q, 0, i, i - 1, 1); // the token before
    for (const [far, factor] of [
      [0, 0.5],
      [1, 0.46],
      [2, 0.42],
      [3, 0.38],
    ])
      if (i >= far) add(q, 1, i, i - far, factor); // near ones
    add(q, 2, i, 0, 0.7); // the first token
    add(q, 3, i, Math.floor((i * 37) % (i + 1)), 1.2); // one token, anywhere
    add(q, 4, i, i >> 1, 1); // two tokens
    add(q, 4, i, i >> 2, 1);
    add(q, 5, i, L, 0.05); // nothing in particular
  }
  const file = (name, numbers) => new File([writeNpy(numbers, [1, H, L, D])], `${name}.npy`);
  return [file('sample-q', q), file('sample-k', k), file('sample-v', v)];
}
