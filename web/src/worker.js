// SPDX-License-Identifier: MIT
// The engine in a worker.  Rows, heads and progress go out while it works; to stop it,
// the page ends the worker.
import attendModule from 'page-module';
import { openEngine } from './engine.js';

let engine = null;
let current = 0;
let last = 0;

function progress(done, total) {
  const now = performance.now();
  if (now - last < 40 && done < total) return;
  last = now;
  postMessage({ id: current, progress: [done, total] });
}

const hooks = {
  onRow: (text) => postMessage({ id: current, row: JSON.parse(text) }),
  onProgress: progress,
};

const methods = {
  judgeAll: ({ reading, count }) => engine.judgeAll(reading, count, progress),
  heads: (request) =>
    engine.heads(request, (head, done, total) => postMessage({ id: current, head, progress: [done, total] })),
  disputes: (count) => engine.disputes(count),
};

async function perform(data) {
  current = data.id;
  try {
    if (data.open) engine = await openEngine(attendModule, new Uint8Array(data.open), hooks);
    const result = data.method
      ? (methods[data.method] ?? engine[data.method].bind(engine))(...data.args)
      : null;
    postMessage({ id: data.id, result });
  } catch (error) {
    postMessage({ id: data.id, error: String(error.message ?? error) });
  }
}

/* Requests run one after the other; the first wait until the module is open. */
let queue = Promise.resolve();
onmessage = ({ data }) => {
  queue = queue.then(() => perform(data));
};
