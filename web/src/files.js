// SPDX-License-Identifier: MIT
// .npy and .safetensors in the browser: headers are read at once, tensors on demand.
import { DTYPE_BYTES } from './engine.js';
import { isObject, readObject } from './json.js';

const NPY = { '<f8': 'f64', '<f4': 'f32', '<f2': 'f16' };
const SAFE = { F64: 'f64', F32: 'f32', F16: 'f16', BF16: 'bf16' };
const HEADER_MOST = 100_000_000;

const bytesOf = async (file, from, to) => new Uint8Array(await file.slice(from, to).arrayBuffer());
const product = (shape) => shape.reduce((a, b) => a * b, 1);

async function readNpy(file) {
  const start = await bytesOf(file, 0, 12);
  const major = start[6];
  if (start.length < 10 || String.fromCharCode(...start.slice(0, 6)) !== '\x93NUMPY')
    throw new Error('this is not a .npy file');
  if (major < 1 || major > 3) throw new Error(`.npy of version ${major}`);
  const wide = major > 1;
  const view = new DataView(start.buffer);
  const length = wide ? view.getUint32(8, true) : view.getUint16(8, true);
  const from = wide ? 12 : 10;
  const header = new TextDecoder().decode(await bytesOf(file, from, from + length));
  const descr = header.match(/'descr'\s*:\s*'([^']*)'/)?.[1];
  const fortran = header.match(/'fortran_order'\s*:\s*(True|False)/)?.[1] === 'True';
  const shape = header
    .match(/'shape'\s*:\s*\(([^)]*)\)/)?.[1]
    .split(',')
    .map((x) => x.trim())
    .filter(Boolean)
    .map(Number);
  if (!descr || !shape || shape.some((x) => !Number.isInteger(x) || x < 0))
    throw new Error('its header cannot be read');
  if (!NPY[descr]) throw new Error(`dtype ${descr}: only <f8, <f4 and <f2 are read`);
  return [entry(file, file.name.replace(/\.npy$/, ''), NPY[descr], shape, from + length, fortran)];
}

const isCount = (x) => Number.isSafeInteger(x) && x >= 0;

/** Validates one entry of the header. */
function checkEntry(name, one) {
  const { dtype, shape, data_offsets: at } = isObject(one) ? one : {};
  if (typeof dtype !== 'string') throw new Error(`${name}: no dtype`);
  if (!Array.isArray(shape) || !shape.every(isCount)) throw new Error(`${name}: no shape of whole numbers`);
  if (!Array.isArray(at) || at.length !== 2 || !at.every(isCount) || at[0] > at[1])
    throw new Error(`${name}: no data_offsets`);
}

/** Tensors follow each other without overlap or hole, to the end of the file. */
function checkPlaces(entries, end) {
  let from = 0;
  for (const [name, { data_offsets: at }] of [...entries].sort(
    (a, b) => a[1].data_offsets[0] - b[1].data_offsets[0] || a[1].data_offsets[1] - b[1].data_offsets[1],
  )) {
    if (at[0] !== from) throw new Error(`${name}: begins at ${at[0]}, the tensor before ends at ${from}`);
    from = at[1];
  }
  if (from !== end) throw new Error(`${end} bytes of data where its tensors have ${from}`);
}

async function readSafetensors(file) {
  const start = await bytesOf(file, 0, 8);
  if (start.length < 8) throw new Error('it is too short for a .safetensors file');
  const length = Number(new DataView(start.buffer).getBigUint64(0, true));
  if (length > HEADER_MOST || 8 + length > file.size) throw new Error('its header is longer than the file');
  const header = readObject(new TextDecoder().decode(await bytesOf(file, 8, 8 + length)));
  const entries = Object.entries(header).filter(([name]) => name !== '__metadata__');
  for (const [name, one] of entries) checkEntry(name, one);
  checkPlaces(entries, file.size - 8 - length);
  const known = entries.filter(([, one]) => SAFE[one.dtype]);
  if (known.length === 0)
    throw new Error(`no tensor of ${Object.keys(SAFE).join(', ')} among its ${entries.length}`);
  return known.map(([name, one]) => {
    const [from, to] = one.data_offsets;
    const made = entry(file, name, SAFE[one.dtype], one.shape, 8 + length + from, false);
    if (to - from !== made.bytes)
      throw new Error(`${name}: ${to - from} bytes for ${one.shape.join(' x ')} of ${one.dtype}`);
    return made;
  });
}

function entry(file, name, dtype, shape, from, fortran) {
  const bytes = product(shape) * DTYPE_BYTES[dtype];
  if (from + bytes > file.size) throw new Error(`${name}: the file ends before its tensor does`);
  return { name: `${file.name}:${name}`, short: name, file, dtype, shape, from, bytes, fortran };
}

/** The tensors of a file; throws an Error if it is invalid. */
export async function openTensors(file) {
  try {
    return await (/\.npy$/i.test(file.name) ? readNpy(file) : readSafetensors(file));
  } catch (error) {
    throw new Error(`${file.name}: ${error.message}`);
  }
}

/** Sizes b, h, l, d and strides in elements of a tensor of 2 to 4 axes. */
export function arrange({ shape, fortran, name }, layout) {
  if (shape.length < 2 || shape.length > 4)
    throw new Error(`${name}: ${shape.length} axes in place of 2 to 4`);
  const strides = new Array(shape.length);
  let step = 1;
  const order = fortran ? shape.keys() : [...shape.keys()].reverse();
  for (const axis of order) {
    strides[axis] = step;
    step *= shape[axis];
  }
  const lacks = 4 - shape.length;
  let size = [...new Array(lacks).fill(1), ...shape];
  let stride = [...new Array(lacks).fill(0), ...strides];
  // b, l, h, d; without a batch l, h, d.
  if (layout === 'blhd' && shape.length > 2) {
    size = [size[0], size[2], size[1], size[3]];
    stride = [stride[0], stride[2], stride[1], stride[3]];
  }
  return { size, stride };
}

/** The tensor with its bytes, for the engine. */
export async function load(tensor, layout) {
  return {
    dtype: tensor.dtype,
    bytes: await tensor.file.slice(tensor.from, tensor.from + tensor.bytes).arrayBuffer(),
    ...arrange(tensor, layout),
  };
}

/** An .npy file of f32. */
export function writeNpy(numbers, shape) {
  const dict = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(', ')}${shape.length === 1 ? ',' : ''}), }`;
  const header = dict.padEnd(Math.ceil((10 + dict.length + 1) / 64) * 64 - 11) + '\n';
  const start = new Uint8Array(10 + header.length);
  start.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8]);
  start.set(new TextEncoder().encode(header), 10);
  return new Blob([start, Float32Array.from(numbers)]);
}
