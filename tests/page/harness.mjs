// SPDX-License-Identifier: MIT
// Tests in node: test(name, body), then finish().  The last line is the count.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEngine } from '../../web/src/engine.js';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
/**
 * The amount of work of a test, as tests/support/test.h explains; from WHOLE on, all
 * cases run.
 */
const SCALE = Number(process.env.ATTEND_TEST_SCALE || 1);
const SEED = BigInt(process.env.ATTEND_TEST_SEED || 1);
export const isWhole = SCALE >= 10;
export const tmp = fs.mkdtempSync(path.join(os.tmpdir(), 'attend-page-'));
process.on('exit', () => fs.rmSync(tmp, { recursive: true, force: true }));

let passed = 0;
let failed = 0;

export async function test(name, body) {
  if (process.env.ONLY && !name.includes(process.env.ONLY)) return;
  const began = Date.now();
  try {
    await body();
    passed++;
    if (process.env.VERBOSE) console.log(`ok   ${name} (${Date.now() - began} ms)`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name} (seed ${SEED}): ${error.stack?.split('\n').slice(0, 6).join('\n     ') ?? error}`);
  }
}

export function finish() {
  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  process.exitCode = failed ? 1 : 0;
}

export function check(truth, words) {
  if (!truth) throw new Error(words);
}

/** Relative error of a number of the command's JSON, which has 12 digits. */
export const PRINTED = 5e-12;

/** Equal within a relative tolerance; negated, so that NaN fails. */
export function near(got, want, share, words) {
  if (got === want || (got == null && want == null)) return;
  const room = share * Math.max(Math.abs(got), Math.abs(want), 1e-12);
  if (!(Math.abs(got - want) <= room)) throw new Error(`${words}: ${got} is not ${want}`);
}

/** At scale 1, `count` of the cases, drawn by the seed, in their order. */
export function sample(cases, count) {
  const wanted = Math.max(1, Math.floor(count * SCALE));
  if (isWhole || wanted >= cases.length) return cases;
  let state = SEED;
  const key = () => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    return Number(state >> 33n);
  };
  key();
  const drawn = cases.map((one, at) => [key(), at]).sort((a, b) => a[0] - b[0]);
  const kept = new Set(drawn.slice(0, wanted).map(([, at]) => at));
  return cases.filter((one, at) => kept.has(at));
}

const command = process.env.ATTEND_BIN || path.join(root, 'build', 'release', 'attend');

/** Standard output of the command, with the kernel set `scalar`. */
export function attend(...args) {
  return execFileSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: { ...process.env, ATTEND_ISA: 'scalar' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Lines of JSON. */
export const attendLines = (...args) =>
  attend(...args, '--json')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

export async function openModule(set, hooks) {
  const folder = path.join(root, 'build', `wasm-${set}`);
  const make = createRequire(import.meta.url)(path.join(folder, 'page_module.js'));
  return openEngine(make, fs.readFileSync(path.join(folder, 'page_module.wasm')), hooks);
}

/** A tensor as an .npy file of f64 or f32. */
export function saveNpy(name, numbers, shape, descr = '<f8') {
  const dict = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape.join(', ')},), }`;
  const header = `${dict.padEnd(Math.ceil((11 + dict.length) / 64) * 64 - 11)}\n`;
  const start = Buffer.from('\x93NUMPY\x01\0\0\0', 'latin1');
  start.writeUInt16LE(header.length, 8);
  const data = descr === '<f8' ? Float64Array.from(numbers) : Float32Array.from(numbers);
  const file = path.join(tmp, name);
  fs.writeFileSync(file, Buffer.concat([start, Buffer.from(header), Buffer.from(data.buffer)]));
  return file;
}

/** The numbers of an .npy file of f64. */
export function readNpy(file) {
  const bytes = fs.readFileSync(file);
  const from = 10 + bytes.readUInt16LE(8);
  return new Float64Array(bytes.buffer.slice(bytes.byteOffset + from, bytes.byteOffset + bytes.length));
}

/** Pseudorandom numbers, the same in every run. */
export function noise(count, seed) {
  let state = seed;
  return Float64Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}
