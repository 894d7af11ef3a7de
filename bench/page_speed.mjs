// SPDX-License-Identifier: MIT
// page_speed.mjs: causal prefill in f32 by the page's two modules, in node and, where the
// packages of its tests are there (tests/page/packages.sh), in Chromium.  In node it is the
// CPU time of a call, whatever else the machine does; in Chromium the least time of a call,
// which says something on a quiet machine only.
import { openBrowser, openPage, pageFile, ready } from '../tests/page/browser.mjs';
import { openModule } from '../tests/page/harness.mjs';

const CASES = [
  [4, 512, 64],
  [4, 512, 128],
  [1, 1024, 64],
];
const CALLS = 7;
const times = new Map(); // of a place and a set

for (const set of ['scalar', 'simd128']) {
  const engine = await openModule(set);
  engine.call('page_prefill', 1, 256, 64, 20); // until the code is compiled well
  times.set(
    `node ${set}`,
    CASES.map((one) => {
      const before = process.cpuUsage();
      engine.call('page_prefill', ...one, CALLS);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1e6 / CALLS;
    }),
  );
}
const browser = await openBrowser();
for (const set of ['scalar', 'simd128']) {
  const page = await openPage(browser);
  await page.goto(`file://${pageFile}?module=${set}#/tensors`);
  await ready(page);
  times.set(
    `chromium ${set}`,
    await page.evaluate(
      ([cases, calls]) => cases.map((one) => window.attendPage.engine.call('page_prefill', ...one, calls)),
      [CASES, CALLS],
    ),
  );
}
await browser.close();

console.log(
  'heads x n x d'.padEnd(16),
  'where'.padEnd(10),
  'scalar ms'.padStart(10),
  'simd128 ms'.padStart(11),
  'ratio'.padStart(7),
  'GFLOP/s'.padStart(8),
);
CASES.forEach(([heads, n, d], i) => {
  for (const where of ['node', 'chromium']) {
    const [slow, fast] = ['scalar', 'simd128'].map((set) => times.get(`${where} ${set}`)[i]);
    const work = 2 * 2 * heads * d * ((n * (n + 1)) / 2);
    console.log(
      `${heads} x ${n} x ${d}`.padEnd(16),
      where.padEnd(10),
      (1e3 * slow).toFixed(2).padStart(10),
      (1e3 * fast).toFixed(2).padStart(11),
      (slow / fast).toFixed(2).padStart(7),
      (work / fast / 1e9).toFixed(2).padStart(8),
    );
  }
});
