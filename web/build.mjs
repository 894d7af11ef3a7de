// SPDX-License-Identifier: MIT
// build.mjs OUT: one page of web/, the two modules in build/wasm-*, and what they say.
//
// Words, formulas and verdicts come from the modules themselves, run here in node.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import zlib from 'node:zlib';
import { openEngine } from './src/engine.js';

const web = path.dirname(fileURLToPath(import.meta.url));
const root = path.dirname(web);
const out = process.argv[2] ?? path.join(root, 'build', 'attend.html');
const work = path.join(root, 'build', 'page');
const moduleFile = (set, ending) => path.join(root, 'build', `wasm-${set}`, `page_module.${ending}`);
const wasm = {
  simd128: fs.readFileSync(moduleFile('simd128', 'wasm')),
  scalar: fs.readFileSync(moduleFile('scalar', 'wasm')),
};

fs.mkdirSync(work, { recursive: true });

/** Written when it is complete. */
function write(file, text) {
  fs.writeFileSync(`${file}.new`, text);
  fs.renameSync(`${file}.new`, file);
}

const engine = await openEngine(createRequire(import.meta.url)(moduleFile('scalar', 'js')), wasm.scalar);
const catalogue = engine.catalogue();

function judge() {
  const by = (reading) => engine.judgeAll(reading, catalogue.statements);
  return JSON.stringify({
    charity: by('charity'),
    letter: by('letter'),
    disputes: engine.disputes(catalogue.disputes),
  });
}

/** The files of a folder of examples with one of these endings: texts by name. */
function samples(folder, endings) {
  const from = path.join(root, 'examples', folder);
  const names = fs
    .readdirSync(from)
    .filter((name) => endings.includes(path.extname(name)))
    .sort();
  return Object.fromEntries(
    names.map((name) => [name.replace('.json', ''), fs.readFileSync(path.join(from, name), 'utf8')]),
  );
}

/** A module of the page's own, for what is made here. */
const made = (name, source) => {
  const file = path.join(work, `${name}.mjs`);
  write(file, source);
  return `--alias:page-${name}=${file}`;
};

function bundle(entry, aliases) {
  const args = [
    path.join(web, 'src', entry),
    '--bundle',
    '--minify',
    '--format=iife',
    '--target=es2020',
    '--charset=utf8',
    '--external:fs',
    '--external:path',
    '--log-level=warning',
    ...aliases,
  ];
  return execFileSync('esbuild', args, { encoding: 'utf8', maxBuffer: 1 << 28 });
}

const glue = `--alias:page-module=${moduleFile('scalar', 'js')}`;
/** The linker chooses the order in which calls by signature are declared. */
const statements = (set) => fs.readFileSync(moduleFile(set, 'js'), 'utf8').split(';').sort().join(';');
if (statements('scalar') !== statements('simd128')) throw new Error('the two modules have different glue');

const { style, ...words } = catalogue;
const worker = bundle('worker.js', [glue]);
const script = bundle('main.js', [
  glue,
  made('worker', `export default ${JSON.stringify(worker)};`),
  made('catalogue', `export default ${JSON.stringify(words)};`),
  made('judgements', `export default ${judge()};`),
  made('samples', `export default ${JSON.stringify(samples('answers', ['.json']))};`),
  made('solutions', `export default ${JSON.stringify(samples('solutions', ['.md', '.txt']))};`),
]);

/* A script ends where it says so, also within a string. */
const parts = {
  STYLE: style + fs.readFileSync(path.join(web, 'page.css'), 'utf8'),
  SIMD128: zlib.gzipSync(wasm.simd128, { level: 9 }).toString('base64'),
  SCALAR: wasm.scalar.toString('base64'),
  SCRIPT: script.replace(/<\/script/gi, '<\\/script'),
};
const page = fs
  .readFileSync(path.join(web, 'page.html'), 'utf8')
  .replace(/\/\*([A-Z0-9]+)\*\//g, (_, name) => parts[name]);
write(out, page);
console.log(`${path.relative(process.cwd(), out)}: ${(Buffer.byteLength(page) / 1e6).toFixed(2)} MB`);
