// SPDX-License-Identifier: MIT
import { attendLines } from './harness.mjs';

// Parameters at which the page is compared with the command: question, experiment, flags.
export const PAIRS = [
  ['1a-ii', 'copy', {}],
  ['1a-ii', 'copy', { n: 100, beta: 6 }],
  ['1a-iii', 'copy', { n: 50, beta: 20, dtype: 'f32' }],
  ['1a-iv', 'copy', { norm: 2, cosine: 0.5 }],
  ['1b-i', 'extract', {}],
  ['1b-i', 'extract', { d: 24, m: 3, p: 4, angle: 40 }],
  ['1b-ii', 'average', {}],
  ['1b-ii', 'average', { n: 1000, beta: 7 }],
  ['1b-ii', 'average', { m: 4, n: 40, beta: 5 }],
  ['1c-i', 'window', { n: 20, C: 6, alpha: 0.01 }],
  ['1c-i', 'window', { C: 3, sigma2: 0.2 }],
  ['1c-ii', 'magnitude', {}],
  ['1c-ii', 'magnitude', { C: 4, n: 100 }],
  ['1c-ii', 'magnitude', { C: 2, sigma2: 1.5, n: 3 }],
  ['1c-ii', 'heads', { C: 5 }],
  ['1d-i', 'heads', { C: 12, n: 30 }],
  ['1d-ii', 'heads', { queries: 'plus-minus', C: 2 }],
  ['1d-ii', 'heads', { queries: 'unscaled' }],
  ['1e', 'one-vs-two', { C: 8 }],
  ['1e', 'one-vs-two', { C: 3, n: 100, sigma2: 1 }],
  ['1e', 'how-many-heads', { m: 4, h: 2, n: 64 }],
  ['2a-i', 'permute', { T: 24, d: 16 }],
  ['2a-ii', 'permute', { T: 16, d: 16, mask: 'causal' }],
  ['2b-i', 'positions', { T: 32 }],
  ['2b-ii', 'positions', { positions: 'rope', T: 24, offset: 5 }],
  ['3g', 'variants', { n: 24, m: 3 }],
  ['many-keys', 'dispersion', { n: 200, D: 6 }],
  ['random-scores', 'phases', { n: 128, d: 16, S: 2 }],
  ['few-dimensions', 'capacity', { n: 64, d: 10 }],
  ['1c-ii', 'magnitude', { C: 6, alpha: 0.02, n: 8 }],
];

/** Statistics of heads that the page, its engine and the command all have. */
export const STATISTICS = 'entropy_share n_eff top_weight margin sink1 self previous distance'.split(' ');

/** Trials that draw the same random numbers in the page and in the command. */
export const TRIALS = 300;

/** --name value of each. */
export const flagsOf = (flags) => Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);

/** Rows that `attend lab` prints for a pair. */
export const rowsOf = (experiment, flags, seed) =>
  attendLines('lab', experiment, ...flagsOf({ ...flags, trials: TRIALS, seed, threads: 1 }), '--no-sweep');
