// SPDX-License-Identifier: MIT
// Your tensors: statistics of every head of a layer, computed in this browser.
import { Cancelled } from './client.js';
import { button, choice, errorBox, h, numberText, progressLine, shown, slider } from './dom.js';
import { figureElement } from './figure.js';
import { arrange, load, openTensors } from './files.js';
import { paint } from './maps.js';
import { sampleLayer } from './sample.js';
import { replace } from './state.js';

const CELLS = 256; // blocks along a side of a pooled map
const ZOOM = 128; // weights along a side of a zoom
const COLUMNS = [
  ['character', 'character', null],
  ['keys', 'keys', 'keys that a query sees, mean'],
  ['entropy_share', 'H / ln n', 'entropy of the weights by that of even attention'],
  ['n_eff', 'n_eff', 'effective keys, 1 / sum of squared weights'],
  ['top_weight', 'top', 'largest weight'],
  ['margin', 'margin', 'largest score minus the second'],
  ['sink1', 'first', 'weight of the first key'],
  ['self', 'self', 'weight of the query’s own position'],
  ['previous', 'prev', 'weight of the position before'],
  ['distance', 'distance', 'mean distance of the keys looked at'],
];

/** Default settings; the address has those that differ. */
const OPTIONS = { causal: '1', layout: 'bhld', noise: 0.1, scale: null, window: null, softcap: null };
const CHOICES = { causal: ['0', '1', '2'], layout: ['bhld', 'blhd'] };

/** An option from an address, or its default. */
function optionFrom(name, text) {
  if (text === undefined) return OPTIONS[name];
  if (CHOICES[name]) return CHOICES[name].includes(text) ? text : OPTIONS[name];
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : OPTIONS[name];
}

export class Tensors {
  constructor(app) {
    this.app = app;
    this.client = app.newClient();
    this.found = []; // tensors of the files
    this.heads = [];
    this.round = 0; // number of the measurement; results of earlier ones are dropped
    this.options = { ...OPTIONS };
    this.chosen = { q: '', k: '', v: '' };
    this.element = h('div.view.tensors');
    this.build();
  }

  build() {
    this.error = errorBox();
    this.progress = progressLine(() => this.cancel());
    const input = h('input.visually-hidden', {
      type: 'file',
      multiple: true,
      accept: '.npy,.safetensors',
      id: 'tensor-files',
      onchange: () => this.open([...input.files]).finally(() => (input.value = '')),
    });
    const zone = h(
      'div.drop',
      h(
        'p',
        h('b', 'Drop .npy or .safetensors files here'),
        h('br'),
        h(
          'span.soft',
          'q and k, and v if you have it: (batch, heads, tokens, columns), or without batch or heads. Nothing leaves this page.',
        ),
      ),
      h(
        'div.buttons',
        h('label.button', { for: 'tensor-files' }, 'Choose files'),
        input,
        button('quiet', 'Use a sample layer', () => this.sample(), { 'data-action': 'sample' }),
      ),
    );
    this.element.addEventListener('dragover', (event) => {
      event.preventDefault();
      zone.classList.add('over');
    });
    this.element.addEventListener('dragleave', () => zone.classList.remove('over'));
    this.element.addEventListener('drop', (event) => {
      event.preventDefault();
      zone.classList.remove('over');
      this.open([...event.dataTransfer.files]);
    });
    this.setup = h('div.toolbar', { hidden: true });
    this.results = h('div.results', { hidden: true });
    this.element.append(
      h(
        'div.lead',
        h('h1', 'Your tensors'),
        h(
          'p',
          'What each head of a layer does: how even its weights are, where it looks, whether noise could turn it, and where it lies on the maps of the laboratory.',
        ),
      ),
      zone,
      this.setup,
      this.progress.element,
      this.error.element,
      this.results,
    );
  }

  async sample() {
    this.found = [];
    await this.open(sampleLayer());
    if (this.found.length) this.measure();
  }

  // ---- files -------------------------------------------------------------------------

  async open(files) {
    const wrong = [];
    for (const file of files) {
      try {
        const tensors = await openTensors(file);
        this.found = [
          ...this.found.filter((one) => !tensors.some((other) => other.name === one.name)),
          ...tensors,
        ];
      } catch (error) {
        wrong.push(error.message);
      }
    }
    this.error.show(wrong.join('\n'));
    this.guess();
    this.drawSetup();
  }

  /** The tensors whose names look like q, k and v, where none was chosen. */
  guess() {
    for (const letter of ['q', 'k', 'v']) {
      if (this.found.some((one) => one.name === this.chosen[letter])) continue;
      const named = (one) =>
        new RegExp(`(^|[^a-z])${letter}(uer(y|ies)|eys?|alues?)?([^a-z]|$)`, 'i').test(one.short);
      this.chosen[letter] = this.found.find(named)?.name ?? '';
    }
  }

  drawSetup() {
    const pick = (letter, needed) =>
      choice(
        {
          label: letter,
          name: `tensor-${letter}`,
          value: this.chosen[letter],
          options: [
            ['', needed ? 'choose' : 'none'],
            ...this.found.map((one) => [one.name, `${one.name} ${one.dtype} (${one.shape.join(', ')})`]),
          ],
        },
        (value) => {
          this.chosen[letter] = value;
          this.changed();
        },
      ).element;
    this.setup.hidden = this.found.length === 0;
    this.setup.replaceChildren(
      pick('q', true),
      pick('k', true),
      pick('v', false),
      choice(
        {
          label: 'Layout',
          name: 'layout',
          value: this.options.layout,
          options: [
            ['bhld', 'batch, heads, tokens, columns'],
            ['blhd', 'batch, tokens, heads, columns'],
          ],
        },
        (value) => this.set('layout', value),
      ).element,
      choice(
        {
          label: 'Causal mask',
          name: 'causal',
          value: this.options.causal,
          options: [
            ['0', 'none'],
            ['1', 'top-left'],
            ['2', 'bottom-right'],
          ],
        },
        (value) => this.set('causal', value),
      ).element,
      slider(
        {
          label: 'Scale of the scores (empty: 1/√d)',
          name: 'scale',
          min: -1000,
          max: 1000,
          low: 0,
          high: 1,
          value: this.options.scale,
          optional: true,
        },
        (value) => this.set('scale', value),
      ).element,
      slider(
        {
          label: 'Window, keys to the left (empty: all)',
          name: 'window',
          whole: true,
          min: 0,
          max: 2 ** 31 - 1,
          low: 0,
          high: 4096,
          curve: 'square',
          value: this.options.window,
          optional: true,
        },
        (value) => this.set('window', value),
      ).element,
      slider(
        {
          label: 'Softcap of the scores (empty: none)',
          name: 'softcap',
          min: 1e-6,
          max: 1e6,
          low: 1,
          high: 100,
          value: this.options.softcap,
          optional: true,
        },
        (value) => this.set('softcap', value),
      ).element,
      slider(
        {
          label: 'Noise: relative sd of key lengths',
          name: 'noise',
          min: 0,
          max: 10,
          low: 0,
          high: 0.5,
          value: this.options.noise,
        },
        (value) => this.set('noise', value),
      ).element,
      h(
        'div.buttons',
        button('button', 'Measure every head', () => this.measure(), { 'data-action': 'measure-heads' }),
      ),
    );
  }

  set(name, value) {
    this.options[name] = value;
    this.remember();
    this.changed();
  }

  remember() {
    const differ = Object.entries(this.options).filter(([name, value]) => value !== OPTIONS[name]);
    replace({ view: 'tensors', values: Object.fromEntries(differ) });
  }

  /** Marks the results on the screen as those of other settings. */
  changed() {
    if (this.stale) this.stale.hidden = false;
  }

  // ---- measuring ---------------------------------------------------------------------

  async request() {
    const of = (letter) => this.found.find((one) => one.name === this.chosen[letter]);
    if (!of('q') || !of('k')) throw new Error('choose a tensor for q and one for k');
    const { layout } = this.options;
    const [q, k, v] = ['q', 'k', 'v'].map((letter) => of(letter) && arrange(of(letter), layout));
    for (const letter of ['q', 'k', 'v']) {
      const tensor = of(letter);
      if (!tensor) continue;
      const shape = `(${tensor.shape.join(', ')})`;
      if (tensor.shape.includes(0)) throw new Error(`${tensor.name} ${shape} has no numbers`);
      if (tensor.shape.length !== of('q').shape.length)
        throw new Error(`${tensor.name} ${shape} has not as many axes as q`);
    }
    if (q.size[3] !== k.size[3]) throw new Error(`q has ${q.size[3]} columns, k has ${k.size[3]}`);
    if (q.size[0] !== k.size[0]) throw new Error(`q has a batch of ${q.size[0]}, k of ${k.size[0]}`);
    if (k.size[1] === 0 || q.size[1] % k.size[1])
      throw new Error(`${q.size[1]} heads of q are not a multiple of ${k.size[1]} heads of k`);
    if (v && [0, 1, 2].some((axis) => v.size[axis] !== k.size[axis]))
      throw new Error(
        `v has ${v.size.slice(0, 3).join(' x ')} batches, heads and tokens, k has ${k.size.slice(0, 3).join(' x ')}`,
      );
    const types = ['q', 'k', 'v'].filter(of).map((letter) => `${letter} is ${of(letter).dtype}`);
    if (new Set(types.map((one) => one.slice(5))).size > 1)
      throw new Error(`types differ: ${types.join(', ')}`);
    return {
      q: await load(of('q'), layout),
      k: await load(of('k'), layout),
      v: v ? await load(of('v'), layout) : null,
      causal: Number(this.options.causal),
      scale: this.options.scale,
      window: this.options.window,
      softcap: this.options.softcap,
      noise: this.options.noise,
    };
  }

  async measure() {
    const round = ++this.round;
    const isCurrent = () => round === this.round;
    this.error.show('');
    this.heads = [];
    this.results.hidden = true;
    const invalid = this.setup.querySelector('[aria-invalid=true]');
    if (invalid) {
      this.error.show(`${invalid.getAttribute('aria-label')}: ‘${invalid.value}’ cannot be used`);
      invalid.focus();
      return;
    }
    try {
      this.progress.show('reading the files', null);
      const request = await this.request();
      if (!isCurrent()) return;
      this.sizes = {
        nb: request.q.size[0],
        hq: request.q.size[1],
        nq: request.q.size[2],
        nk: request.k.size[2],
      };
      this.client.setup = [['tensors', [request]]];
      this.client.cancel(); // A new worker: the old one's memory is freed.
      this.results.hidden = false;
      this.drawResults();
      this.progress.show(`0 of ${this.sizes.nb * this.sizes.hq} heads`, 0);
      const told = {
        head: (head) => {
          if (!isCurrent()) return;
          this.heads.push(head);
          this.addHead(head);
        },
        progress: (done, total) =>
          isCurrent() && this.progress.show(`${done} of ${total} heads`, done / total),
      };
      const { figures } = await this.client.call(
        'heads',
        [{ nb: this.sizes.nb, hq: this.sizes.hq, cells: CELLS }],
        told,
      );
      if (!isCurrent()) return;
      this.figures.replaceChildren(...figures.map((figure) => figureElement(figure)));
      this.results.dataset.state = 'done';
    } catch (error) {
      if (!isCurrent()) return;
      this.error.show(error.message);
    }
    this.progress.hide();
  }

  cancel() {
    this.round++;
    this.client.cancel();
    this.progress.hide();
    this.results.dataset.state = 'cancelled';
    this.error.show(`Cancelled after ${this.heads.length} heads.`);
  }

  // ---- results -----------------------------------------------------------------------

  drawResults() {
    this.rows = h('tbody');
    this.stale = h('p.note', { hidden: true }, 'The settings have changed: measure again.');
    this.figures = h('div.figures');
    this.panel = h('div.map-panel');
    const { nb, hq, nq, nk } = this.sizes;
    this.results.dataset.state = 'measuring';
    this.results.replaceChildren(
      h('h2', 'Every head'),
      this.stale,
      h(
        'p.small.soft',
        `${nb * hq} heads, ${nq} queries, ${nk} keys; kernel set ${this.app.isa}. A row opens its map.`,
      ),
      h(
        'div.box',
        { tabindex: 0, role: 'region', 'aria-label': 'Statistics of heads' },
        h(
          'table.heads',
          h(
            'thead',
            h(
              'tr',
              h('th', { scope: 'col' }, 'head'),
              COLUMNS.map(([, label, help]) =>
                h('th', { scope: 'col', class: label === 'character' ? '' : 'n', title: help }, label),
              ),
              h('th', { scope: 'col' }, 'phase'),
            ),
          ),
          this.rows,
        ),
      ),
      this.panel,
      h('h2', 'On the maps of the laboratory'),
      this.figures,
    );
  }

  addHead(head) {
    const label = this.sizes.nb > 1 ? `${head.b}.${head.h}` : String(head.h);
    const row = h(
      'tr',
      { 'data-head': `${head.b}.${head.h}` },
      h(
        'td',
        button('link', label, () => this.drawMap(head), { 'aria-label': `map of head ${label}` }),
      ),
      COLUMNS.map(([name]) =>
        name === 'character'
          ? h('td', h('span.character', { title: head.reason }, head.character))
          : h('td.n', shown(head[name], `${head.b}.${head.h}.${name}`, 3)),
      ),
      h('td', head.place.phase),
    );
    this.rows.append(row);
    if (this.heads.length === 1) this.drawMap(head);
  }

  drawMap(head) {
    const label = this.sizes.nb > 1 ? `${head.b}.${head.h}` : String(head.h);
    const canvas = h('canvas.map', {
      width: head.map_columns,
      height: head.map_rows,
      role: 'img',
      'aria-label': `weights of head ${label}, pooled`,
    });
    paint(canvas, head.map, head.map_columns, head.map_rows, this.sizes, head.block);
    this.zoomed = h('div.zoomed');
    const at = { query: 0, key: 0 };
    const ask = () => this.zoom(head, at.query, at.key);
    const whole = (name, words, most) =>
      slider(
        {
          label: words,
          name: `zoom-${name}`,
          whole: true,
          min: 0,
          max: Math.max(most - 1, 0),
          low: 0,
          high: Math.max(most - 1, 1),
          value: 0,
        },
        (value) => {
          at[name] = value;
          ask();
        },
      );
    const controls = {
      query: whole('query', 'Zoom: first query', this.sizes.nq),
      key: whole('key', 'Zoom: first key', this.sizes.nk),
    };
    canvas.addEventListener('click', (event) => {
      const frame = canvas.getBoundingClientRect();
      const middle = (share, count) =>
        Math.max(0, Math.min(Math.round(share * count - ZOOM / 2), count - ZOOM));
      at.query = middle((event.clientY - frame.top) / frame.height, this.sizes.nq);
      at.key = middle((event.clientX - frame.left) / frame.width, this.sizes.nk);
      controls.query.set(at.query);
      controls.key.set(at.key);
      ask();
    });
    this.panel.replaceChildren(
      h('h2', `Head ${label}: ${head.character}`),
      h('p.soft', head.reason),
      h(
        'div.maps',
        h(
          'figure',
          h('h3.plot-title', 'All weights'),
          canvas,
          h(
            'figcaption',
            `Queries down, keys to the right; a cell is ${head.block} × ${head.block} weights. From dark to light on a logarithmic scale that starts at 1/16 of even attention. Click to zoom.`,
          ),
        ),
        h(
          'figure',
          h('h3.plot-title', 'Zoom'),
          this.zoomed,
          h('div.controls', controls.query.element, controls.key.element),
        ),
      ),
    );
    for (const row of this.rows.children)
      row.toggleAttribute('data-chosen', row.dataset.head === `${head.b}.${head.h}`);
    ask();
  }

  async zoom(head, query, key) {
    const rows = Math.min(ZOOM, this.sizes.nq - query);
    const columns = Math.min(ZOOM, this.sizes.nk - key);
    if (this.client.busy && this.results.dataset.state === 'measuring') {
      this.zoomed.replaceChildren(h('p.soft', 'When every head is measured.'));
      await new Promise((resolve) => setTimeout(resolve, 300));
      if (this.zoomed.isConnected) return this.zoom(head, query, key);
      return;
    }
    try {
      const weights = await this.client.call('zoom', [{ b: head.b, h: head.h, query, key, rows, columns }]);
      const canvas = h('canvas.map', {
        width: columns,
        height: rows,
        role: 'img',
        'aria-label': `weights of queries ${query} to ${query + rows - 1} on keys ${key} to ${key + columns - 1}`,
      });
      paint(canvas, weights, columns, rows, this.sizes, 1);
      const readout = h(
        'p.small.soft',
        { 'aria-live': 'off' },
        `queries ${query} – ${query + rows - 1}, keys ${key} – ${key + columns - 1}`,
      );
      canvas.addEventListener('pointermove', (event) => {
        const frame = canvas.getBoundingClientRect();
        const i = Math.min(rows - 1, Math.floor(((event.clientY - frame.top) / frame.height) * rows));
        const j = Math.min(columns - 1, Math.floor(((event.clientX - frame.left) / frame.width) * columns));
        if (i >= 0 && j >= 0)
          readout.textContent = `query ${query + i}, key ${key + j}: ${numberText(weights[i * columns + j])}`;
      });
      this.zoomed.replaceChildren(canvas, readout);
    } catch (error) {
      if (!(error instanceof Cancelled)) this.error.show(error.message);
    }
  }

  show({ values }) {
    for (const name of Object.keys(OPTIONS)) this.options[name] = optionFrom(name, values[name]);
    this.remember();
    this.drawSetup();
  }

  leave() {
    if (this.results.dataset.state === 'measuring') this.cancel();
  }
}
