// SPDX-License-Identifier: MIT
// The page in Chromium: every view, its numbers beside the command's, what it asks of the
// network, and what a screen reader makes of it.
import fs from 'node:fs';
import path from 'node:path';
import {
  attend,
  attendLines,
  check,
  finish,
  isWhole,
  near,
  noise,
  PRINTED,
  root,
  sample,
  saveNpy,
  test,
  tmp,
} from './harness.mjs';
import { PAIRS, rowsOf, STATISTICS, TRIALS } from './pairs.mjs';
import { axe, go, numberOf, openBrowser, openPage, pageFile, ready, serve, tooWide } from './browser.mjs';

const VIEWS = [
  'playground',
  'questions',
  'questions/1c-ii?trials=200',
  'questions/1d-ii?trials=200',
  'solution',
  'answer',
  'tensors',
  'sheets',
];
const SHEETS = ['000', '001', '002', '003', '004'];
const browser = await openBrowser();
const isQuiet = (page) => check(page.wrong.length === 0, page.wrong.join('; '));
const settled = (page) => page.waitForSelector('.questions .lab[data-state=done]');

await test('one file below 3 MB, which names no other', () => {
  const text = fs.readFileSync(pageFile, 'utf8');
  check(Buffer.byteLength(text) < 3e6, `${Buffer.byteLength(text)} bytes`);
  check(!/(src|href)="(https?:)?\/\//.test(text), 'it names another file');
});

const page = await openPage(browser);
await test('from disk: vector instructions are used, and painted soon', async () => {
  check((await page.getAttribute('html', 'data-engine')) === 'simd128', 'another kernel set');
  const painted = await page.evaluate(
    () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
  );
  console.log(`  first paint after ${Math.round(painted)} ms`);
  isQuiet(page);
});

// ---- every view --------------------------------------------------------------------------

for (const [width, scheme] of [
  [1280, 'light'],
  [320, 'dark'],
])
  await test(`views at ${width} pixels, ${scheme}: fit, and axe finds nothing`, async () => {
    const own = await openPage(browser, { width, height: 850, scheme });
    const examined = scheme === 'light' ? VIEWS : sample(VIEWS, 3);
    for (const view of VIEWS) {
      await go(own, `#/${view}`);
      if (view.startsWith('questions/')) await settled(own);
      if (view === 'tensors') {
        await own.click('[data-action=sample]');
        await own.waitForSelector('.tensors .results[data-state=done] .zoomed canvas');
      }
      if (view === 'playground') await own.click('[data-preset=noise]');
      if (view === 'solution') {
        await own.selectOption('#solution-sample', 'ben.txt');
        await own.click('[data-action=mark]');
        await own.waitForSelector('.marked-sheet .words');
        // Also what lies in the notes.
        await own.evaluate(() =>
          document.querySelectorAll('.marked-sheet details').forEach((one) => (one.open = true)),
        );
      }
      check((await tooWide(own)) <= 0, `${view} is wider than the screen`);
      if (!examined.includes(view)) continue;
      // Only one sheet: axe takes seconds per sheet, and all cards have the same structure.
      if (view === 'sheets' && !isWhole) await own.selectOption('[data-control=sheet] select', sample(SHEETS, 1)[0]);
      const found = await axe(own);
      check(found.length === 0, `${view}: ${found.join('; ')}`);
    }
    isQuiet(own);
    await own.context().close();
  });

// ---- playground --------------------------------------------------------------------------

await test('playground: presets, drag, keys, address', async () => {
  await go(page, '#/playground');
  await page.click('[data-preset=copy]');
  await page.waitForFunction(() => Number(document.querySelector('[data-number=p_a]').dataset.value) > 0.99);
  near(await numberOf(page, 'p_a'), Math.exp(8) / (Math.exp(8) + 9), 1e-9, 'the weight of a copy');
  await page.click('[data-preset=ties]');
  await page.waitForFunction(
    () => Number(document.querySelector('[data-number=n_eff]').dataset.value) > 9.99,
  );
  near(await numberOf(page, 'entropy'), Math.log(10), 1e-9, 'entropy of ten equal weights');
  const box = await page.locator('svg.plane').first().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.85 * box.width, box.y + box.height / 2, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => Number(document.querySelector('[data-number=p_a]').dataset.value) > 0.9);
  await page.waitForFunction(() => location.hash.includes('q='));
  const hash = await page.evaluate(() => location.hash);
  const other = await openPage(browser, { hash });
  near(await numberOf(other, 'p_a'), await numberOf(page, 'p_a'), 1e-4, 'the address has the state');
  await other.context().close();
});

await test('playground: keyboard moves the query', async () => {
  await page.click('[data-preset=average]');
  const slider = page.locator('[data-control=q-direction] input[type=range]');
  await slider.focus();
  const before = await numberOf(page, 'p_a');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(
    (old) => Number(document.querySelector('[data-number=p_a]').dataset.value) !== old,
    before,
  );
});

await test('playground: frames while the query turns, n = 256 with noise', async () => {
  await go(page, '#/playground?n=256&noise=1&q=8,8');
  const found = await page.evaluate(async () => {
    const { views } = window.attendPage;
    const playground = views.get('playground');
    const times = [];
    for (let i = 0; i < 40; i++) {
      playground.state.q = [8 * Math.cos(i / 20), 8 * Math.sin(i / 20)];
      const began = performance.now();
      playground.draw();
      times.push(performance.now() - began);
      await new Promise(requestAnimationFrame);
    }
    times.sort((a, b) => a - b);
    return { least: times[0], median: times[20] };
  });
  console.log(
    `  a frame takes ${found.least.toFixed(1)} ms at best, ${found.median.toFixed(1)} ms in the middle`,
  );
  // Not a test of speed: the machine may be busy.
  if (process.env.ATTEND_TEST_SPEED === '1') check(found.median < 33, `${found.median} ms for a frame`);
});

// ---- numbers -----------------------------------------------------------------------------

// One run per question, and some more; test_module.mjs compares the numbers of all.
const firsts = PAIRS.filter(([question], at) => PAIRS.findIndex((one) => one[0] === question) === at);
const others = sample(
  PAIRS.filter((one) => !firsts.includes(one)),
  3,
);
let compared = 0;
for (const [question, experiment, flags] of [...firsts, ...others])
  await test(`questions: ${question} ${experiment} ${JSON.stringify(flags)} as the command`, async () => {
    const want = rowsOf(experiment, flags, 5);
    const query = new URLSearchParams({ x: experiment, ...flags, trials: TRIALS, seed: 5 });
    await go(page, '#/questions');
    await go(page, `#/questions/${question}?${query}`);
    await page.waitForSelector('.questions [data-row], .questions .error:not([hidden])');
    const shown = await page.evaluate(() =>
      Object.fromEntries(
        [...document.querySelectorAll('.questions [data-row] [data-number]')].map((one) => [
          one.dataset.number,
          one.dataset.value,
        ]),
      ),
    );
    // The first row of a quantity is at the run's own parameters.  The page may already have
    // rows of its sweeps, which have additional quantities.
    const first = new Map([...want].reverse().map((row) => [row.quantity, row]));
    const rows = [...first.values()].filter((row) => `${row.quantity}.theory` in shown);
    check(
      rows.length > 1 && Object.keys(shown).length >= 2 * rows.length,
      `${Object.keys(shown).length} numbers, ${rows.length} rows of the command`,
    );
    for (const row of rows)
      for (const which of ['theory', 'measured']) {
        const text = shown[`${row.quantity}.${which}`];
        if (row[which] === null) check(text === '', `${row.quantity} ${which}: ${text}`);
        else if (Math.abs(row[which]) > 1e-9)
          near(Number(text), row[which], 1e-6, `${row.quantity} ${which}`);
      }
    compared++;
  });
await test('at least 20 pairs of view and parameters, and 30 in all', () =>
  check(compared >= 20 && PAIRS.length >= 30, `${compared} of ${PAIRS.length}`));

// ---- questions ---------------------------------------------------------------------------

await test('questions: a slider moves the numbers, the plot follows, the address keeps it', async () => {
  await go(page, '#/questions');
  await go(page, '#/questions/1c-ii?trials=500');
  await settled(page);
  const before = await numberOf(page, 'var_w.theory');
  await page.locator('.questions [data-control=C] input[type=range]').focus();
  await page.keyboard.press('PageDown');
  await page.waitForFunction(
    (old) => Number(document.querySelector('[data-number="var_w.theory"]').dataset.value) !== old,
    before,
  );
  await page.waitForFunction(() => location.hash.includes('C='));
  await settled(page);
  check(
    (await page.locator('figure[data-figure="weight-density"] .drawing > svg').count()) === 1,
    'no plot',
  );
});

await test('questions: every plot has its numbers as a table, cells of maps and names included', async () => {
  await go(page, '#/questions');
  await go(page, '#/questions/2a-i?trials=200');
  await settled(page);
  const tables = await page.evaluate(() =>
    [...document.querySelectorAll('.questions .lab figure')].map((figure) => {
      figure.querySelector('.numbers-of').open = true;
      figure.querySelector('.numbers-of').dispatchEvent(new Event('toggle'));
      return [figure.dataset.figure, figure.querySelectorAll('.numbers-of tbody tr').length];
    }),
  );
  check(tables.length > 0 && tables.every(([, rows]) => rows > 0), JSON.stringify(tables));
  check(
    tables.some(([id, rows]) => id === 'weights' && rows > 3),
    JSON.stringify(tables),
  );
});

await test('questions: what a number refuses is said beside it', async () => {
  await go(page, '#/questions/1c-ii?trials=500');
  await page.locator('.questions [data-control=n] .number').fill('1');
  await page.keyboard.press('Enter');
  check(
    (await page.locator('.questions [data-control=n] .field-error').innerText()).includes('from 2'),
    'no message',
  );
});

await test('questions: parameters that do not go together are refused in place', async () => {
  await go(page, '#/questions');
  await go(page, '#/questions/1c-ii?n=20&d=4');
  await page.waitForSelector('.questions .error:not([hidden])');
  check((await page.locator('.questions .error').innerText()).includes('--d'), 'no message');
});

await test('questions: a long measurement shows progress and can be cancelled', async () => {
  await go(page, '#/questions');
  await go(page, '#/questions/1c-i?trials=5000000&alpha=0.01');
  await page.waitForSelector('.questions [data-row]');
  await page.click('[data-action=measure]');
  await page.waitForFunction(() =>
    /of 5,000,000 trials/.test(document.querySelector('.questions .progress')?.textContent ?? ''),
  );
  await page.click('.questions .progress button');
  await page.waitForFunction(() => document.querySelector('[data-said]')?.textContent.includes('Cancelled'));
  await go(page, '#/questions/1b-ii');
  await settled(page);
});

// ---- sheets ------------------------------------------------------------------------------

await test('sheets: verdicts and numbers of the command, by charity and by the letter', async () => {
  for (const reading of ['charity', 'letter']) {
    await go(page, `#/sheets?reading=${reading}`);
    await page.waitForFunction(
      (word) => document.querySelector('[data-control=reading] select')?.value === word,
      reading,
    );
    const shown = await page.evaluate(() =>
      Object.fromEntries(
        [...document.querySelectorAll('.card')].map((card) => [
          card.dataset.id,
          [card.dataset.verdict, card.querySelector('[data-number$=measured]')?.dataset.value],
        ]),
      ),
    );
    const want = sample(SHEETS, 2).flatMap((sheet) =>
      attendLines('sheets', sheet, '--reading', reading),
    );
    check(Object.keys(shown).length > 99 && want.length > 20, `${Object.keys(shown).length} cards`);
    for (const one of want) {
      check(
        shown[one.id][0] === one.verdict,
        `${one.id}: ${shown[one.id][0]}, the command says ${one.verdict}`,
      );
      if (one.measured !== null && Math.abs(one.measured) > 1e-9)
        near(Number(shown[one.id][1]), one.measured, 1e-5, one.id);
    }
  }
});

await test('sheets: filters, and a counterexample sets the sliders', async () => {
  await go(page, '#/sheets');
  await page.click('[data-verdict=fails].chip');
  check(
    (await page.locator('.card').count()) === (await page.locator('.card[data-verdict=fails]').count()),
    'another verdict is shown',
  );
  await page.fill('#sheet-search', 'variance');
  check((await page.locator('.card').count()) < 34, 'the search finds all');
  await page.fill('#sheet-search', '');
  await page.locator('.card [data-counterexample]').first().click();
  await page.waitForSelector('.questions [data-row]');
  const values = new URLSearchParams((await page.evaluate(() => location.hash)).split('?')[1]);
  check(values.has('n') || values.has('C') || values.has('beta'), 'no parameter is set');
  if (values.has('n'))
    check(
      (await page.locator('.questions [data-control=n] .number').inputValue()) === values.get('n'),
      'the slider is elsewhere',
    );
});

// ---- your solution -----------------------------------------------------------------------

await test('solution: a pasted text is marked as by the command, by keyboard alone', async () => {
  const file = path.join(root, 'examples', 'solutions', 'ben.txt');
  await go(page, '#/solution');
  await page.locator('#solution-text').focus();
  await page.keyboard.insertText(fs.readFileSync(file, 'utf8'));
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  check(
    (await page.evaluate(() => document.activeElement.dataset.action)) === 'mark',
    'the button does not follow the text',
  );
  await page.keyboard.press('Enter');
  await page.waitForSelector('.marked-sheet .words');
  const want = attendLines('judge', file).slice(0, -1);
  const shown = await page.evaluate((count) =>
    Array.from({ length: count }, (_, i) => document.getElementById(`s1-c${i + 1}`)?.closest('.remark').className ?? ''),
    want.length,
  );
  check(want.length > 10, `${want.length} claims`);
  want.forEach((claim, i) => check(shown[i].includes(claim.verdict), `claim ${i + 1}: ${shown[i]}`));
  const said = await page.locator('.solution-view [aria-live]').innerText();
  check(/^\d+ of \d+ formulas read, \d+ claims judged\.$/.test(said), said);
  // A note opens by keyboard.
  const note = await page.$('.marked-sheet details:not([open]) > summary');
  await note.focus();
  await page.keyboard.press('Enter');
  check(await note.evaluate((summary) => summary.parentNode.open), 'the note stays closed');
});

await test('solution: a link leads to its line, and the view stays', async () => {
  const link = page.locator('.marked-sheet .conflicts a').first();
  const line = (await link.getAttribute('href')).slice(1);
  await link.click();
  check((await page.evaluate(() => document.activeElement.id)) === line, 'another place has the focus');
  check((await page.evaluate(() => location.hash)) === '#/solution', 'another view');
});

await test('solution: a change drops the marks, and bad files are named', async () => {
  await page.locator('#solution-text').focus();
  await page.keyboard.press('End');
  await page.keyboard.type(' ');
  check((await page.locator('.marked-sheet .words').count()) === 0, 'marks of another text');
  check(await page.locator('[data-action=save-marks]').isDisabled(), 'old marks can be saved');
  const latin = path.join(tmp, 'latin.txt');
  fs.writeFileSync(latin, Buffer.from([0x6e, 0x61, 0xef, 0x76]));
  await page.setInputFiles('#solution-file', latin);
  await page.waitForFunction(
    () => document.querySelector('.solution-view > .error').textContent === 'latin.txt: this is not UTF-8',
  );
  await page.click('[data-action=clear-solution]');
  await page.click('[data-action=mark]');
  check((await page.locator('.solution-view > .error').innerText()) === 'There is no text.', 'no message');
});

// ---- your answer -------------------------------------------------------------------------

for (const sheet of sample(SHEETS, 2))
  await test(`answer: the file of sheet ${sheet} is graded as by the command`, async () => {
    const file = path.join(root, 'examples', 'answers', `sheet-${sheet}.json`);
    await go(page, '#/answer');
    await page.setInputFiles('#answer-file', file);
    await page.waitForFunction((name) => document.querySelector('#student').value === name, `sheet ${sheet}`);
    await page.click('[data-action=grade]');
    await page.waitForSelector('[data-number=points]');
    const [want] = attendLines('grade', file);
    near(await numberOf(page, 'points'), want.points, PRINTED, 'points');
    for (const part of want.parts.filter((one) => one.verdict !== 'empty')) {
      const name = `${part.question}.${part.part}`;
      near(await numberOf(page, `${name}.points`), part.points, PRINTED, name);
    }
  });

await test('answer: what cannot be parsed is said where it stands, and a file is written', async () => {
  const field = page.locator('[data-part="1b-ii.q"] input');
  await field.fill('beta (k_a +');
  check((await page.locator('[data-part="1b-ii.q"] .field-error').innerText()).length > 5, 'no message');
  await page.click('[data-action=grade]');
  check(
    (await page.locator('.answer > .error').innerText()).startsWith('1b-ii.q: '),
    'the place is not named',
  );
  await field.fill('beta (k_a + k_b)');
  const [saved] = await Promise.all([page.waitForEvent('download'), page.click('[data-action=save]')]);
  const file = path.join(tmp, 'answer.json');
  await saved.saveAs(file);
  check(JSON.parse(fs.readFileSync(file, 'utf8'))['1b-ii'].q === 'beta (k_a + k_b)', 'another formula');
  attend('grade', file);
});

// ---- your tensors ------------------------------------------------------------------------

await test('tensors: files are measured as by the command', async () => {
  const [hq, hkv, nq, nk, d] = [4, 2, 40, 40, 16];
  const files = {
    q: saveNpy(
      'q.npy',
      noise(hq * nq * d, 21).map((x) => 4 * x),
      [1, hq, nq, d],
      '<f4',
    ),
    k: saveNpy('k.npy', noise(hkv * nk * d, 22), [1, hkv, nk, d], '<f4'),
    v: saveNpy('v.npy', noise(hkv * nk * d, 23), [1, hkv, nk, d], '<f4'),
  };
  await go(page, '#/tensors');
  await page.setInputFiles('#tensor-files', Object.values(files));
  for (const [causal, word] of [
    ['1', 'top-left'],
    ['0', 'none'],
  ]) {
    await page.selectOption('[data-control=causal] select', causal);
    await page.click('[data-action=measure-heads]');
    await page.waitForSelector('.tensors .results[data-state=measuring], .tensors .results[data-state=done]');
    await page.waitForSelector('.tensors .results[data-state=done] tr[data-head="0.3"]');
    const want = attendLines('stats', '--q', files.q, '--k', files.k, '--v', files.v, '--causal', word);
    for (const head of want)
      for (const name of STATISTICS)
        near(await numberOf(page, `0.${head.h}.${name}`), head[name], 2e-5, `head ${head.h} ${name}`);
    check((await page.locator('.tensors figure[data-figure]').count()) === 3, 'no maps');
  }
});

await test('tensors: a bad file is named, the others stay', async () => {
  const bad = path.join(tmp, 'bad.npy');
  fs.writeFileSync(bad, 'no tensor');
  await page.setInputFiles('#tensor-files', bad);
  await page.waitForFunction(() =>
    document.querySelector('.tensors .error').textContent.startsWith('bad.npy: '),
  );
});

// ---- network, modules --------------------------------------------------------------------

await test('nothing leaves the page', () => {
  const out = page.requests.filter((url) => !/^(file|blob|data):/.test(url));
  check(out.length === 0, out.join(' '));
  isQuiet(page);
});

await test('from a server: one request; without vector instructions: the other module, the same numbers', async () => {
  const server = await serve();
  const own = await openPage(browser, { url: server.url, hash: '#/playground?q=3,1' });
  check(server.asked.join() === '/attend.html', server.asked.join());
  const bare = await openPage(browser, { hash: '?' });
  await bare.goto(`file://${pageFile}?module=scalar#/playground?q=3,1`);
  await ready(bare);
  check((await bare.getAttribute('html', 'data-engine')) === 'scalar', 'another kernel set');
  near(await numberOf(bare, 'p_a'), await numberOf(own, 'p_a'), 1e-12, 'p_a');
  isQuiet(own);
  server.close();
  await own.context().close();
  await bare.context().close();
});

// ---- every control, in the long tests ------------------------------------------------------

/**
 * Moves every slider of a view to both ends, selects every option, presses every chip.
 */
async function useControls(own, view) {
  const count = await own.locator(`${view} [data-control]`).count();
  for (let c = 0; c < count; c++) {
    const control = own.locator(`${view} [data-control]`).nth(c);
    if (!(await control.isVisible().catch(() => false))) continue;
    const range = control.locator('input[type=range]');
    const select = control.locator('select');
    const box = control.locator('input[type=checkbox]');
    if (await range.count()) for (const key of ['End', 'Home', 'ArrowRight']) await range.press(key);
    else if (await select.count())
      for (const value of await select.locator('option').evaluateAll((all) => all.map((one) => one.value))) {
        if ((await own.locator(`${view} [data-control]`).nth(c).locator('select').count()) === 0) break;
        await own.locator(`${view} [data-control]`).nth(c).locator('select').selectOption(value);
      }
    else if (await box.count()) {
      await box.click();
      await own.locator(`${view} [data-control]`).nth(c).locator('input[type=checkbox]').click();
    }
  }
}

if (isWhole) {
  const own = await openPage(browser, { hash: '#/playground' });
  await test('every control of the playground', async () => {
    for (const chip of await own.locator('.playground .chip').all()) await chip.click();
    for (const keys of ['plane', 'random', 'orthonormal']) {
      await own.selectOption('.playground [data-control=keys] select', keys);
      await useControls(own, '.playground');
    }
    isQuiet(own);
  });
  const ids = await own.evaluate(() => window.attendPage.catalogue.questions.map((one) => one.id));
  for (const id of ids)
    await test(`every control of question ${id}`, async () => {
      await go(own, '#/questions');
      await go(own, `#/questions/${id}?trials=200`);
      await own.evaluate(() =>
        document.querySelectorAll('.questions details').forEach((one) => (one.open = true)),
      );
      await useControls(own, '.questions .lab');
      if ((await own.locator('.questions .lab').count()) > 0) {
        await own.click('[data-action=reset]');
        await settled(own);
        check((await own.locator('.questions .lab figure svg').count()) > 0, 'no plot');
      }
      isQuiet(own);
    });
  await test('every control of the sheets, and all judged again', async () => {
    await go(own, '#/sheets');
    await useControls(own, '.sheets');
    for (const chip of await own.locator('.sheets .chip').all()) await chip.click();
    await own.click('[data-action=judge-again]');
    await own.waitForFunction(
      () => /judged in this browser; 0 verdicts differ/.test(document.querySelector('.sheets').textContent),
      null,
      { timeout: 600_000 },
    );
    isQuiet(own);
  });
  await test('every control of the answer', async () => {
    await go(own, '#/answer');
    for (const name of ['sheet-000', 'sheet-001', 'sheet-002', 'sheet-003', 'sheet-004'])
      await own.selectOption('#answer-sample', name);
    for (const field of await own.locator('.part input').all()) await field.fill('1 +');
    await own.click('[data-action=clear]');
    for (const select of await own.locator('.part select').all()) await select.selectOption({ index: 1 });
    await own.click('[data-action=grade]');
    await own.waitForSelector('[data-number=points]');
    await own.click('[data-control=hints] input');
    isQuiet(own);
  });
  await test('every control of the tensors', async () => {
    await go(own, '#/tensors');
    await own.click('[data-action=sample]');
    await own.waitForSelector('.tensors .results[data-state=done] .zoomed canvas');
    for (const head of await own.locator('.heads button').all()) await head.click();
    await own.locator('.map-panel canvas').first().click();
    await useControls(own, '.tensors .map-panel');
    await useControls(own, '.tensors .toolbar');
    isQuiet(own);
  });
  await own.context().close();
}

await browser.close();
finish();
