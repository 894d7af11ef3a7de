// SPDX-License-Identifier: MIT
// pictures.mjs: every view at 1280 and 390 pixels, light and dark, into
// build/page_tests/pictures, and the picture of the documents, docs/images/page.png.
import fs from 'node:fs';
import path from 'node:path';
import { openBrowser, openPage } from './browser.mjs';
import { root } from './harness.mjs';

const SHOTS = [
  ['playground', '#/playground?noise=1&q=10,10'],
  ['two-heads', '#/playground?heads=2&q=10,0&q2=0,10&noise=1&n=40'],
  ['start', '#/questions'],
  ['question', '#/questions/1c-ii', (page) => page.waitForSelector('.lab[data-state=done]')],
  ['heads', '#/questions/1d-ii', (page) => page.waitForSelector('.lab[data-state=done]')],
  ['sheets', '#/sheets?verdict=fails'],
  ['solution', '#/solution', mark],
  ['answer', '#/answer', grade],
  ['tensors', '#/tensors', measure],
];

async function mark(page) {
  await page.selectOption('#solution-sample', 'ben.txt');
  await page.click('[data-action=mark]');
  await page.waitForSelector('.marked-sheet .words');
}

async function grade(page) {
  await page.selectOption('#answer-sample', 'sheet-001');
  await page.click('[data-action=grade]');
  await page.waitForSelector('[data-number=points]');
}

async function measure(page) {
  await page.click('[data-action=sample]');
  await page.waitForSelector('.results[data-state=done] .zoomed canvas');
}

const folder = path.join(root, 'build', 'page_tests', 'pictures');
fs.mkdirSync(folder, { recursive: true });
const only = process.argv[2];
const browser = await openBrowser();
for (const [width, height, scheme] of [
  [1280, 900, 'light'],
  [390, 844, 'dark'],
])
  for (const [name, hash, wait] of SHOTS) {
    if (only && only !== name) continue;
    const page = await openPage(browser, { width, height, scheme, hash });
    await wait?.(page);
    await page.waitForTimeout(300);
    const long = name === 'sheets' || name === 'answer';
    await page.screenshot({ path: path.join(folder, `${name}-${width}-${scheme}.png`), fullPage: !long });
    await page.context().close();
  }
if (!only || only === 'docs') {
  const page = await openPage(browser, { width: 1180, height: 880, hash: '#/playground?noise=1&q=7,7' });
  await page.waitForTimeout(300);
  await page.screenshot({ path: path.join(root, 'docs', 'images', 'page.png') });
}
await browser.close();
