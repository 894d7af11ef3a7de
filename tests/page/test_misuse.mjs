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
/** Opens a question in its initial state, whatever the page showed before. */
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

await test('an address that is set while another waits to be written is not lost', async () => {
  await open('1c-ii?trials=200');
  const shown = await page.evaluate(async () => {
    const slider = document.querySelector('.questions [data-control=C] input[type=range]');
    slider.value = 321;
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    // Blocks until the address change is due, then sets another address at once.
    const until = performance.now() + 400;
    while (performance.now() < until);
    location.hash = '#/sheets';
    await new Promise((resolve) => setTimeout(resolve, 500));
    return location.hash;
  });
  check(shown === '#/sheets', shown);
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
  await open('1c-ii?trials=200');
  await settled();
  await page.locator('.questions [data-control=trials] .number').fill('10000000');
  await page.keyboard.press('Enter');
  const before = await page.locator('.questions [data-row]').count();
  await page.click('[data-action=measure]');
  await page.click('[data-action=measure]');
  await page.waitForSelector('.questions .progress:not([hidden])');
  await page.click('.questions .progress button');
  await page.waitForFunction(() => document.querySelector('[data-said]')?.textContent.includes('Cancelled'));
  check((await page.locator('.questions [data-row]').count()) >= before && before > 0, 'rows are gone');
});

await test('defaults set every control back', async () => {
  await open('1c-ii?trials=777&seed=9&C=3');
  await settled();
  await page.focus('[data-action=reset]');
  await page.keyboard.press('Enter');
  check((await page.locator('[data-control=seed] .number').inputValue()) === '1', 'the seed stays');
  check(!(await textOf('[data-action=measure]')).includes('777'), 'the trials stay');
  check(await page.evaluate(() => document.activeElement.dataset.action === 'reset'), 'the focus is lost');
});

for (const [view, place] of [
  ['playground', '[data-control=heads] select'],
  ['sheets', '[data-control=sheet] select'],
])
  await test(`the keyboard stays where it was: ${place}`, async () => {
    await go(page, `#/${view}`);
    await page.focus(`.${view} ${place}`);
    for (const value of await page
      .locator(`.${view} ${place} option`)
      .evaluateAll((all) => all.map((o) => o.value))) {
      await page.selectOption(`.${view} ${place}`, value);
      const same = await page.evaluate(
        (where) => document.activeElement === document.querySelector(where),
        `.${view} ${place}`,
      );
      check(same, `the focus is lost at '${value}'`);
    }
  });

await test('a form does not leave the page', async () => {
  await page.evaluate(() => {
    const form = document.createElement('form');
    form.action = 'http://127.0.0.1:9/';
    document.body.append(form);
    form.submit();
    form.remove();
  });
  await page.waitForTimeout(200);
  check(page.url().startsWith('file:'), page.url());
  check(page.wrong.pop()?.includes('form-action'), 'nothing is said of it');
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

await test('a file of answers that is not UTF-8 is refused', async () => {
  const file = path.join(tmp, 'latin.json');
  fs.writeFileSync(file, Buffer.from('{"student": "J\xfcrgen"}', 'latin1'));
  await page.setInputFiles('#answer-file', file);
  await page.waitForFunction(
    () => document.querySelector('.answer > .error').textContent === 'latin.json: this is not UTF-8',
  );
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

await test('a setting that cannot be used is named, and none is measured', async () => {
  await page.click('[data-action=sample]');
  await measured();
  await page.locator('[data-control=noise] .number').fill('1,5');
  await page.keyboard.press('Enter');
  await page.click('[data-action=measure-heads]');
  await page.waitForSelector('.tensors > .error:not([hidden])');
  check((await textOf('.tensors > .error')).includes('1,5'), await textOf('.tensors > .error'));
  await page.locator('[data-control=noise] .number').fill('0.2');
  await page.keyboard.press('Enter');
});

await test('settings that changed are said beside the old table, and kept by the address', async () => {
  await page.click('[data-action=measure-heads]');
  await measured();
  await page.selectOption('[data-control=causal] select', '0');
  check(await page.locator('.tensors .results .note').isVisible(), 'nothing is said');
  await page.waitForFunction(() => location.hash.includes('causal=0'));
});

await test('a file dropped anywhere does not replace the page', async () => {
  const kept = await page.evaluate(() => {
    const event = new DragEvent('drop', {
      bubbles: true,
      cancelable: true,
      dataTransfer: new DataTransfer(),
    });
    document.querySelector('header').dispatchEvent(event);
    return event.defaultPrevented;
  });
  check(kept, 'it would');
});

// v is added last: it stays among the files.
const own = await openPage(browser, { hash: '#/tensors' });
for (const [shapes, words] of [
  [{ q: [1, 1, 0, 4], k: [1, 1, 3, 4] }, 'has no numbers'],
  [{ q: [0, 1, 2, 4], k: [0, 1, 3, 4] }, 'has no numbers'],
  [{ q: [1, 2, 4], k: [1, 1, 3, 4] }, 'axes'],
  [{ q: [1, 3, 2, 4], k: [1, 2, 3, 4] }, 'not a multiple'],
  [{ q: [2, 1, 2, 4], k: [2, 1, 3, 4], v: [3, 1, 3, 4] }, 'v has 3 x 1 x 3'],
])
  await test(`tensors of ${JSON.stringify(shapes)} are refused`, async () => {
    const files = Object.entries(shapes).map(([name, shape]) =>
      saveNpy(`${name}.npy`, noise(shape.reduce((a, b) => a * b, 1), 1), shape),
    );
    await own.setInputFiles('#tensor-files', files);
    await own.waitForSelector('.tensors .toolbar:not([hidden])');
    await own.click('[data-action=measure-heads]');
    await own.waitForFunction(
      (said) => document.querySelector('.tensors > .error:not([hidden])')?.textContent.includes(said),
      words,
      { timeout: 20_000 },
    );
    check(own.wrong.length === 0, own.wrong.join('; '));
  });
await own.context().close();

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
