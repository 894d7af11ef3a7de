// SPDX-License-Identifier: MIT
// The experiment of a question: sliders, measurements in a worker, plots and numbers.
import { Cancelled, Latest } from './client.js';
import { button, choice, errorBox, h, keepFocus, number, progressLine, slider } from './dom.js';
import { Results, SYMBOLS } from './results.js';
import { replace } from './state.js';

/** Ranges of the sliders; the number fields accept the experiment's full range. */
const RANGES = {
  n: [2, 4096, 'log'],
  d: [2, 1024, 'log'],
  T: [2, 512, 'log'],
  n0: [2, 4096, 'log'],
  C: [0, 50, 'square'],
  beta: [0, 40, 'square'],
  D: [0, 30, 'linear'],
  S: [0, 10, 'linear'],
  sigma2: [0, 2, 'linear'],
  alpha: [0, 0.5, 'square'],
  tau: [0.05, 4, 'log'],
  eps: [1e-6, 0.5, 'log'],
  norm: [0, 5, 'linear'],
  cap: [0.1, 50, 'log'],
  angle: [1, 90, 'linear'],
  cosine: [-1, 1, 'linear'],
  m: [1, 16, 'linear'],
  p: [1, 16, 'linear'],
  h: [1, 16, 'linear'],
  w: [0, 32, 'linear'],
  offset: [1, 1000, 'log'],
};
/** Flags shown at once; the others are in a closed section. */
const FIRST = new Set([
  'n',
  'C',
  'beta',
  'sigma2',
  'alpha',
  'h',
  'm',
  'queries',
  'D',
  'S',
  'T',
  'd',
  'mask',
  'positions',
  'offset',
  'remedy',
  'noisy',
  'norm',
  'cosine',
  'angle',
]);
const QUICK = 1000; // trials while a slider moves
const LIVE = 4000; // trials of the plots once it rests
const WAIT = 350; // ms without a change before the plots are drawn

export class Experiment {
  constructor(app) {
    this.app = app;
    this.round = 0; // results of earlier rounds are dropped
    this.whole = -1; // the round whose measurements are complete
    this.element = h('div.lab');
    this.quick = new Latest((request) => this.measureQuick(request));
  }

  /** names: the question's experiments; values: from the address. */
  open(question, names, values) {
    this.question = question;
    this.show(names, names.includes(values.x) ? values.x : names[0], values);
  }

  stop() {
    clearTimeout(this.timer);
    this.round++;
    if (this.app.long.busy) this.app.long.cancel();
  }

  show(names, name, values) {
    const { catalogue } = this.app;
    this.names = names;
    this.spec = catalogue.experiments.find((one) => one.name === name);
    this.flags = {};
    for (const flag of this.spec.flags)
      if (values[flag.name] !== undefined) this.flags[flag.name] = values[flag.name];
    this.seed = /^\d{1,9}$/.test(values.seed) ? Number(values.seed) : 1;
    this.trials = Number(values.trials) >= 1 ? Math.min(Math.round(Number(values.trials)), 1e7) : null;
    this.error = errorBox();
    this.progress = progressLine(() => this.cancel());
    this.results = new Results(this.question, this.spec);
    const tabs =
      names.length > 1 &&
      h(
        'div.chips',
        { role: 'group', 'aria-label': 'Experiments' },
        names.map((one) =>
          button(
            'chip',
            catalogue.experiments.find((e) => e.name === one).title,
            () => this.switchTo(names, one),
            { 'aria-pressed': String(one === name), 'data-experiment': one },
          ),
        ),
      );
    this.controlsBox = h('div.controls');
    const parts = [
      tabs,
      h(
        'div.bench',
        h('div.side', this.controlsBox, this.trialControls()),
        h('div.results', this.error.element, this.progress.element, this.results.element),
      ),
    ];
    this.buildControls();
    keepFocus(this.element, () => this.element.replaceChildren(...parts.filter(Boolean)));
    this.changed(true);
  }

  switchTo(names, name, values = this.flags) {
    this.stop();
    this.show(names, name, { ...values });
  }

  buildControls() {
    const first = this.spec.flags.filter((flag) => FIRST.has(flag.name));
    const others = this.spec.flags.filter((flag) => !FIRST.has(flag.name));
    const reset = button('quiet', 'Defaults', () => this.switchTo(this.names, this.spec.name, {}), {
      'data-action': 'reset',
    });
    this.controlsBox.replaceChildren(
      h('h2.group', 'Parameters', reset),
      ...first.map((flag) => this.control(flag)),
      ...(others.length
        ? [
            h(
              'details',
              { open: others.some((flag) => flag.name in this.flags) },
              h('summary', 'More parameters'),
              ...others.map((flag) => this.control(flag)),
            ),
          ]
        : []),
    );
  }

  control(flag) {
    const value =
      this.flags[flag.name] ?? (flag.type === 'choice' || flag.type === 'text' ? flag.text : flag.preset);
    const set = (next) => {
      const text = next == null ? '' : String(next);
      const standard = String(
        flag.type === 'choice' || flag.type === 'text' ? (flag.text ?? '') : (flag.preset ?? ''),
      );
      if (text === '' || text === standard) delete this.flags[flag.name];
      else this.flags[flag.name] = text;
      this.changed();
    };
    const label = SYMBOLS[flag.name] ?? flag.name;
    if (flag.type === 'choice')
      return choice(
        {
          label,
          name: flag.name,
          value,
          help: flag.help,
          options: flag.choices.split('|').map((word) => [word, word]),
        },
        set,
      ).element;
    if (flag.type === 'text') {
      const id = `text-${flag.name}`;
      return h(
        'div.control',
        { 'data-control': flag.name },
        h('label', { for: id }, label),
        h('input', {
          id,
          type: 'text',
          value: value ?? '',
          autocomplete: 'off',
          spellcheck: 'false',
          onchange: (event) => set(event.target.value.trim()),
        }),
        h('p.help', { html: flag.help }),
      );
    }
    const [low, high, curve] = RANGES[flag.name] ?? [flag.min, flag.max, 'linear'];
    const ends = { low: Math.max(low, flag.min), high: Math.min(high, flag.max) };
    if (curve === 'log' && ends.low <= 0) ends.low = ends.high / 1e4;
    return slider(
      {
        label,
        name: flag.name,
        help: flag.help,
        min: flag.min,
        max: flag.max,
        whole: flag.type === 'integer',
        curve,
        ...ends,
        value: value == null || Number.isNaN(Number(value)) ? null : Number(value),
        optional: flag.preset == null,
      },
      set,
    ).element;
  }

  trialControls() {
    const { spec } = this;
    if (!spec.trials) return h('p.small.soft', 'Nothing here is left to chance.');
    const label = h('span');
    this.measureButton = button(
      'button',
      label,
      () => {
        this.stop();
        this.measureAll(this.wanted);
      },
      { 'data-action': 'measure' },
    );
    const set = (value) => {
      this.trials = value;
      label.textContent = `Measure ${(value ?? spec.trials).toLocaleString('en')} trials`;
    };
    set(this.trials);
    const trials = slider(
      {
        label: 'Trials',
        name: 'trials',
        whole: true,
        min: 1,
        max: 1e7,
        low: 100,
        high: 1e6,
        curve: 'log',
        value: this.trials ?? spec.trials,
      },
      (value) => {
        set(value === spec.trials ? null : value);
        this.remembered();
      },
    );
    const seed = slider(
      { label: 'Seed', name: 'seed', whole: true, min: 0, max: 1e9, low: 1, high: 100, value: this.seed },
      (value) => {
        this.seed = value;
        this.changed();
      },
    );
    return h('div.controls', h('h2.group', 'Chance'), trials.element, seed.element, this.measureButton);
  }

  remembered() {
    const names = new Set([...this.question.figures, ...this.question.numbers].map((one) => one.experiment));
    const values = {
      ...(names.size > 1 ? { x: this.spec.name } : {}),
      ...this.flags,
      ...(this.seed !== 1 ? { seed: this.seed } : {}),
      ...(this.trials ? { trials: this.trials } : {}),
    };
    replace({ view: 'questions', part: this.question.id, values });
  }

  // ---- measuring ---------------------------------------------------------------------

  /** A parameter changed: numbers at once, plots when it rests. */
  changed(now = false) {
    this.stop();
    this.remembered();
    this.element.dataset.state = 'waiting';
    const { round } = this;
    this.quick.ask({ round, request: this.request(Math.min(this.wanted, QUICK), false) });
    this.timer = setTimeout(() => this.measureAll(Math.min(this.wanted, LIVE), round), now ? 0 : WAIT);
  }

  /** The requested number of trials, or the experiment's default. */
  get wanted() {
    return this.trials ?? (this.spec.trials || 1);
  }

  request(trials, sweeps) {
    return {
      experiment: this.spec.name,
      flags: { ...this.flags },
      seed: this.seed,
      trials,
      sweeps,
      figures: true,
    };
  }

  async measureQuick({ round, request }) {
    const rows = [];
    try {
      const found = await this.app.live.call('run', [request], { row: (row) => rows.push(row) });
      if (round !== this.round || round === this.whole) return; // late
      this.error.show('');
      this.results.showRows(rows, request.trials, request.seed);
      this.results.showFigures(found.figures, true);
      this.results.conclude(found.concluded);
    } catch (error) {
      if (round === this.round && !(error instanceof Cancelled)) this.refuse(error.message);
    }
  }

  refuse(words) {
    this.error.show(words);
    this.progress.hide();
    this.results.clear();
  }

  async measureAll(trials, round = this.round) {
    if (round !== this.round) return;
    if (this.app.long.busy) this.app.long.cancel();
    const request = this.request(trials, true);
    const rows = [];
    const began = performance.now();
    this.progress.show('measuring', null);
    this.element.dataset.state = 'measuring';
    try {
      const told = {
        row: (row) => rows.push(row),
        progress: (done, total) => {
          if (round === this.round)
            this.progress.show(
              `${done.toLocaleString('en')} of ${total.toLocaleString('en')} trials, ${rows.length} rows`,
              done / total,
            );
        },
      };
      const found = await this.app.long.call('run', [request], told);
      if (round !== this.round) return;
      this.whole = round;
      this.error.show('');
      this.results.showRows(rows, trials, request.seed);
      this.results.showFigures(found.figures, false);
      this.results.conclude(found.concluded);
      this.results.tell(
        `${rows.length} rows in ${number((performance.now() - began) / 1000, 2)} s. ${found.count}.`,
      );
    } catch (error) {
      if (round !== this.round) return;
      if (error instanceof Cancelled) {
        if (rows.some((row) => row.own)) this.results.showRows(rows, trials, request.seed);
        this.results.tell(
          rows.some((row) => row.own)
            ? 'Cancelled: the rows show what was measured up to then; plots are those of before.'
            : 'Cancelled: rows and plots are those of before.',
        );
      } else this.refuse(error.message);
    }
    this.progress.hide();
    this.element.dataset.state = 'done';
  }

  cancel() {
    clearTimeout(this.timer);
    this.app.long.cancel();
  }
}
