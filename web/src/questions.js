// SPDX-License-Identifier: MIT
// The exercise, question by question: answer, formula, live plots, numbers.
import { Cancelled, Latest } from './client.js';
import { choice, errorBox, h, number, progressLine, shown, slider } from './dom.js';
import { figureElement } from './figure.js';
import { address, replace } from './state.js';

/** How far sliders go; numbers beside them take all that the experiment does. */
const RANGES = {
  n: [2, 4096, 'log'], d: [2, 1024, 'log'], T: [2, 512, 'log'], n0: [2, 4096, 'log'],
  C: [0, 50, 'square'], beta: [0, 40, 'square'], D: [0, 30, 'linear'], S: [0, 10, 'linear'],
  sigma2: [0, 2, 'linear'], alpha: [0, 0.5, 'square'], tau: [0.05, 4, 'log'], eps: [1e-6, 0.5, 'log'],
  norm: [0, 5, 'linear'], cap: [0.1, 50, 'log'], angle: [1, 90, 'linear'], cosine: [-1, 1, 'linear'],
  m: [1, 16, 'linear'], p: [1, 16, 'linear'], h: [1, 16, 'linear'], w: [0, 32, 'linear'], offset: [1, 1000, 'log'],
};
/** Flags that come first; the others are one click away. */
const FIRST = new Set(['n', 'C', 'beta', 'sigma2', 'alpha', 'h', 'm', 'queries', 'D', 'S', 'T', 'd', 'mask', 'positions', 'offset', 'remedy', 'noisy', 'norm', 'cosine', 'angle']);
const SYMBOLS = { sigma2: 'σ²', alpha: 'α', beta: 'β', eps: 'ε', tau: 'τ' };
/** Which of the five things to remember a question teaches. */
const REMEMBER = { '1a-i': 0, '1a-ii': 0, '1a-iii': 0, '1a-iv': 0, '1b-ii': 1, '1c-i': 2, '1c-ii': 3, '1d-i': 3, '1d-ii': 3, '1e': 3, '2a-i': 4, '2a-ii': 4, '2b-i': 4, '2b-ii': 4, '3g': 4, 'many-keys': 0, 'random-scores': 0, 'few-dimensions': 1 };
const QUICK = 1000; // trials while a slider moves
const LIVE = 4000; // trials of the plots that follow
const WAIT = 350; // ms without a change before they do

const isOfExercise = (question) => /^\d/.test(question.id);

export class Questions {
  constructor(app) {
    this.app = app;
    this.element = h('div', { class: 'view questions' });
    this.quick = new Latest((request) => this.measureQuick(request));
    this.build();
  }

  build() {
    const { questions } = this.app.catalogue;
    this.links = new Map();
    const link = (question) => {
      const element = h('a', { href: address({ view: 'questions', part: question.id }) }, isOfExercise(question) && h('b', {}, question.id), h('span', { html: question.title }));
      this.links.set(question.id, element);
      return h('li', {}, element);
    };
    this.startLink = h('a', { href: address({ view: 'questions' }) }, h('span', {}, 'The exercise in one screen'));
    this.body = h('div', { class: 'body' });
    const list = h('details', { class: 'contents', open: matchMedia('(min-width: 60rem)').matches }, h('summary', {}, 'Questions'), h('ol', {}, h('li', {}, this.startLink), questions.map(link)));
    this.element.append(h('nav', { class: 'list', 'aria-label': 'Questions' }, list), this.body);
    this.list = list;
  }

  show({ part, values }) {
    this.stop();
    for (const [id, link] of [...this.links, ['', this.startLink]])
      if (id === part) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    if (!matchMedia('(min-width: 60rem)').matches) this.list.open = false;
    const question = this.app.catalogue.questions.find((one) => one.id === part);
    if (!question) return this.showStart();
    this.question = question;
    this.showQuestion(values);
  }

  leave() {
    this.stop();
  }

  stop() {
    clearTimeout(this.timer);
    this.round = (this.round ?? 0) + 1;
    if (this.app.long.busy) this.app.long.cancel();
  }

  // ---- the start ---------------------------------------------------------------------

  showStart() {
    const { exercise, things, glossary } = this.app.catalogue;
    this.question = null;
    this.body.replaceChildren(
      h('h1', {}, 'The exercise in one screen'),
      ...exercise.map((html) => (html.startsWith('<math') ? h('div', { class: 'formula', html }) : h('p', { html }))),
      h('section', {}, h('h2', {}, 'Five things to remember'), h('ol', { class: 'things' }, things.map(({ what, why }) => h('li', {}, h('b', { html: what }), ' ', h('span', { html: why }))))),
      h('section', {}, h('h2', {}, 'Glossary'), h('dl', { class: 'glossary' }, glossary.map(({ term, meaning }) => h('div', {}, h('dt', { html: term }), h('dd', { html: meaning }))))),
    );
  }

  // ---- a question --------------------------------------------------------------------

  showQuestion(values) {
    const { question } = this;
    const { questions } = this.app.catalogue;
    const names = [...new Set([...question.figures, ...question.numbers].map((one) => one.experiment))];
    const at = questions.indexOf(question);
    const step = (to, words) => to && h('a', { class: 'step', href: address({ view: 'questions', part: to.id }) }, words, h('span', { html: to.title }));
    this.lab = h('div', { class: 'lab' });
    this.body.replaceChildren(
      ...[
        h('h1', {}, isOfExercise(question) && h('span', { class: 'soft' }, `${question.id} `), h('span', { html: question.title })),
        h('p', { class: 'asks', html: question.asks }),
        h('p', { class: 'answer', html: question.answer }),
        ...question.formulas.map((html) => h('div', { class: 'formula', tabindex: 0, role: 'math', 'aria-label': 'formula', html })),
        names.length > 0 && this.lab,
        names.length === 0 && h('p', {}, h('a', { class: 'button', href: address({ view: 'playground' }) }, 'See it in the playground')),
        this.remember(),
        this.voices(),
        h('p', { class: 'steps' }, step(questions[at - 1], '← '), step(questions[at + 1], '→ ')),
      ].filter(Boolean),
    );
    if (names.length === 0) return;
    const wanted = names.includes(values.x) ? values.x : names[0];
    this.openExperiment(names, wanted, values);
  }

  remember() {
    const thing = this.app.catalogue.things[REMEMBER[this.question.id]];
    return thing && h('aside', { class: 'remember', 'aria-label': 'What to remember' }, h('p', { class: 'small soft' }, 'What to remember'), h('p', {}, h('b', { html: thing.what }), ' ', h('span', { html: thing.why })));
  }

  voices() {
    const { question } = this;
    const ids = question.statements.split(' ').filter(Boolean);
    if (!ids.length) return null;
    const judged = new Map(this.app.judgements.charity.map((one) => [one.id, one.verdict]));
    return h('p', { class: 'small voices' }, 'Statements of the sheets: ', ids.map((id) => [h('a', { class: judged.get(id), href: address({ view: 'sheets', part: id }) }, `${id} ${judged.get(id)}`), ' ']));
  }

  // ---- its experiment ----------------------------------------------------------------

  openExperiment(names, name, values) {
    const { catalogue } = this.app;
    this.experiment = catalogue.experiments.find((one) => one.name === name);
    this.flags = {};
    for (const flag of this.experiment.flags) if (values[flag.name] !== undefined) this.flags[flag.name] = values[flag.name];
    this.seed = Math.max(0, Math.round(Number(values.seed))) || 1;
    this.trials = Number(values.trials) >= 1 ? Math.min(Math.round(Number(values.trials)), 1e7) : null;
    this.error = errorBox();
    this.progress = progressLine(() => this.cancel());
    this.figures = h('div', { class: 'figures' });
    this.more = h('details', { class: 'more-figures', hidden: true }, h('summary', {}, 'More plots of this experiment'), h('div', { class: 'figures' }));
    this.numbers = h('div', { class: 'box', tabindex: 0, role: 'region', 'aria-label': 'Numbers' });
    this.conclusion = h('p', { class: 'conclusion', 'aria-live': 'polite' });
    const tabs =
      names.length > 1 &&
      h('div', { class: 'chips', role: 'group', 'aria-label': 'Experiments' }, names.map((one) => h('button', { type: 'button', class: 'chip', 'aria-pressed': String(one === name), 'data-experiment': one, onclick: () => this.switchTo(names, one) }, catalogue.experiments.find((e) => e.name === one).title)));
    this.controlsBox = h('div', { class: 'controls' });
    this.lab.replaceChildren(
      ...[
        tabs,
        h('div', { class: 'bench' }, h('div', { class: 'side' }, this.controlsBox, this.trialControls()), h('div', { class: 'results' }, this.error.element, this.progress.element, this.figures, this.conclusion, this.numbers, this.more)),
      ].filter(Boolean),
    );
    this.buildControls();
    this.changed(true);
  }

  switchTo(names, name) {
    this.stop();
    this.openExperiment(names, name, { ...this.flags });
  }

  buildControls() {
    const first = this.experiment.flags.filter((flag) => FIRST.has(flag.name));
    const others = this.experiment.flags.filter((flag) => !FIRST.has(flag.name));
    const reset = h('button', { type: 'button', class: 'quiet', 'data-action': 'reset', onclick: () => this.reset() }, 'Defaults');
    this.controlsBox.replaceChildren(
      h('h2', { class: 'group' }, 'Parameters', reset),
      ...first.map((flag) => this.control(flag)),
      ...(others.length ? [h('details', { open: others.some((flag) => flag.name in this.flags) }, h('summary', {}, 'More parameters'), ...others.map((flag) => this.control(flag)))] : []),
    );
  }

  control(flag) {
    const value = this.flags[flag.name] ?? (flag.type === 'choice' || flag.type === 'text' ? flag.text : flag.preset);
    const set = (next) => {
      const text = next == null ? '' : String(next);
      const standard = String(flag.type === 'choice' || flag.type === 'text' ? (flag.text ?? '') : (flag.preset ?? ''));
      if (text === '' || text === standard) delete this.flags[flag.name];
      else this.flags[flag.name] = text;
      this.changed();
    };
    const label = SYMBOLS[flag.name] ?? flag.name;
    if (flag.type === 'choice') return choice({ label, name: flag.name, value, help: flag.help, options: flag.choices.split('|').map((word) => [word, word]) }, set).element;
    if (flag.type === 'text') {
      const id = `text-${flag.name}`;
      return h('div', { class: 'control', 'data-control': flag.name }, h('label', { for: id }, label), h('input', { id, type: 'text', value: value ?? '', autocomplete: 'off', spellcheck: 'false', onchange: (event) => set(event.target.value.trim()) }), h('p', { class: 'help', html: flag.help }));
    }
    const [low, high, curve] = RANGES[flag.name] ?? [flag.min, flag.max, 'linear'];
    const ends = { low: Math.max(low, flag.min), high: Math.min(high, flag.max) };
    if (curve === 'log' && ends.low <= 0) ends.low = ends.high / 1e4;
    return slider({ label, name: flag.name, help: flag.help, min: flag.min, max: flag.max, whole: flag.type === 'integer', curve, ...ends, value: value == null ? null : Number(value), optional: flag.preset == null }, set).element;
  }

  reset() {
    this.flags = {};
    this.trials = null;
    this.seed = 1;
    this.buildControls();
    this.changed(true);
  }

  trialControls() {
    const { experiment } = this;
    if (!experiment.trials) return h('p', { class: 'small soft' }, 'Nothing here is left to chance.');
    const label = h('span', {});
    this.measureButton = h('button', { type: 'button', class: 'button', 'data-action': 'measure', onclick: () => this.measureAll(this.wanted) }, label);
    const set = (value) => {
      this.trials = value;
      label.textContent = `Measure ${(value ?? experiment.trials).toLocaleString('en')} trials`;
    };
    set(this.trials);
    const trials = slider({ label: 'Trials', name: 'trials', whole: true, min: 1, max: 1e7, low: 100, high: 1e6, curve: 'log', value: this.trials ?? experiment.trials }, (value) => {
      set(value === experiment.trials ? null : value);
      this.remembered();
    });
    const seed = slider({ label: 'Seed', name: 'seed', whole: true, min: 0, max: 1e9, low: 1, high: 100, value: this.seed }, (value) => {
      this.seed = value;
      this.changed();
    });
    return h('div', { class: 'controls' }, h('h2', { class: 'group' }, 'Chance'), trials.element, seed.element, this.measureButton);
  }

  remembered() {
    const names = new Set([...this.question.figures, ...this.question.numbers].map((one) => one.experiment));
    const values = { ...(names.size > 1 ? { x: this.experiment.name } : {}), ...this.flags, ...(this.seed !== 1 ? { seed: this.seed } : {}), ...(this.trials ? { trials: this.trials } : {}) };
    replace({ view: 'questions', part: this.question.id, values });
  }

  // ---- measuring ---------------------------------------------------------------------

  /** A parameter changed: numbers at once, plots when it rests. */
  changed(now = false) {
    this.stop();
    this.remembered();
    this.lab.dataset.state = 'waiting';
    const { round } = this;
    this.quick.ask({ round, request: this.request(Math.min(this.wanted, QUICK), false) });
    this.timer = setTimeout(() => this.measureAll(Math.min(this.wanted, LIVE), round), now ? 0 : WAIT);
  }

  /** Trials that were asked for, or the experiment's own. */
  get wanted() {
    return this.trials ?? (this.experiment.trials || 1);
  }

  request(trials, sweeps) {
    return { experiment: this.experiment.name, flags: { ...this.flags }, seed: this.seed, trials, sweeps, figures: true };
  }

  async measureQuick({ round, request }) {
    const rows = [];
    try {
      const found = await this.app.live.call('run', [request], { row: (row) => rows.push(row) });
      if (round !== this.round) return;
      this.error.show('');
      this.showRows(rows, request.trials);
      this.showFigures(found.figures, true);
      this.conclusion.innerHTML = found.concluded;
    } catch (error) {
      if (round === this.round && !(error instanceof Cancelled)) this.refuse(error.message);
    }
  }

  refuse(words) {
    this.error.show(words);
    this.progress.hide();
    this.conclusion.textContent = '';
  }

  async measureAll(trials, round = this.round) {
    if (round !== this.round) return;
    if (this.app.long.busy) this.app.long.cancel();
    const request = this.request(trials, true);
    const rows = [];
    const began = performance.now();
    this.progress.show('measuring', null);
    this.lab.dataset.state = 'measuring';
    try {
      const told = {
        row: (row) => rows.push(row),
        progress: (done, total) => {
          if (round === this.round) this.progress.show(`${done.toLocaleString('en')} of ${total.toLocaleString('en')} trials, ${rows.length} rows`, done / total);
        },
      };
      const found = await this.app.long.call('run', [request], told);
      if (round !== this.round) return;
      this.error.show('');
      this.showRows(rows, trials);
      this.showFigures(found.figures, false);
      this.conclusion.innerHTML = found.concluded;
      this.tell(`${rows.length} rows in ${number((performance.now() - began) / 1000, 2)} s. ${found.count}.`);
    } catch (error) {
      if (round !== this.round) return;
      if (error instanceof Cancelled) {
        this.showRows(rows, trials);
        this.tell('Cancelled: the rows show what was measured up to then.');
      } else this.refuse(error.message);
    }
    this.progress.hide();
    this.lab.dataset.state = 'done';
  }

  tell(words) {
    this.said.textContent = words;
  }

  cancel() {
    clearTimeout(this.timer);
    this.app.long.cancel();
  }

  // ---- results -----------------------------------------------------------------------

  showFigures(figures, keep) {
    const wanted = this.question.figures.filter((one) => one.experiment === this.experiment.name).map((one) => one.name);
    const make = (list) => list.map((figure) => figureElement(figure));
    if (keep) {
      // Only those that a quick measurement has are drawn anew.
      for (const figure of figures) {
        const old = this.lab.querySelector(`figure[data-figure="${CSS.escape(figure.title)}"]`);
        if (old) old.replaceWith(figureElement(figure));
        else if (wanted.includes(figure.title)) this.figures.append(figureElement(figure));
      }
      return;
    }
    const chosen = wanted.map((title) => figures.find((figure) => figure.title === title)).filter(Boolean);
    const main = chosen.length ? chosen : figures.slice(0, 1);
    this.figures.replaceChildren(...make(main));
    const others = figures.filter((figure) => !main.includes(figure));
    this.more.hidden = others.length === 0;
    this.more.lastChild.replaceChildren(...make(others));
  }

  showRows(rows, trials) {
    const wanted = this.question.numbers.filter((one) => one.experiment === this.experiment.name).map((one) => one.name);
    const own = rows.filter((row) => row.own);
    const first = own.filter((row) => wanted.includes(row.quantity)).sort((a, b) => wanted.indexOf(a.quantity) - wanted.indexOf(b.quantity));
    const rest = own.filter((row) => !wanted.includes(row.quantity));
    const all = first.length ? first : rest;
    this.said = h('p', { class: 'small soft', 'data-said': '' });
    const params = own[0] && Object.entries(own[0].params).filter(([, value]) => value !== null && value !== '').map(([name, value]) => `${SYMBOLS[name] ?? name} = ${value}`).join(', ');
    this.numbers.replaceChildren(
      this.table(all, `${params ?? ''}${this.experiment.trials ? `; ${trials.toLocaleString('en')} trials, seed ${this.seed}` : ''}`),
      this.said,
      ...(first.length && rest.length ? [h('details', {}, h('summary', {}, `${rest.length} more quantities`), this.table(rest, 'The other quantities at the same parameters'))] : []),
    );
  }

  table(rows, caption) {
    const cell = (row, which, se) => h('td', { class: 'n' }, shown(row[which], `${row.quantity}.${which}`), se && row.se > 0 ? h('span', { class: 'soft', html: ` ± ${number(row.se, 2)}` }) : null);
    const standing = (row) => (row.holds === true ? h('span', { class: 'holds' }, row.kind === 'bound' ? 'held' : 'agrees') : row.holds === false ? h('span', { class: 'fails' }, 'differs') : h('span', { class: 'soft' }, row.kind === 'exact' ? '' : row.kind));
    return h(
      'table',
      { class: 'numbers' },
      h('caption', {}, caption),
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'quantity'), h('th', { class: 'n', scope: 'col' }, 'theory'), h('th', { class: 'n', scope: 'col' }, 'measured'), h('th', { scope: 'col' }, 'standing'))),
      h('tbody', {}, rows.map((row) => h('tr', { 'data-row': row.quantity }, h('td', {}, h('code', {}, row.quantity), h('span', { class: 'meaning', html: this.experiment.quantities[row.quantity] ?? '' })), cell(row, 'theory', false), cell(row, 'measured', true), h('td', {}, standing(row))))),
    );
  }
}
