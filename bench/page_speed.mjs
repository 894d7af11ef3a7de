// SPDX-License-Identifier: MIT
// page_speed.mjs: causal prefill in f32 by the page's two modules, in node and in Chromium
// (whose packages tests/page/packages.sh fetches).  The modules take turns; a time is the
// median over the rounds of the least of a few calls.
import { openBrowser, openPage, pageUrl } from '../tests/page/browser.mjs';
import { openModule } from '../tests/page/harness.mjs';

const CASES = [
  [4, 512, 64],
  [4, 512, 128],
  [1, 1024, 64],
];
const SETS = ['scalar', 'simd128'];
const ROUNDS = 7;
const CALLS = 3;
const WARM_UP = 20; // calls before measuring, for the engine's compiler

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];

/** Seconds of a call, by set and case; prefill[set](case, calls) times one. */
async function measure(prefill) {
  const seconds = {};
  for (const set of SETS) await prefill[set]([1, 256, 64], WARM_UP);
  for (const one of CASES) {
    const times = Object.fromEntries(SETS.map((set) => [set, []]));
    for (let round = 0; round < ROUNDS; round++)
      for (const set of SETS) times[set].push(await prefill[set](one, CALLS));
    for (const set of SETS) (seconds[set] ??= []).push(median(times[set]));
  }
  return seconds;
}

async function inNode() {
  const prefill = {};
  for (const set of SETS) {
    const engine = await openModule(set);
    prefill[set] = (one, calls) => engine.call('page_prefill', ...one, calls);
  }
  return measure(prefill);
}

async function inChromium() {
  const browser = await openBrowser();
  const prefill = {};
  for (const set of SETS) {
    const page = await openPage(browser, { url: `${pageUrl}?module=${set}`, hash: '#/tensors' });
    prefill[set] = (one, calls) =>
      page.evaluate(
        ([own, count]) => window.attendPage.engine.call('page_prefill', ...own, count),
        [one, calls],
      );
  }
  const seconds = await measure(prefill);
  await browser.close();
  return seconds;
}

const found = { node: await inNode(), chromium: await inChromium() };
const line = (cells) =>
  console.log(cells.map((cell, i) => String(cell)[i < 2 ? 'padEnd' : 'padStart'](14)).join(''));
line(['heads x n x d', 'where', 'scalar ms', 'simd128 ms', 'ratio', 'GFLOP/s']);
CASES.forEach(([heads, n, d], i) => {
  const work = 2 * n * (n + 1) * heads * d; // two products of n (n + 1) / 2 scores
  for (const [where, { scalar, simd128 }] of Object.entries(found))
    line([
      `${heads} x ${n} x ${d}`,
      where,
      (1e3 * scalar[i]).toFixed(2),
      (1e3 * simd128[i]).toFixed(2),
      (scalar[i] / simd128[i]).toFixed(2),
      (work / simd128[i] / 1e9).toFixed(1),
    ]);
});
