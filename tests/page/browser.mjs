// SPDX-License-Identifier: MIT
// Chromium with the page in it.
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { root } from './harness.mjs';

const require = createRequire(path.join(root, 'build', 'page_tests', 'package.json'));
const { chromium } = require('playwright-core');
export const axeSource = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
export const pageFile = path.join(root, 'build', 'attend.html');
export const pageUrl = `file://${pageFile}`;
const PATIENCE = 120_000; // a limit for hung tests, not for slow ones

export async function openBrowser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
}

/** A page that records its errors and its requests. */
export async function openPage(
  browser,
  { width = 1280, height = 900, scheme = 'light', url = pageUrl, hash = '' } = {},
) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: 'reduce',
    acceptDownloads: true,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.wrong = [];
  page.requests = [];
  page.on('pageerror', (error) => page.wrong.push(error.message));
  page.on('console', (message) => message.type() === 'error' && page.wrong.push(message.text()));
  page.on('request', (request) => page.requests.push(request.url()));
  await page.goto(url + hash);
  await ready(page);
  return page;
}

export const ready = (page) => page.waitForFunction(() => document.documentElement.dataset.engine);

/** Navigates to another address in the same page. */
export async function go(page, hash) {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
  await page.waitForFunction(
    (to) => decodeURIComponent(location.hash).split('?')[0] === decodeURIComponent(to).split('?')[0],
    hash,
  );
}

/** Violations that axe finds in the page in its current state. */
export async function axe(page) {
  await page.evaluate(axeSource);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.map(
    (one) =>
      `${one.id}: ${one.nodes
        .slice(0, 3)
        .map((node) => node.target.join(' '))
        .join(', ')}`,
  );
}

/** Whether an element is wider than the screen. */
export const tooWide = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Serves the page by a plain HTTP server, and records every request. */
export async function serve() {
  const asked = [];
  const server = http.createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(request.url === '/attend.html' ? 200 : 404, { 'content-type': 'text/html' });
    response.end(request.url === '/attend.html' ? fs.readFileSync(pageFile) : '');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/attend.html`, asked, close: () => server.close() };
}

/** A number that the page shows, at full precision. */
export async function numberOf(page, name) {
  const text = await page.locator(`[data-number="${name}"]`).first().getAttribute('data-value');
  return text === '' ? null : Number(text);
}
