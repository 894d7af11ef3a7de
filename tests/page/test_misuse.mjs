// SPDX-License-Identifier: MIT
// What people do wrong, twice, or while something is under way: errors are said where they
// happen, and nothing on the screen belongs to something else.
import fs from 'node:fs';
import path from 'node:path';
import { check, finish, noise, saveNpy, test, tmp } from './harness.mjs';
import { go, openBrowser, openPage } from './browser.mjs';

const browser = await openBrowser();
const page = await openPage(browser);
const hash = () => page.evaluate(() => location.hash);
const textOf = (place) => page.locator(place).first().innerText();
const settled = () => page.waitForSelector('.questions .lab[data-state=done]');
const measured = () => page.waitForSelector('.tensors .results[data-state=done] .zoomed canvas');
/** A question from its start, whatever was shown before. */
async function open(question) {
  await go(page, '#/questions');
  await go(page, `#/questions/${question}`);
}

// ---- addresses ---------------------------------------------------------------------------

for (const bad of ['#/questions/%E0%A4%A', '#/%', '#/nothing/at/all?x=%', '#/questions/1c-ii?C=NaN&n=-3'])
  await test(`the address ${bad} opens the page`, async () => {
    const own = await openPage(browser, { hash: bad });
    check((await own.locator('main h1').count()) > 0, 'no view');
    check(own.wrong.length === 0, own.wrong.join('; '));
    await own.context().close();
  });

await test('a seed of 0 is kept', async () => {
  await open('1c-ii?seed=0&trials=200');
  check((await page.locator('[data-control=seed] .number').inputValue()) === '0', 'another seed');
});

await test('the address waits for a pause of a slider, and then has its place', async () => {
  await open('1c-ii?trials=200');
  const calls = await page.evaluate(async () => {
    const slider = document.querySelector('.questions [data-control=C] input[type=range]');
    const replaceState = history.replaceState.bind(history);
    let count = 0;
    history.replaceState = (...args) => {
      count++;
      replaceState(...args);
    };
    for (let x = 0; x < 60; x++) {
      slider.value = 300 + x;
      slider.dispatchEvent(new Event('input', { bubbles: true }));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const during = count;
    await new Promise((resolve) => setTimeout(resolve, 600));
    delete history.replaceState;
    return { during, after: count };
  });
  check(calls.during <= 3 && calls.after >= 1, JSON.stringify(calls));
  check((await hash()).includes('C='), await hash());
});

await test('a tab leads back to where its view was left', async () => {
  await go(page, '#/playground?n=20&q=3,1');
  await page.click('nav[aria-label=Views] >> text=Sheets');
  await page.click('nav[aria-label=Views] >> text=Playground');
  await page.waitForFunction(() => location.hash.includes('n=20'));
});

// ---- questions ---------------------------------------------------------------------------

await test('what is refused leaves no numbers of something else', async () => {
  await open('1c-ii?trials=200');
  await settled();
  await page.locator('.questions [data-control=d] .number').fill('4');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.questions .error:not([hidden])');
  check((await page.locator('.questions [data-row]').count()) === 0, 'old rows');
  check((await page.locator('.questions .lab .figures figure').count()) === 0, 'old plots');
});

await test('cancelled before its first row: the rows of before stay', async () => {
  await open('1c-i?trials=10000000&alpha=0.01');
  await settled();
  const before = await page.locator('.questions [data-row]').count();
  await page.click('[data-action=measure]');
  await page.click('[data-action=measure]');
  await page.waitForSelector('.questions .progress:not([hidden])');
  await page.click('.questions .progress button');
  await page.waitForFunction(() => document.querySelector('[data-said]')?.textContent.includes('Cancelled'));
  check((await page.locator('.questions [data-row]').count()) >= before && before > 0, 'rows are gone');
});

// ---- answers -----------------------------------------------------------------------------

await test('an answer that changes while it is graded gets no old grades', async () => {
  await go(page, '#/answer');
  await page.selectOption('#answer-sample', 'sheet-001');
  await page.evaluate(() => {
    document.querySelector('[data-action=grade]').click();
    const field = document.querySelector('[data-part="1b-ii.q"] input');
    field.value = '0 k_a';
    field.dispatchEvent(new Event('input', { bubbles: true }));
  });
  await page.waitForFunction(() => document.querySelector('.answer .total').textContent.includes('changed'));
  check((await page.locator('[data-number=points]').count()) === 0, 'grades of another answer');
});

await test('an address keeps answers that are not finished', async () => {
  const form = JSON.stringify({ '1b-ii': { q: 'beta (k_a +' }, '1a-i': { bounds: ['0', ''] } });
  const own = await openPage(browser, { hash: `#/answer?form=${encodeURIComponent(form)}` });
  check((await own.locator('[data-part="1b-ii.q"] input').inputValue()) === 'beta (k_a +', 'it is lost');
  check(
    (await own.locator('[data-part="1a-i.bounds"] input').first().inputValue()) === '0',
    'the pair is lost',
  );
  check(await own.locator('[data-part="1b-ii.q"] .field-error').isVisible(), 'nothing is said of it');
  await own.context().close();
});

// ---- tensors -----------------------------------------------------------------------------

await test('two clicks measure once', async () => {
  await go(page, '#/tensors');
  await page.click('[data-action=sample]');
  await measured();
  await page.dblclick('[data-action=measure-heads]');
  await measured();
  check((await page.locator('.tensors tr[data-head]').count()) === 6, 'another number of heads');
  check(await page.locator('.tensors > .error').isHidden(), await textOf('.tensors > .error'));
  check(await page.locator('.tensors > .progress').isHidden(), 'still under way');
});

await test('without q nothing is shown but the error', async () => {
  await page.selectOption('[data-control=tensor-q] select', '');
  await page.click('[data-action=measure-heads]');
  await page.waitForSelector('.tensors > .error:not([hidden])');
  check(await page.locator('.tensors .results').isHidden(), 'the old table');
});

/** Files of the page, measured: what it says. */
async function refused(files) {
  const own = await openPage(browser, { hash: '#/tensors' });
  await own.setInputFiles('#tensor-files', files);
  await own.waitForSelector('.tensors .toolbar:not([hidden])');
  await own.click('[data-action=measure-heads]');
  await own.waitForSelector('.tensors > .error:not([hidden])');
  const said = await own.locator('.tensors > .error').innerText();
  check(own.wrong.length === 0, own.wrong.join('; '));
  await own.context().close();
  return said;
}

for (const [shapes, words] of [
  [{ q: [1, 1, 0, 4], k: [1, 1, 3, 4] }, 'has no numbers'],
  [{ q: [0, 1, 2, 4], k: [0, 1, 3, 4] }, 'has no numbers'],
  [{ q: [1, 2, 4], k: [1, 1, 3, 4] }, 'axes'],
  [{ q: [2, 1, 2, 4], k: [2, 1, 3, 4], v: [3, 1, 3, 4] }, 'v has 3 x 1 x 3'],
  [{ q: [1, 3, 2, 4], k: [1, 2, 3, 4] }, 'no multiple'],
])
  await test(`tensors of ${JSON.stringify(shapes)} are refused`, async () => {
    const files = Object.entries(shapes).map(([name, shape]) =>
      saveNpy(
        `${name}.npy`,
        noise(
          shape.reduce((a, b) => a * b, 1),
          1,
        ),
        shape,
      ),
    );
    const said = await refused(files);
    check(said.includes(words), `'${said}' does not say '${words}'`);
  });

await test('every bad file is named', async () => {
  const bad = ['one.npy', 'two.safetensors'].map((name) => path.join(tmp, name));
  for (const file of bad) fs.writeFileSync(file, 'no tensor');
  await page.setInputFiles('#tensor-files', bad);
  await page.waitForFunction(() =>
    /one.npy: .*\n?.*two.safetensors: /s.test(document.querySelector('.tensors > .error').textContent),
  );
});

await test('nothing went wrong unseen', () => check(page.wrong.length === 0, page.wrong.join('; ')));
await browser.close();
finish();
