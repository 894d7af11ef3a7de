// SPDX-License-Identifier: MIT
// A worker that is started when it is needed, and can be stopped at any time.

export class Cancelled extends Error {}

export class Client {
  /** source: the worker's script; bytes: a promise of the WebAssembly. */
  constructor(source, bytes) {
    this.source = source;
    this.bytes = bytes;
    this.worker = null;
    this.waiting = new Map();
    this.next = 1;
    this.setup = []; // calls to be repeated in a new worker
  }

  async start() {
    const bytes = await this.bytes;
    if (this.worker) return;
    const url = URL.createObjectURL(new Blob([this.source], { type: 'text/javascript' }));
    this.worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = (event) => this.fail(new Error(event.message || 'the worker failed'));
    const copy = bytes.slice().buffer;
    this.worker.postMessage({ id: 0, open: copy }, [copy]);
    for (const [method, args] of this.setup) this.worker.postMessage({ id: 0, method, args });
  }

  receive(data) {
    const call = this.waiting.get(data.id);
    if (!call) {
      if (data.error) this.fail(new Error(data.error));
      return;
    }
    if (data.row) call.told.row?.(data.row);
    if (data.head) call.told.head?.(data.head);
    if (data.progress) call.told.progress?.(...data.progress);
    if (data.error !== undefined) this.settle(data.id, () => call.reject(new Error(data.error)));
    else if (data.result !== undefined) this.settle(data.id, () => call.resolve(data.result));
  }

  settle(id, finish) {
    this.waiting.delete(id);
    finish();
  }

  fail(error) {
    const calls = [...this.waiting.values()];
    this.waiting.clear();
    calls.forEach((call) => call.reject(error));
  }

  get busy() {
    return this.waiting.size > 0;
  }

  /** told: callbacks {row, head, progress} during the call. */
  async call(method, args, told = {}) {
    await this.start();
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, told });
      this.worker.postMessage({ id, method, args });
    });
  }

  /** Terminates the worker and rejects its pending calls. */
  cancel() {
    this.worker?.terminate();
    this.worker = null;
    this.fail(new Cancelled('cancelled'));
  }
}

/** Of several requests made while one is under way, only the newest is performed. */
export class Latest {
  constructor(perform) {
    this.perform = perform;
    this.running = false;
    this.wanted = null;
  }

  async ask(request) {
    this.wanted = { request };
    if (this.running) return;
    this.running = true;
    try {
      while (this.wanted) {
        const { request: next } = this.wanted;
        this.wanted = null;
        await this.perform(next);
      }
    } finally {
      this.running = false;
    }
  }
}
