// SPDX-License-Identifier: MIT
// The two modules in node, beside the command: the same numbers.
import fs from 'node:fs';
import path from 'node:path';
import { arrange, openTensors, writeNpy } from '../../web/src/files.js';
import { blank, writeForm } from '../../web/src/forms.js';
import { attend, fromValues, PRESETS, SHEETS, START, toValues } from '../../web/src/scene.js';
import {
  attend as command,
  attendLines,
  check,
  finish,
  near,
  noise,
  openModule,
  PRINTED,
  readNpy,
  root,
  saveNpy,
  test,
} from './harness.mjs';
import { flagsOf, PAIRS, rowsOf, STATISTICS, TRIALS } from './pairs.mjs';

/** A file as the browser passes it to the page. */
const fileOf = (parts, name) => Object.assign(new Blob(parts), { name });

const rows = [];
const engines = {};
for (const set of ['scalar', 'simd128'])
  engines[set] = await openModule(set, { onRow: (text) => rows.push(JSON.parse(text)) });
const { scalar } = engines;
const catalogue = scalar.catalogue();

const native = new Map(
  PAIRS.map(([, experiment, flags]) => [
    `${experiment} ${JSON.stringify(flags)}`,
    rowsOf(experiment, flags, 3),
  ]),
);

const answers = path.join(root, 'examples', 'answers');
const graded = fs.readdirSync(answers).map((name) => [name, attendLines('grade', path.join(answers, name))[0]]);
const judged = attendLines('sheets');
const solutions = path.join(root, 'examples', 'solutions');
const marked = fs
  .readdirSync(solutions)
  .map((name) => path.join(solutions, name))
  .map((file) => [file, attendLines('judge', file)]);

for (const [set, engine] of Object.entries(engines)) {
  await test(`${set}: kernel set`, () => check(engine.isa() === set, engine.isa()));

  for (const [, experiment, flags] of PAIRS)
    await test(`${set}: ${experiment} ${JSON.stringify(flags)}`, () => {
      rows.length = 0;
      engine.run({ experiment, flags, seed: 3, trials: TRIALS, sweeps: false });
      const want = native.get(`${experiment} ${JSON.stringify(flags)}`);
      check(
        rows.length === want.length && rows.length > 0,
        `${rows.length} rows, the command has ${want.length}`,
      );
      want.forEach((row, i) => {
        const words = `${experiment} ${row.quantity}`;
        check(
          rows[i].quantity === row.quantity && rows[i].holds === row.holds && rows[i].kind === row.kind,
          `${words}: another row`,
        );
        near(rows[i].theory, row.theory, 1e-7, `${words} theory`);
        // Rounding errors of 0 have no significant digits; f32 draws differ in the last bits.
        if (!(Math.abs(row.measured) < 1e-9)) near(rows[i].measured, row.measured, 1e-6, `${words} measured`);
      });
    });

  await test(`${set}: sheets`, () => {
    const want = judged;
    for (let i = 0; i < catalogue.statements; i += set === 'scalar' ? 7 : 13) {
      const got = engine.judge(i, 'charity');
      check(
        got.id === want[i].id && got.verdict === want[i].verdict && got.invariant === want[i].invariant,
        `${got.id}: ${got.verdict}`,
      );
      if (!(Math.abs(want[i].measured) < 1e-9))
        near(got.measured, want[i].measured, 1e-5, `${got.id} measured`);
    }
  });

  await test(`${set}: answers of the sheets`, () => {
    for (const [name, want] of graded) {
      const form = engine.form(fs.readFileSync(path.join(answers, name), 'utf8'));
      const got = engine.grade({ texts: form.texts, name });
      check(form.student === want.student, form.student);
      near(got.points, want.points, PRINTED, `${name} points`);
      want.parts.forEach((part, p) =>
        check(
          got.parts[p].verdict === part.verdict && got.parts[p].error === part.error,
          `${name} ${part.question}.${part.part}: ${got.parts[p].verdict}`,
        ),
      );
    }
  });

  await test(`${set}: solutions are marked as by the command`, () => {
    for (const [file, want] of marked) {
      const got = engine.mark({ text: fs.readFileSync(file, 'utf8'), name: 'a<b' });
      const last = want[want.length - 1];
      check(got.claims.length === want.length - 1 && want.length > 10, `${got.claims.length} claims`);
      got.claims.forEach((claim, i) => {
        for (const member of ['line', 'quote', 'question', 'verdict', 'claim', 'repair'])
          check(claim[member] === want[i][member], `line ${claim.line}: ${member} ${claim[member]}`);
        // The command draws by another kernel set: numbers within rounding.
        if (Math.abs(want[i].computed) > 1e-9)
          near(claim.computed, want[i].computed, 1e-5, `line ${claim.line} computed`);
      });
      near(got.points, last.points, PRINTED, 'points');
      check(
        got.questions.every(({ question, words }, i) => question === last.questions[i].question && words === last.questions[i].words),
        'questions',
      );
      for (const member of ['letters', 'conflicts', 'coverage'])
        check(JSON.stringify(got[member]) === JSON.stringify(last[member]), member);
      const notes = got.shown.match(/id="s1-c\d+"/g) ?? [];
      check(notes.length === got.claims.length, `${notes.length} notes`);
      check(got.shown.includes('<h2>a&lt;b</h2>') && !got.shown.includes('<script'), 'not escaped');
    }
  });

  await test(`${set}: texts that are no solution`, () => {
    for (const text of ['', ' \n', 'no formula', '$', '\\begin{cases}', '# '.repeat(2000)])
      check(Array.isArray(engine.mark({ text, name: 'x' }).claims), text);
    let said = '';
    try {
      engine.mark({ text: ' '.repeat((1 << 20) + 1), name: 'x' });
    } catch (error) {
      said = error.message;
    }
    check(said === 'more than 1 MiB', said);
  });

  for (const [id, , set2] of [...PRESETS, ...SHEETS])
    await test(`${set}: playground, ${id}`, () => {
      const state = { ...START, moved: {}, ...set2, noise: false };
      const got = attend(state, engine);
      got.queries.forEach((q, which) => {
        const { d, k, basis } = got.keys;
        const lifted = basis[0].map((b, j) => q[0] * b + q[1] * basis[1][j]);
        const files = [
          saveNpy('q.npy', lifted, [1, 1, 1, d]),
          saveNpy('k.npy', k, [1, 1, state.n, d]),
          saveNpy('v.npy', got.v, [1, 1, state.n, 2]),
        ];
        const out = path.join(path.dirname(files[0]), 'o.npy');
        const weights = path.join(path.dirname(files[0]), 'p.npy');
        const [q0, k0, v0] = files;
        command('run', ...flagsOf({ q: q0, k: k0, v: v0, out, weights, scale: 1 }));
        readNpy(weights).forEach((p, i) => near(got.heads[which].weights[i], p, 1e-12, `weight ${i}`));
        readNpy(out).forEach(
          (c, j) => Math.abs(c) > 1e-9 && near(got.heads[which].output[j], c, 1e-12, `output ${j}`),
        );
      });
    });

  for (const [causal, word] of [
    [0, 'none'],
    [1, 'top-left'],
    [2, 'bottom-right'],
  ])
    await test(`${set}: tensors, causal ${word}`, () => {
      const [hq, hkv, nq, nk, d] = [4, 2, 50, 60, 16];
      const q = noise(hq * nq * d, 1 + causal).map((x) => 3 * x);
      const [k, v] = [noise(hkv * nk * d, 7), noise(hkv * nk * d, 9)];
      const shape = (h, l) => [1, h, l, d];
      const files = {
        q: saveNpy('q.npy', q, shape(hq, nq), '<f4'),
        k: saveNpy('k.npy', k, shape(hkv, nk), '<f4'),
        v: saveNpy('v.npy', v, shape(hkv, nk), '<f4'),
      };
      const want = attendLines(
        'stats',
        '--q',
        files.q,
        '--k',
        files.k,
        '--v',
        files.v,
        '--causal',
        word,
        '--zoom',
        '3:13,5:15',
      );
      const tensor = (numbers, h, l) => ({
        bytes: Float32Array.from(numbers).buffer,
        dtype: 'f32',
        size: shape(h, l),
        stride: [h * l * d, l * d, d, 1],
      });
      engine.tensors({ q: tensor(q, hq, nq), k: tensor(k, hkv, nk), v: tensor(v, hkv, nk), causal });
      for (const head of want) {
        const got = engine.head(0, head.h, 16);
        check(got.character === head.character && got.rows === head.rows, `head ${head.h}: ${got.character}`);
        for (const name of [...STATISTICS, 'entropy', 'raw_variance', 'cancellation'])
          near(got[name], head[name], 2e-5, `head ${head.h} ${name}`);
        const mass = got.map.reduce((a, b) => a + b, 0);
        near(mass, head.rows, 1e-5, 'the map has all weights');
        const zoom = engine.zoom({ b: 0, h: head.h, query: 3, key: 5, rows: 10, columns: 10 });
        head.zoom.flat().forEach((p, i) => Math.abs(p) > 1e-6 && near(zoom[i], p, 1e-4, `zoom ${i}`));
      }
    });
}

// ---- what is refused, and files ----------------------------------------------------------

/** A call that throws an error with these words. */
function refuses(call, words) {
  let said = '';
  try {
    call();
  } catch (error) {
    said = error.message;
  }
  check(said.includes(words), `${call}: '${said}' does not say '${words}'`);
}

await test('flags out of range are refused with their name', () => {
  for (const [flags, words] of [
    [{ n: 1 }, 'n: 1 is outside'],
    [{ C: 'x' }, "C: 'x' is not a number"],
    [{ n: 2.5 }, 'not a whole number'],
    [{ nothing: 1 }, 'no flag of magnitude'],
  ]) {
    refuses(() => scalar.run({ experiment: 'magnitude', flags, trials: 10, sweeps: false }), words);
  }
});

await test('an experiment refuses what does not go together', () => {
  const flags = { n: 10, d: 4 };
  refuses(() => scalar.run({ experiment: 'magnitude', flags, trials: 10, sweeps: false }), '--d');
});

await test('forms: every kind of bad file is named with its place', () => {
  const bad = [
    ['[', 'line 1, column 2: '],
    ['[]', 'a list where an object should be'],
    ['{"9z": {}}', "no question '9z'"],
    ['{"1a-i": 3}', '1a-i: a number where'],
    ['{"1a-i": {"nothing": ""}}', "no part 'nothing'"],
    ['{"1a-i": {"sum": true}}', '1a-i.sum: true where a text'],
    ['{"1a-i": {"sum": "1 +"}}', '1a-i.sum: '],
    ['{"1a-i": {"bounds": ["0"]}}', '1 text where 2 are asked'],
    ['{"1a-i": {"sum": "1"}, "1a-i": {"sum": "2"}}', "duplicate key '1a-i'"],
    ['{"1a-i": {"sum": "1", "sum": "1"}}', "duplicate key 'sum'"],
    ['{"1a-i": {"sum": "1\\u0000"}}', 'the character U+0000'],
    ['{"1a-i": {"sum": "\\ud800"}}', 'half a character'],
    ['{"1a-i": {"sum": "\\u00a0"}}', '1a-i.sum: '],
    ['{"student": "\\udc00"}', 'half a character'],
    ['{"student": 3}', 'student: a number'],
    ['{"student": "a\\nb"}', 'control character'],
  ];
  for (const [text, words] of bad) refuses(() => scalar.form(text), words);
});

await test('forms: what is written is read again', () => {
  const form = blank(catalogue.parts);
  form.student = 'Ada';
  form.texts = catalogue.parts.map((part) => part.solution.map((text) => text));
  const again = scalar.form(writeForm(form, catalogue.parts));
  check(JSON.stringify(again) === JSON.stringify(form), 'another form');
  near(scalar.grade({ texts: again.texts }).points, 74, 0, 'the solutions have all points');
});

await test('files: .npy as the page writes it, .safetensors, and what is wrong with them', async () => {
  const file = fileOf([writeNpy([1, 2, 3, 4, 5, 6], [1, 2, 3])], 'a.npy');
  const [tensor] = await openTensors(file);
  check(
    tensor.shape.join() === '1,2,3' && tensor.dtype === 'f32' && tensor.bytes === 24,
    JSON.stringify(tensor.shape),
  );
  check(arrange(tensor, 'bhld').size.join() === '1,1,2,3', 'sizes');
  check(
    arrange({ shape: [2, 5, 4, 3], fortran: false, name: '' }, 'blhd').stride.join() === '60,3,12,1',
    'strides of blhd',
  );
  check(
    arrange({ shape: [2, 3], fortran: true, name: '' }, 'bhld').stride.join() === '0,0,1,2',
    'strides of Fortran',
  );
  const header = JSON.stringify({ q: { dtype: 'BF16', shape: [2, 3], data_offsets: [0, 12] } });
  const safe = (text, bytes) =>
    fileOf(
      [new Uint8Array(new BigUint64Array([BigInt(text.length)]).buffer), text, new Uint8Array(bytes)],
      'm.safetensors',
    );
  check((await openTensors(safe(header, 12)))[0].dtype === 'bf16', 'bf16');
  for (const [bad, words] of [
    [safe(header, 11), '11 bytes of data'],
    [safe(header, 13), '13 bytes of data'],
    [safe(header.replace('12]', '11]'), 11), 'ends before'],
    [safe(header.replace('[2,3]', '[2,2]'), 12), '12 bytes for'],
    [safe(header.replace('[0,12]', '[1,12]'), 12), 'q: begins at 1'],
    [safe(header.replace('[0,12]', '[-4,8]'), 8), 'q: no data_offsets'],
    [safe(header.replace('[2,3]', '[-2,-3]'), 12), 'q: no shape'],
    [safe(header.replace('[2,3]', '["2","3"]'), 12), 'q: no shape'],
    [safe(header.replace('"BF16"', '5'), 12), 'q: no dtype'],
    [safe(header.replace('BF16', 'I16'), 12), 'no tensor of F64'],
    [safe('{"q": 5}', 0), 'q: no dtype'],
    [safe('[]', 0), 'a list where an object should be'],
    [safe('{}', 0), 'no tensor of F64'],
    [safe(`{"q": 1, ${header.slice(1)}`, 12), "'q' is given twice"],
    [fileOf(['x'], 'b.npy'), 'not a .npy'],
    [fileOf(['short'], 'c.safetensors'), 'too short'],
  ]) {
    let said = '';
    await openTensors(bad).catch((error) => (said = error.message));
    check(said.includes(words), `'${said}' does not say '${words}'`);
  }
});

await test('the address of the playground keeps its state', () => {
  const state = {
    ...START,
    keys: 'plane',
    n: 7,
    q: [1.25, -2],
    moved: { 3: [0.5, 0.25] },
    noise: true,
    sigma2: 0.75,
    heads: 2,
  };
  const values = Object.fromEntries(new URLSearchParams(new URLSearchParams(toValues(state)).toString()));
  check(JSON.stringify(fromValues(values)) === JSON.stringify(state), JSON.stringify(fromValues(values)));
});

await test('every question and every quantity of the catalogue has its words', () => {
  check(
    catalogue.questions.length >= 16 && catalogue.parts.length === 46 && catalogue.experiments.length === 15,
    'a part is missing',
  );
  for (const question of catalogue.questions) {
    check(question.asks && question.answer, question.id);
    for (const one of [...question.figures, ...question.numbers])
      check(
        catalogue.experiments.some((e) => e.name === one.experiment),
        `${question.id}: ${one.experiment}`,
      );
    question.formulas.forEach((html) =>
      check(html.startsWith('<math'), `${question.id}: ${html.slice(0, 40)}`),
    );
  }
});

finish();
