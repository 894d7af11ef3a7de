// SPDX-License-Identifier: MIT
// Drawings of the playground: keys and queries, values and output, weights.
import { h, svg } from './dom.js';
import { DRAWS } from './scene.js';

export const SIDE = 400;
export const MIDDLE = SIDE / 2;
export const UNIT = 92; // length of a unit vector in the drawing
const RIM = 178; // no query is drawn longer
const HALF = 4; // a query of this length is drawn at RIM / 2

const colour = (i) => (i === 0 ? 0 : i === 1 ? 1 : 7);

/** A letter with its index, in SVG. */
function tag(letter, index, attributes) {
  return svg('text', attributes, letter, svg('tspan', { dy: 4, 'font-size': '70%' }, index));
}

/* Queries may be long: distance grows with length, and never beyond the rim. */
const reach = (length) => (RIM * length) / (length + HALF);
export const lengthAt = (distance) => {
  const held = Math.min(distance, 0.985 * RIM);
  return (HALF * held) / (RIM - held);
};

export function tip([x, y]) {
  const length = Math.hypot(x, y);
  const far = length ? reach(length) / length : 0;
  return [MIDDLE + far * x, MIDDLE - far * y];
}

export const toPlane = (x, y) => [MIDDLE + UNIT * x, MIDDLE - UNIT * y];

/** Keys and queries, as elements of a drawing. */
export function keyParts(state, found) {
  const { flat } = found.keys;
  const parts = [];
  for (const length of [1, 3, 10, 30]) {
    parts.push(svg('circle', { cx: MIDDLE, cy: MIDDLE, r: reach(length), class: 'ring' }));
    parts.push(
      svg(
        'text',
        { x: MIDDLE - reach(length) * 0.7071, y: MIDDLE + reach(length) * 0.7071 + 4, class: 'ring-label' },
        `${length}`,
      ),
    );
  }
  parts.push(svg('path', { d: `M${MIDDLE} 8V${SIDE - 8}M8 ${MIDDLE}H${SIDE - 8}`, class: 'axis' }));
  if (state.n <= 16) parts.push(...feet(state, found));
  parts.push(
    ...dots(
      state,
      found,
      (i) => toPlane(flat[2 * i], flat[2 * i + 1]),
      4,
      13,
      state.keys === 'plane' ? 'dot grab' : 'dot',
    ),
  );
  for (const i of [1, 0]) {
    const [x, y] = toPlane(flat[2 * i], flat[2 * i + 1]);
    parts.push(tag('k', i ? 'b' : 'a', { x: x + 12, y: y - 12, class: `name name-${i}` }));
  }
  found.queries.forEach((q, which) => parts.push(...arrow(q, which, state.heads)));
  return parts;
}

/** The caption of the drawing, as HTML. */
export function keyCaption(state) {
  return (
    (state.keys === 'orthonormal'
      ? `The plane of k<sub>a</sub> and k<sub>b</sub>. The other ${state.n - 2} keys are perpendicular to it, at the origin.`
      : state.keys === 'random'
        ? `${state.n} random keys in ${state.d} dimensions, projected on the plane of k<sub>a</sub> and k<sub>b</sub>.`
        : 'Keys can be dragged as well.') +
    ' Rings give the length of the query; a dotted line leads to a key’s score, its shadow on the query.'
  );
}

/** Circles of all keys, as large as their weight; those without weight are one path. */
function dots(state, found, at, least, most, kind) {
  const circles = [];
  let rest = '';
  for (let i = state.n - 1; i >= 0; i--) {
    const [x, y] = at(i);
    const p = found.weights[i];
    if (i > 1 && p < 0.005) rest += `M${x.toFixed(1)} ${y.toFixed(1)}h0`;
    else
      circles.push(
        svg('circle', { cx: x, cy: y, r: least + most * Math.sqrt(p), class: `${kind} fill-${colour(i)}` }),
      );
  }
  return [
    rest && svg('path', { d: rest, class: 'no-weight', 'stroke-width': 2 * least + 1 }),
    ...circles,
  ].filter(Boolean);
}

/** From a key to its shadow on the query: the score is the shadow times the length. */
function feet(state, found) {
  const q = found.queries[0];
  const length = Math.hypot(...q);
  if (!length) return [];
  const unit = q.map((x) => x / length);
  return Array.from({ length: state.n }, (_, i) => {
    const [x, y] = [found.keys.flat[2 * i], found.keys.flat[2 * i + 1]];
    const along = x * unit[0] + y * unit[1];
    const [x1, y1] = toPlane(x, y);
    const [x2, y2] = toPlane(along * unit[0], along * unit[1]);
    return svg('path', { d: `M${x1} ${y1}L${x2} ${y2}`, class: 'foot' });
  });
}

function arrow(q, which, heads) {
  const [x, y] = tip(q);
  const angle = Math.atan2(MIDDLE - y, x - MIDDLE);
  const back = (turn) => `${x - 11 * Math.cos(angle + turn)} ${y + 11 * Math.sin(angle + turn)}`;
  const long = Math.hypot(x - MIDDLE, y - MIDDLE) > 12;
  return [
    svg('path', { d: `M${MIDDLE} ${MIDDLE}L${x} ${y}`, class: `query query-${which}` }),
    long && svg('path', { d: `M${back(0.45)}L${x} ${y}L${back(-0.45)}`, class: `query query-${which}` }),
    svg('circle', { cx: x, cy: y, r: 17, class: `handle handle-${which}` }),
    tag('q', heads === 2 ? String(which + 1) : '', {
      x: x + 14 * Math.cos(angle) - 4,
      y: y - 20 * Math.sin(angle) - 8,
      class: `name name-q${which}`,
    }),
  ].filter(Boolean);
}

/** Values, their segment, the output, and outputs of noisy keys. */
export function valueParts(state, found) {
  const at = (i) => toPlane(1.55 * found.v[2 * i], 1.55 * found.v[2 * i + 1]);
  const place = (x, y) => toPlane(1.55 * x, 1.55 * y);
  const [ax, ay] = at(0);
  const [bx, by] = at(1);
  const parts = [svg('path', { d: `M${ax} ${ay}L${bx} ${by}`, class: 'segment' })];
  parts.push(...dots(state, found, at, state.n > 64 ? 1.6 : 4, 24, 'dot soft-dot'));
  if (found.cloud) {
    let path = '';
    for (let i = 0; i < DRAWS; i++) {
      const [x, y] = place(found.cloud.outputs[2 * i], found.cloud.outputs[2 * i + 1]);
      const aside = 9 * Math.sin(12.9898 * i); // spreads points at one place
      path += `M${x.toFixed(1)} ${(y + aside).toFixed(1)}h0`;
    }
    parts.push(svg('path', { d: path, class: 'cloud-dots' }));
  }
  const [mx, my] = [(ax + bx) / 2, (ay + by) / 2];
  parts.push(svg('path', { d: `M${mx} ${my - 8}l8 8l-8 8l-8 -8z`, class: 'target' }));
  const [cx, cy] = place(...found.output);
  parts.push(
    svg('circle', { cx, cy, r: 9, class: 'output-halo' }),
    svg('circle', { cx, cy, r: 9, class: 'output' }),
  );
  parts.push(svg('text', { x: cx + 14, y: cy - 10, class: 'name name-c' }, 'c'));
  parts.push(
    tag('v', 'a', { x: ax - 10, y: ay + 36, class: 'name name-0' }),
    tag('v', 'b', { x: bx - 6, y: by + 36, class: 'name name-1' }),
  );
  return parts;
}

/** Weights of all keys as bars, one path for each colour. */
export function barParts(state, found) {
  const width = 800 / state.n;
  const bar = Math.max(width * (state.n > 40 ? 0.9 : 0.7), 1);
  const parts = [0, 0.5, 1].map((p) => svg('path', { d: `M10 ${128 - 110 * p}H810`, class: 'grid' }));
  const shapes = {};
  found.heads.forEach((head, which) => {
    const own = bar / found.heads.length;
    for (let i = 0; i < state.n; i++) {
      const high = Math.max(110 * head.weights[i], 0.75);
      const kind = state.heads === 2 ? `head-${which}` : `fill-${colour(i)}`;
      const left = 10 + width * i + (width - bar) / 2 + own * which;
      const wide = own * (found.heads.length > 1 ? 0.92 : 1);
      shapes[kind] =
        `${shapes[kind] ?? ''}M${left.toFixed(2)} 128v${(-high).toFixed(2)}h${wide.toFixed(2)}v${high.toFixed(2)}z`;
    }
  });
  for (const [kind, d] of Object.entries(shapes)) parts.push(svg('path', { d, class: `weight ${kind}` }));
  return parts;
}

/** The weight of v_a over the draws. */
export function histogram(found) {
  const bins = new Array(40).fill(0);
  for (const w of found.cloud.first) bins[Math.min(39, Math.floor(40 * w))]++;
  const most = Math.max(...bins);
  const drawing = svg(
    'svg',
    {
      viewBox: '0 0 820 120',
      class: 'lab-figure bars',
      role: 'img',
      'aria-label': `Weight of v_a in ${DRAWS} draws`,
      preserveAspectRatio: 'none',
    },
    svg('path', { d: 'M10 100H810', class: 'grid' }),
    bins.map((count, i) =>
      svg('rect', {
        x: 11 + 20 * i,
        y: 100 - (90 * count) / most,
        width: 18,
        height: (90 * count) / most,
        class: 'weight fill-2',
      }),
    ),
  );
  return h(
    'div.histogram',
    h('h3', `The weight of v`, h('sub', 'a'), ` in ${DRAWS} draws`),
    drawing,
    h('p.ends.small.soft', h('span', '0'), h('span', '½'), h('span', '1')),
  );
}
