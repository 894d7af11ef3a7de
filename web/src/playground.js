// SPDX-License-Identifier: MIT
// The playground: drag the query and see weights, entropy and output move.
import { button, choice, errorBox, h, keepFocus, number, shown, slider, svg, toggle } from './dom.js';
import {
  barParts,
  histogram,
  keyCaption,
  keyParts,
  lengthAt,
  MIDDLE,
  SIDE,
  tip,
  toPlane,
  UNIT,
  valueParts,
} from './planes.js';
import { replace } from './state.js';
import { attend, D_MAX, DRAWS, fromValues, N_MAX, PRESETS, SHEETS, START, toValues } from './scene.js';

export class Playground {
  constructor(app) {
    this.app = app;
    this.state = { ...START, moved: {} };
    this.asked = false;
    this.element = h('div.view.playground');
    this.build();
  }

  // ---- parts -------------------------------------------------------------------------

  build() {
    this.error = errorBox();
    this.keyCaption = h('figcaption');
    this.note = h('p.note', { 'aria-live': 'polite' });
    this.keyPlane = svg('svg', {
      viewBox: `0 0 ${SIDE} ${SIDE}`,
      class: 'lab-figure plane',
      role: 'img',
      'aria-label': 'Keys and query',
    });
    this.valuePlane = svg('svg', {
      viewBox: `0 0 ${SIDE} ${SIDE}`,
      class: 'lab-figure plane',
      role: 'img',
      'aria-label': 'Values and output',
    });
    this.bars = svg('svg', {
      viewBox: '0 0 820 150',
      class: 'lab-figure bars',
      role: 'img',
      'aria-label': 'Weights',
      preserveAspectRatio: 'none',
    });
    this.histogram = h('div');
    this.tiles = h('ul.tiles', { 'data-tiles': '' });
    this.controls = h('div.controls');
    this.buttons = new Map();
    this.element.append(
      h(
        'div.lead',
        h('h1', 'What a query does'),
        h(
          'p',
          'A query gives every key a score, softmax turns scores into weights, and the output is the mean of the values with these weights. Drag the arrow.',
        ),
      ),
      this.presets(),
      this.note,
      this.error.element,
      h(
        'div.stage',
        h(
          'div.planes',
          h('figure', h('h2.plot-title', 'Keys and query'), this.keyPlane, this.keyCaption),
          h(
            'figure',
            h('h2.plot-title', 'Values and output'),
            this.valuePlane,
            h('figcaption', {
              html: 'Circles are values, as large as their weight. The ring is the output c, the diamond the average of v<sub>a</sub> and v<sub>b</sub>. With noise, small dots are the outputs of noisy keys, moved aside a little so that many are seen as many.',
            }),
          ),
          h('figure.wide', h('h2.plot-title', 'Weights'), this.bars, this.histogram),
        ),
        h('aside.side', { 'aria-label': 'Settings and numbers' }, this.tiles, this.controls),
      ),
    );
    this.keyPlane.addEventListener('pointerdown', (event) => this.grab(event));
  }

  presets() {
    const preset = ([id, label, set, words]) => {
      const element = button('chip', label, () => this.preset(set, words), {
        'data-preset': id,
        title: words,
      });
      return element;
    };
    return h(
      'div.presets',
      h('div.chips', { role: 'group', 'aria-label': 'Presets' }, PRESETS.map(preset)),
      h(
        'div.chips',
        { role: 'group', 'aria-label': 'Queries of the sheets' },
        h('span.small.soft', 'Queries of the sheets:'),
        SHEETS.map(([id, , set, words]) => preset([`sheet-${id}`, id, { sigma2: 0.5, ...set }, words])),
      ),
    );
  }

  preset(set, words) {
    this.state = { ...START, moved: {}, ...structuredClone(set) };
    this.note.textContent = words;
    this.buildControls();
    this.update();
  }

  change(changes) {
    Object.assign(this.state, changes);
    this.update();
  }

  buildControls() {
    const { state } = this;
    const rebuild = (changes) => {
      this.change(changes);
      this.buildControls();
    };
    const polar = (which) => {
      const [x, y] = state[which];
      return { length: Math.hypot(x, y), angle: ((Math.atan2(y, x) * 180) / Math.PI + 360) % 360 };
    };
    const turn = (which, { length, angle }) => {
      const radians = (angle * Math.PI) / 180;
      this.change({ [which]: [length * Math.cos(radians), length * Math.sin(radians)] });
    };
    this.queryControls = {};
    const query = (which, words) => {
      const at = polar(which);
      const keep = () => ({ ...this.polar(which), angle: this.queryControls[which].angleValue });
      const length = slider(
        {
          label: `Length of ${words}`,
          name: `${which}-length`,
          min: 0,
          max: 1000,
          low: 0,
          high: 40,
          curve: 'square',
          value: Number(at.length.toPrecision(4)),
        },
        (value) => turn(which, { ...keep(), length: value }),
      );
      const angle = slider(
        {
          label: `Direction of ${words} (degrees)`,
          name: `${which}-direction`,
          min: 0,
          max: 360,
          low: 0,
          high: 360,
          value: Number(at.angle.toPrecision(4)),
        },
        (value) => {
          this.queryControls[which].angleValue = value;
          turn(which, { ...this.polar(which), angle: value });
        },
      );
      this.queryControls[which] = { length, angle, angleValue: at.angle };
      return [length.element, angle.element];
    };
    const seed = button('quiet', 'Draw again', () => this.change({ seed: this.state.seed + 1 }), {
      'data-action': 'draw-again',
    });
    const parts = [
      h('h2.group', 'Query'),
      ...query('q', state.heads === 2 ? 'query 1' : 'the query'),
      ...(state.heads === 2 ? query('q2', 'query 2') : []),
      choice(
        {
          label: 'Heads',
          name: 'heads',
          value: String(state.heads),
          options: [
            ['1', 'one'],
            ['2', 'two, averaged'],
          ],
        },
        (value) => rebuild({ heads: Number(value) }),
      ).element,
      h('h2.group', 'Keys'),
      choice(
        {
          label: 'Keys',
          name: 'keys',
          value: state.keys,
          options: [
            ['orthonormal', 'orthonormal, one axis each'],
            ['plane', 'points in the plane'],
            ['random', 'random, in d dimensions'],
          ],
        },
        (value) => rebuild({ keys: value, moved: {} }),
      ).element,
      slider(
        {
          label: 'Number of keys, n',
          name: 'n',
          whole: true,
          min: 2,
          max: N_MAX,
          low: 2,
          high: N_MAX,
          curve: 'log',
          value: state.n,
        },
        (value) => this.change({ n: value }),
      ).element,
      state.keys === 'random' &&
        slider(
          {
            label: 'Dimensions, d',
            name: 'd',
            whole: true,
            min: 2,
            max: D_MAX,
            low: 2,
            high: D_MAX,
            curve: 'log',
            value: state.d,
          },
          (value) => this.change({ d: value }),
        ).element,
      toggle({ label: 'Divide scores by √d', name: 'divided', value: state.divided }, (value) =>
        this.change({ divided: value }),
      ).element,
      h('h2.group', 'Noise in the keys'),
      toggle({ label: 'Show outputs of noisy keys', name: 'noise', value: state.noise }, (value) =>
        rebuild({ noise: value }),
      ).element,
      state.noise &&
        slider(
          {
            label: 'Variance of the length of k<sub>a</sub>, σ²',
            name: 'sigma2',
            min: 0,
            max: 4,
            low: 0,
            high: 2,
            value: state.sigma2,
          },
          (value) => this.change({ sigma2: value }),
        ).element,
      state.noise &&
        slider(
          {
            label: 'Variance of every entry, α',
            name: 'alpha',
            min: 0,
            max: 4,
            low: 0,
            high: 0.5,
            curve: 'square',
            value: state.alpha,
          },
          (value) => this.change({ alpha: value }),
        ).element,
      (state.noise || state.keys === 'random') && seed,
    ];
    keepFocus(this.controls, () => this.controls.replaceChildren(...parts.filter(Boolean)));
  }

  polar(which) {
    const [x, y] = this.state[which];
    return { length: Math.hypot(x, y), angle: ((Math.atan2(y, x) * 180) / Math.PI + 360) % 360 };
  }

  // ---- pointer -----------------------------------------------------------------------

  at(event) {
    const frame = this.keyPlane.getBoundingClientRect();
    return [
      ((event.clientX - frame.left) / frame.width) * SIDE - MIDDLE,
      MIDDLE - ((event.clientY - frame.top) / frame.height) * SIDE,
    ];
  }

  grab(event) {
    const [x, y] = this.at(event);
    const move = this.handleAt(x, y);
    if (move.jumps && event.pointerType === 'touch') return; // a touch scrolls
    event.preventDefault();
    this.keyPlane.setPointerCapture(event.pointerId);
    const drag = (next) => move(...this.at(next));
    const drop = () => {
      this.keyPlane.removeEventListener('pointermove', drag);
      this.buildControls();
    };
    this.keyPlane.addEventListener('pointermove', drag);
    this.keyPlane.addEventListener('pointerup', drop, { once: true });
    this.keyPlane.addEventListener('pointercancel', drop, { once: true });
    if (move.jumps) move(x, y);
  }

  /** The object that a press at this place drags: a key of the plane, or the nearer query. */
  handleAt(x, y) {
    const { state } = this;
    const near = (px, py) => Math.hypot(px - MIDDLE - x, MIDDLE - py - y);
    const queries = state.heads === 2 ? ['q', 'q2'] : ['q'];
    const to = queries.map((which) => [near(...tip(state[which])), which]).sort((a, b) => a[0] - b[0])[0];
    if (state.keys === 'plane' && to[0] > 24)
      for (let i = 0; i < state.n; i++) {
        const [px, py] = toPlane(this.found.keys.flat[2 * i], this.found.keys.flat[2 * i + 1]);
        if (near(px, py) < 16)
          return (dx, dy) =>
            this.change({
              moved: { ...state.moved, [i]: [dx / UNIT, dy / UNIT].map((t) => Math.min(Math.max(t, -2), 2)) },
            });
      }
    const turn = (dx, dy) => {
      const distance = Math.hypot(dx, dy);
      const length = distance < 6 ? 0 : lengthAt(distance);
      this.change({ [to[1]]: distance ? [(length * dx) / distance, (length * dy) / distance] : [0, 0] });
    };
    turn.jumps = to[0] > 24;
    return turn;
  }

  // ---- drawing -----------------------------------------------------------------------

  /** Many changes within a frame are drawn once. */
  update() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }

  draw() {
    const { engine } = this.app;
    if (!engine || this.element.hidden) return;
    try {
      this.found = attend(this.state, engine);
      this.error.show('');
    } catch (error) {
      this.error.show(error.message);
      return;
    }
    this.keyPlane.replaceChildren(...keyParts(this.state, this.found));
    this.keyCaption.innerHTML = keyCaption(this.state);
    this.valuePlane.replaceChildren(...valueParts(this.state, this.found));
    this.drawBars();
    this.drawTiles();
    for (const [which, controls] of Object.entries(this.queryControls ?? {})) {
      const at = this.polar(which);
      controls.length.set(Number(at.length.toPrecision(4)));
      if (at.length) controls.angleValue = at.angle;
      controls.angle.set(Number(controls.angleValue.toPrecision(4)));
    }
    replace({ view: 'playground', values: toValues(this.state) });
    this.app.frames++;
  }

  drawBars() {
    const { state, found } = this;
    const words = `p of ${state.n} keys, from 0 to 1; the first two are a and b${state.heads === 2 ? '; head 1 left, head 2 right of each pair' : ''}.`;
    this.bars.replaceChildren(...barParts(state, found));
    this.bars.setAttribute(
      'aria-label',
      `Weights: a ${found.weights[0].toPrecision(3)}, b ${found.weights[1].toPrecision(3)}; ${words}`,
    );
    this.histogram.replaceChildren(h('p.small.soft', words), ...(found.cloud ? [histogram(found)] : []));
  }

  drawTiles() {
    const { state, found } = this;
    const tile = (label, value, id, digits = 3) =>
      h('li', h('b', shown(value, id, digits)), h('span', { html: label }));
    const rest = found.weights.slice(2).reduce((a, b) => a + b, 0);
    const off = Math.hypot(found.output[0], found.output[1] + 0.55);
    const mean = (get) => found.heads.reduce((sum, head) => sum + get(head), 0) / found.heads.length;
    const per = state.heads === 2 ? ', mean of the heads' : '';
    const tiles = [
      tile('weight of v<sub>a</sub>', found.weights[0], 'p_a'),
      tile('weight of v<sub>b</sub>', found.weights[1], 'p_b'),
      tile(`leak, ${state.n - 2} other keys`, rest, 'leak'),
      tile(
        `entropy H, of ln n = ${number(Math.log(state.n), 3)}${per}`,
        mean((head) => head.entropy),
        'entropy',
      ),
      tile(
        `effective keys, of ${state.n}${per}`,
        mean((head) => head.effective),
        'n_eff',
      ),
      tile('distance of c from the average', off, 'distance'),
    ];
    if (found.cloud) {
      const { first } = found.cloud;
      const average = first.reduce((a, b) => a + b, 0) / DRAWS;
      const spread = first.reduce((a, w) => a + (w - average) ** 2, 0) / (DRAWS - 1);
      tiles.push(
        tile(`mean of w over ${DRAWS} draws`, average, 'mean_w'),
        tile('variance of w; a coin has 0.25', spread, 'var_w'),
      );
    }
    this.tiles.replaceChildren(...tiles);
  }

  // ---- view --------------------------------------------------------------------------

  show({ values }) {
    this.state = fromValues(values);
    this.note.textContent = '';
    this.buildControls();
    this.draw();
  }
}
