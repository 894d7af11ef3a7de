// SPDX-License-Identifier: MIT
// The module's functions as methods: text in, objects out.  The same in the page, in a
// worker and in node.

/** Starts a module: `make` is emscripten's factory, `bytes` the WebAssembly. */
export async function openEngine(make, bytes, hooks = {}) {
  return new Engine(await make({ wasmBinary: bytes, ...hooks }));
}

/** Numbers of attend_dtype, by the names that files use. */
export const DTYPES = { f64: 1, f32: 2, f16: 3, bf16: 4 };
export const DTYPE_BYTES = { f64: 8, f32: 4, f16: 2, bf16: 2 };

export class Engine {
  constructor(module) {
    this.module = module;
    this.kept = []; // tensors in the module's memory
  }

  // ---- calls -------------------------------------------------------------------------

  allocate(bytes) {
    const at = this.module._malloc(Math.max(bytes, 8)) >>> 0;
    if (!at) throw new Error(`out of memory for ${bytes} bytes`);
    return at;
  }

  /** Calls a function; strings become pointers that live as long as the call. */
  call(name, ...args) {
    const m = this.module;
    const lent = [];
    const plain = args.map((arg) => {
      if (typeof arg !== 'string') return arg;
      const size = m.lengthBytesUTF8(arg) + 1;
      const at = this.allocate(size);
      m.stringToUTF8(arg, at, size);
      lent.push(at);
      return at;
    });
    try {
      return m[`_${name}`](...plain);
    } finally {
      lent.forEach((at) => m._free(at));
    }
  }

  text(name, ...args) {
    return this.module.UTF8ToString(this.call(name, ...args) >>> 0);
  }

  json(name, ...args) {
    const text = this.text(name, ...args);
    if (!text) throw new Error('out of memory');
    const value = JSON.parse(text);
    if (value.error !== undefined) throw new Error(value.error);
    return value;
  }

  /** A copy of numbers in the module's memory, to be freed. */
  put(numbers) {
    const at = this.allocate(8 * numbers.length);
    this.module.HEAPF64.set(numbers, at / 8);
    return at;
  }

  get(at, count) {
    return this.module.HEAPF64.slice(at / 8, at / 8 + count);
  }

  catalogue() {
    return this.json('page_catalogue');
  }

  isa() {
    return this.text('page_isa');
  }

  // ---- laboratory --------------------------------------------------------------------

  run({ experiment, flags = {}, seed = 1, trials, sweeps = true, figures = true }) {
    if (this.call('page_run_open', experiment)) throw new Error(`no experiment '${experiment}'`);
    for (const [name, value] of Object.entries(flags)) {
      const why = this.text('page_run_set', name, String(value));
      if (why) throw new Error(why);
    }
    return this.json('page_run', Number(seed), Number(trials), sweeps ? 1 : 0, figures ? 1 : 0);
  }

  judge(index, reading) {
    return this.json('page_judge', index, reading === 'letter' ? 1 : 0);
  }

  judgeAll(reading, count, told = () => {}) {
    return Array.from({ length: count }, (_, index) => {
      told(index, count);
      return this.judge(index, reading);
    });
  }

  disputes(count) {
    return Array.from({ length: count }, (_, index) => this.json('page_dispute', index));
  }

  check(part, k, text) {
    return this.text('page_answer', part, k, text);
  }

  /** The student and the texts of every part in a file; throws an Error if it is invalid. */
  form(text) {
    return this.json('page_form', text);
  }

  /** texts: by part, a list; every one has passed check(). */
  grade({ texts, seed = 1, name = 'answer.json' }) {
    this.call('page_answer_clear');
    texts.forEach((list, part) =>
      list.forEach((text, k) => {
        const why = this.check(part, k, text);
        if (why) throw new Error(why);
      }),
    );
    return this.json('page_grade', Number(seed), name);
  }

  /** A solution as it was written, marked; `shown` is HTML. */
  mark({ text, name }) {
    return this.json('page_mark', text, name);
  }

  // ---- playground --------------------------------------------------------------------

  weights({ n, d, dv, q, k, v, scale }) {
    const at = [q, k, v].map((x) => this.put(x));
    const to = this.allocate(8 * (n + dv + 4));
    try {
      if (this.call('page_weights', n, d, dv, ...at, scale, to, to + 8 * n, to + 8 * (n + dv)))
        throw new Error('the engine refused the problem');
      const all = this.get(to, n + dv + 4);
      const [entropy, effective, top, lse] = all.slice(n + dv);
      return { weights: all.slice(0, n), output: all.slice(n, n + dv), entropy, effective, top, lse };
    } finally {
      [...at, to].forEach((x) => this.module._free(x));
    }
  }

  cloud({ n, d, dv, q, k, v, scale, alpha, sigma2, draws, seed }) {
    const at = [q, k, v].map((x) => this.put(x));
    const to = this.allocate(8 * draws * (dv + 1));
    try {
      if (
        this.call('page_cloud', n, d, dv, ...at, scale, alpha, sigma2, draws, seed, to, to + 8 * draws * dv)
      )
        throw new Error('the engine refused the problem');
      const all = this.get(to, draws * (dv + 1));
      return { outputs: all.slice(0, draws * dv), first: all.slice(draws * dv) };
    } finally {
      [...at, to].forEach((x) => this.module._free(x));
    }
  }

  random(n, d, seed) {
    const to = this.allocate(8 * n * d);
    this.call('page_random', n, d, seed, to);
    const keys = this.get(to, n * d);
    this.module._free(to);
    return keys;
  }

  // ---- tensors -----------------------------------------------------------------------

  /** q, k and v or null: {bytes, dtype, size, stride}, sizes b, h, l, d; then the rule. */
  tensors({ q, k, v, causal, scale, window, softcap, noise }) {
    this.kept.forEach((at) => this.module._free(at));
    this.kept = [];
    const room = this.allocate(64);
    [q, k, v].forEach((tensor, which) => {
      if (!tensor) return;
      const at = this.allocate(tensor.bytes.byteLength);
      this.kept.push(at);
      this.module.HEAPU8.set(new Uint8Array(tensor.bytes), at);
      this.module.HEAPF64.set([...tensor.size, ...tensor.stride], room / 8);
      const why = this.text('page_tensor', which, at, DTYPES[tensor.dtype], room, room + 32);
      if (why) throw new Error(why);
    });
    this.module._free(room);
    this.call('page_rule', causal, scale ?? NaN, window ?? -1, softcap ?? 0, noise ?? 0.1);
  }

  head(b, h, cells) {
    const head = this.json('page_head', b, h, cells);
    const at = (this.call('page_map') >>> 0) / 4;
    head.map = this.module.HEAPF32.slice(at, at + head.map_rows * head.map_columns);
    return head;
  }

  zoom({ b, h, query, key, rows, columns }) {
    const at = this.call('page_zoom', b, h, query, key, rows, columns) >>> 0;
    if (!at) throw new Error(this.text('page_zoom_error'));
    return this.module.HEAPF32.slice(at / 4, at / 4 + rows * columns);
  }

  /** Every head; `told` is called with each result. */
  heads({ nb, hq, cells }, told = () => {}) {
    for (let b = 0; b < nb; b++)
      for (let h = 0; h < hq; h++) told(this.head(b, h, cells), b * hq + h + 1, nb * hq);
    return this.json('page_places');
  }
}
