// SPDX-License-Identifier: MIT
// The world of the playground: where keys and values lie, and what a query does there.

export const N_MAX = 256;
export const D_MAX = 256;
export const DRAWS = 400;

/** The initial state, with the numbers of the exercise. */
export const START = {
  keys: 'orthonormal', // orthonormal | plane | random
  n: 10,
  d: 16, // seed of random keys
  heads: 1,
  q: [4, 4], // in the plane of k_a and k_b
  q2: [0, 6],
  divided: false, // scores divided by sqrt(d)
  noise: false,
  sigma2: 0.5,
  alpha: 0,
  seed: 1,
  moved: {}, // keys of the plane that were dragged: index to [x, y]
};

/** Presets: name, settings, and a sentence on the result. */
export const PRESETS = [
  ['copy', 'Copy', { q: [8, 0] }, 'A query along k_a scores it far above the others: the output is v_a.'],
  [
    'average',
    'Average',
    { q: [8, 8] },
    'Equal scores share the weight: a tie of two keys is an average of two values.',
  ],
  [
    'weighted',
    'Weighted average',
    { q: [8 + Math.log(2), 8] },
    'ln 2 more score is twice the weight: two thirds of v_a, one third of v_b.',
  ],
  [
    'sink',
    'Sink',
    { keys: 'plane', n: 8, q: [1.5, 2.2], moved: { 0: [2.4, 0] } },
    'A long key draws weight although the query points elsewhere.',
  ],
  [
    'ties',
    'Ties',
    { q: [0, 0] },
    'A query of 0 scores every key alike: the output is the mean of all values.',
  ],
  [
    'noise',
    'Noise',
    { q: [10, 10], noise: true, sigma2: 0.5 },
    'The length of k_a varies: outputs run along the segment, few are near its middle.',
  ],
  [
    'two',
    'Two heads',
    { heads: 2, q: [10, 0], q2: [0, 10], noise: true, sigma2: 0.5 },
    'One head copies v_a, the other v_b: the mean of both stays in the middle.',
  ],
];

/** The queries that the sheets choose, with the noise of question 1c-ii. */
export const SHEETS = [
  [
    '000',
    'C (μ_a + μ_b); C μ_a, C μ_b',
    { heads: 2, q: [10, 0], q2: [0, 10], noise: true },
    'Sheet 000: two heads with large C. Each copies one value.',
  ],
  [
    '001',
    'C (μ_a + μ_b); μ_a, μ_b',
    { heads: 2, q: [1, 0], q2: [0, 1], noise: true },
    'Sheet 001: queries of length 1. The other keys take most of the weight.',
  ],
  [
    '002',
    'β (μ_a + μ_b), β (μ_a − μ_b)',
    { heads: 2, q: [10, 10], q2: [10, -10], noise: true },
    'Sheet 002: the second head looks at a alone, the first still tosses its coin.',
  ],
  [
    '003',
    'C (μ_a + μ_b); μ_a, μ_b',
    { heads: 2, q: [1, 0], q2: [0, 1], noise: true },
    'Sheet 003: queries of length 1, as on sheet 001.',
  ],
  [
    '004',
    'β (m_a + m_b)',
    { heads: 1, q: [10, 10], noise: true },
    'Sheet 004: one head with a large scale. Noise in a length makes it choose.',
  ],
];

/** Values of the address: those that differ from the initial state. */
export function toValues(state) {
  const values = {};
  for (const name of ['keys', 'n', 'd', 'heads', 'sigma2', 'alpha', 'seed'])
    if (state[name] !== START[name]) values[name] = state[name];
  for (const name of ['q', 'q2'])
    if (state[name].join() !== START[name].join()) values[name] = state[name].map(short).join(',');
  for (const name of ['divided', 'noise']) if (state[name]) values[name] = 1;
  const moved = Object.entries(state.moved);
  if (moved.length) values.moved = moved.map(([i, at]) => [i, ...at.map(short)].join(',')).join(';');
  return values;
}

const short = (x) => Number(x.toPrecision(5));

export function fromValues(values) {
  const state = { ...START, moved: {} };
  const within = (text, low, high) =>
    text !== undefined && Number(text) >= low && Number(text) <= high ? Number(text) : null;
  const pair = (text) => {
    const numbers = (text ?? '').split(',').map(Number);
    return numbers.length === 2 && numbers.every((x) => Number.isFinite(x) && Math.abs(x) <= 1000)
      ? numbers
      : null;
  };
  if (['orthonormal', 'plane', 'random'].includes(values.keys)) state.keys = values.keys;
  state.n = Math.round(within(values.n, 2, N_MAX) ?? START.n);
  state.d = Math.round(within(values.d, 2, D_MAX) ?? START.d);
  state.heads = values.heads === '2' ? 2 : 1;
  state.q = pair(values.q) ?? START.q;
  state.q2 = pair(values.q2) ?? START.q2;
  state.sigma2 = within(values.sigma2, 0, 4) ?? START.sigma2;
  state.alpha = within(values.alpha, 0, 4) ?? START.alpha;
  state.seed = Math.round(within(values.seed, 0, 1e6) ?? START.seed);
  state.divided = values.divided === '1';
  state.noise = values.noise === '1';
  for (const item of (values.moved ?? '').split(';').filter(Boolean)) {
    const [i, x, y] = item.split(',').map(Number);
    if (Number.isInteger(i) && i >= 0 && i < state.n && Math.abs(x) <= 3 && Math.abs(y) <= 3)
      state.moved[i] = [x, y];
  }
  return state;
}

/** Values: v_a and v_b are the ends of a segment, the others lie on an arc above it. */
export function valuesOf(n) {
  const v = new Float64Array(2 * n);
  v.set([-1, -0.55, 1, -0.55]);
  for (let i = 2; i < n; i++) {
    const angle = Math.PI * (n === 3 ? 0.5 : 1 - (i - 2) / (n - 3));
    v[2 * i] = 0.9 * Math.cos(angle);
    v[2 * i + 1] = -0.05 + 0.9 * Math.sin(angle);
  }
  return v;
}

function planeKeys({ n, moved }) {
  const k = new Float64Array(2 * n);
  for (let i = 0; i < n; i++) {
    const angle = (2 * Math.PI * i) / n;
    k.set(moved[i] ?? [Math.cos(angle), Math.sin(angle)], 2 * i);
  }
  return { k, d: 2, basis: [new Float64Array([1, 0]), new Float64Array([0, 1])] };
}

function orthonormalKeys({ n }) {
  const k = new Float64Array(n * n);
  for (let i = 0; i < n; i++) k[i * n + i] = 1;
  return { k, d: n, basis: [k.slice(0, n), k.slice(n, 2 * n)] };
}

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

function randomKeys({ n, d, seed }, engine) {
  const k = engine.random(n, d, seed);
  const unit = (a) => a.map((x) => x / Math.sqrt(dot(a, a)));
  const first = unit(k.slice(0, d));
  const second = k.slice(d, 2 * d);
  const along = dot(first, second);
  return { k, d, basis: [first, unit(second.map((x, j) => x - along * first[j]))] };
}

const known = { of: '', keys: null };

/** Keys, and their projections on the plane of k_a and k_b; the last result is cached. */
export function keysOf(state, engine) {
  const of = JSON.stringify([state.keys, state.n, state.d, state.seed, state.moved]);
  if (known.of !== of) Object.assign(known, { of, keys: makeKeys(state, engine) });
  return known.keys;
}

function makeKeys(state, engine) {
  const made =
    state.keys === 'plane'
      ? planeKeys(state)
      : state.keys === 'random'
        ? randomKeys(state, engine)
        : orthonormalKeys(state);
  const flat = new Float64Array(2 * state.n);
  for (let i = 0; i < state.n; i++) {
    const key = made.k.subarray(i * made.d, (i + 1) * made.d);
    flat[2 * i] = dot(key, made.basis[0]);
    flat[2 * i + 1] = dot(key, made.basis[1]);
  }
  return { ...made, flat };
}

/** A query of the plane in the space of the keys. */
const lift = ([x, y], { basis }) => basis[0].map((b, j) => x * b + y * basis[1][j]);

/** The output of every head, their mean, and its noisy copies. */
export function attend(state, engine) {
  const keys = keysOf(state, engine);
  const v = valuesOf(state.n);
  const scale = state.divided ? 1 / Math.sqrt(keys.d) : 1;
  const queries = state.heads === 2 ? [state.q, state.q2] : [state.q];
  const heads = queries.map((q) =>
    engine.weights({ n: state.n, d: keys.d, dv: 2, q: lift(q, keys), k: keys.k, v, scale }),
  );
  const mean = (get) => heads.reduce((sum, head) => sum + get(head), 0) / heads.length;
  const weights = Array.from({ length: state.n }, (_, i) => mean((head) => head.weights[i]));
  const output = [0, 1].map((j) => mean((head) => head.output[j]));
  return {
    keys,
    v,
    scale,
    queries,
    heads,
    weights,
    output,
    cloud: state.noise ? cloud(state, engine, keys, v, scale, queries) : null,
  };
}

/*
 * Scores depend on what lies in the plane of the queries alone, and there the noise has
 * the same law: two columns are drawn in place of d.
 */
function cloud(state, engine, keys, v, scale, queries) {
  const drawn = queries.map((q) =>
    engine.cloud({
      n: state.n,
      d: 2,
      dv: 2,
      q: Float64Array.from(q),
      k: keys.flat,
      v,
      scale,
      alpha: state.alpha,
      sigma2: state.sigma2,
      draws: DRAWS,
      seed: state.seed,
    }),
  );
  const mean = (get, count) =>
    Float64Array.from(
      { length: count },
      (_, i) => drawn.reduce((sum, one) => sum + get(one)[i], 0) / drawn.length,
    );
  return { outputs: mean((one) => one.outputs, 2 * DRAWS), first: mean((one) => one.first, DRAWS) };
}
