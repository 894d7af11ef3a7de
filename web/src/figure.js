// SPDX-License-Identifier: MIT
// A figure as the report draws it, with a readout of the point under the pointer, and its
// numbers as a table.
import { h, number, numberText, svg } from './dom.js';

const place = (value, [lo, hi], log) =>
  log ? Math.log(value / lo) / Math.log(hi / lo) : (value - lo) / (hi - lo);

/** Every point of the figure in the units of its drawing. */
function pointsOf(figure) {
  const [left, top, width, height] = figure.box;
  const all = [];
  for (const series of figure.series)
    series.x.forEach((x, i) => {
      const y = series.y[i];
      const px = left + width * place(x, figure.x, figure.x_log);
      const py = top + height * (1 - place(y, figure.y, figure.y_log));
      if (Number.isFinite(px) && Number.isFinite(py) && px >= left - 1 && px <= left + width + 1)
        all.push({
          px,
          py: Math.min(Math.max(py, top), top + height),
          x,
          y,
          se: series.se[i],
          label: series.label,
        });
    });
  return all;
}

function nearestCell(figure, px, py) {
  const { heat } = figure;
  const [left, top, width, height] = figure.box;
  const column = Math.floor(((px - left) / width) * heat.x.length);
  const row = Math.floor((1 - (py - top) / height) * heat.y.length);
  if (column < 0 || row < 0 || column >= heat.x.length || row >= heat.y.length) return null;
  return {
    px: left + (width * (column + 0.5)) / heat.x.length,
    py: top + height * (1 - (row + 0.5) / heat.y.length),
    x: heat.x[column],
    y: heat.y[row],
    z: heat.value[row * heat.x.length + column],
    label: heat.label,
  };
}

function nearest(points, px, py) {
  let best = null;
  let least = 40 ** 2;
  for (const point of points) {
    const far = (point.px - px) ** 2 + 0.35 * (point.py - py) ** 2;
    if (far < least) [best, least] = [point, far];
  }
  return best;
}

/** Puts the readout over the drawing. */
function addReadout(figure, drawing, holder) {
  const points = pointsOf(figure);
  const mark = svg('circle', { r: 5, class: 'readout-mark', visibility: 'hidden' });
  const tip = h('output.readout', { hidden: true, 'aria-hidden': 'true' });
  drawing.append(mark);
  holder.append(tip);
  const hide = () => {
    mark.setAttribute('visibility', 'hidden');
    tip.hidden = true;
  };
  drawing.addEventListener('pointerleave', hide);
  drawing.addEventListener('pointermove', (event) => {
    const frame = drawing.getBoundingClientRect();
    const unit = drawing.viewBox.baseVal.width / frame.width;
    const px = (event.clientX - frame.left) * unit;
    const py = (event.clientY - frame.top) * unit;
    const point = figure.heat ? nearestCell(figure, px, py) : nearest(points, px, py);
    if (!point) return hide();
    mark.setAttribute('cx', point.px);
    mark.setAttribute('cy', point.py);
    mark.setAttribute('visibility', 'visible');
    tip.innerHTML =
      `<b>${point.label}</b><br>${typeof xOf(figure, point.x) === 'string' ? xOf(figure, point.x) : number(point.x)} → ` +
      (figure.heat
        ? `${number(point.y)}: ${number(point.z)}`
        : `${number(point.y)}${point.se ? ` ± ${number(point.se, 2)}` : ''}`);
    tip.hidden = false;
    const left = point.px / unit;
    tip.style.left = `${Math.min(Math.max(left, 70), frame.width - 70)}px`;
    tip.style.top = `${point.py / unit}px`;
  });
}

/** x of a point: a number, or its name where the axis has names. */
const namesOf = (figure) => figure.x_names?.split('|');
const xOf = (figure, x) => namesOf(figure)?.[Math.round(x)] ?? x;

/** Every number of the figure: points of its series, and cells of its map. */
function numbersOf(figure) {
  const points = figure.series.flatMap((series) =>
    series.x.map((x, i) => [series.label, xOf(figure, x), series.y[i], series.se[i] || null]),
  );
  const { heat } = figure;
  const cells = heat?.y.flatMap((y, r) =>
    heat.x.map((x, c) => [heat.label, x, y, heat.value[r * heat.x.length + c]]),
  );
  return [...points, ...(cells ?? [])];
}

function table(figure) {
  const cell = (value) =>
    typeof value === 'string' ? h('td', value) : h('td.n', value == null ? '' : numberText(value, 6));
  const last = figure.heat ? (figure.series.length ? 'value or se' : 'value') : 'se';
  return h(
    'div.box',
    { tabindex: 0, role: 'region', 'aria-label': `numbers of ${figure.title}` },
    h(
      'table',
      h('thead', h('tr', h('th', 'series'), ...['x', 'y', last].map((name) => h('th.n', name)))),
      h(
        'tbody',
        numbersOf(figure).map((row) => h('tr', row.map(cell))),
      ),
    ),
  );
}

/** The figure as an element. */
export function figureElement(figure) {
  const holder = h('div.drawing', { html: figure.svg });
  addReadout(figure, holder.querySelector('svg'), holder);
  const numbers = h('details.numbers-of', h('summary', 'Numbers of this plot'));
  numbers.addEventListener('toggle', () => {
    if (numbers.open && numbers.children.length === 1) numbers.append(table(figure));
  });
  return h(
    'figure',
    { 'data-figure': figure.id },
    holder,
    h('figcaption', { html: figure.caption }),
    numbers,
  );
}
