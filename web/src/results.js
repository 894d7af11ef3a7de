// SPDX-License-Identifier: MIT
// Results of an experiment: plots, a conclusion, numbers beside theory.
import { h, number, shown } from './dom.js';
import { figureElement } from './figure.js';

/** Parameters that have a letter of their own. */
export const SYMBOLS = { sigma2: 'σ²', alpha: 'α', beta: 'β', eps: 'ε', tau: 'τ' };

export class Results {
  /** question: its figures and numbers come first; spec: the experiment's. */
  constructor(question, spec) {
    this.question = question;
    this.spec = spec;
    this.figures = h('div.figures');
    this.more = h(
      'details.more-figures',
      { hidden: true },
      h('summary', 'More plots of this experiment'),
      h('div.figures'),
    );
    this.numbers = h('div.box', { tabindex: 0, role: 'region', 'aria-label': 'Numbers' });
    this.conclusion = h('p.conclusion', { 'aria-live': 'polite' });
    this.said = h('p.small.soft', { 'data-said': '' });
    this.element = h('div', this.figures, this.conclusion, this.numbers, this.more);
  }

  clear() {
    for (const part of [this.figures, this.conclusion, this.numbers, this.more.lastChild])
      part.replaceChildren();
    this.more.hidden = true;
  }

  conclude(html) {
    this.conclusion.innerHTML = html;
  }

  /** A line below the numbers. */
  tell(words) {
    this.said.textContent = words;
  }

  /** keep: redraws only the given figures, as after a quick measurement, which has a few. */
  showFigures(figures, keep) {
    const wanted = this.question.figures
      .filter((one) => one.experiment === this.spec.name)
      .map((one) => one.name);
    const make = (list) => list.map((figure) => figureElement(figure));
    if (keep) {
      for (const figure of figures) {
        const old = this.element.querySelector(`figure[data-figure="${CSS.escape(figure.id)}"]`);
        if (old) old.replaceWith(figureElement(figure));
        else if (wanted.includes(figure.id)) this.figures.append(figureElement(figure));
      }
      return;
    }
    const chosen = wanted.map((id) => figures.find((figure) => figure.id === id)).filter(Boolean);
    const main = chosen.length ? chosen : figures.slice(0, 1);
    this.figures.replaceChildren(...make(main));
    const others = figures.filter((figure) => !main.includes(figure));
    this.more.hidden = others.length === 0;
    this.more.lastChild.replaceChildren(...make(others));
  }

  showRows(rows, trials, seed) {
    const wanted = this.question.numbers
      .filter((one) => one.experiment === this.spec.name)
      .map((one) => one.name);
    const own = rows.filter((row) => row.own);
    const first = own
      .filter((row) => wanted.includes(row.quantity))
      .sort((a, b) => wanted.indexOf(a.quantity) - wanted.indexOf(b.quantity));
    const rest = own.filter((row) => !wanted.includes(row.quantity));
    const all = first.length ? first : rest;
    this.tell('');
    const params =
      own[0] &&
      Object.entries(own[0].params)
        .filter(([, value]) => value !== null && value !== '')
        .map(([name, value]) => `${SYMBOLS[name] ?? name} = ${value}`)
        .join(', ');
    this.numbers.replaceChildren(
      this.table(
        all,
        `${params ?? ''}${this.spec.trials ? `; ${trials.toLocaleString('en')} trials, seed ${seed}` : ''}`,
      ),
      this.said,
      ...(first.length && rest.length
        ? [
            h(
              'details',
              h('summary', `${rest.length} more quantities`),
              this.table(rest, 'The other quantities at the same parameters'),
            ),
          ]
        : []),
    );
  }

  table(rows, caption) {
    const cell = (row, which, se) =>
      h(
        'td.n',
        shown(row[which], `${row.quantity}.${which}`),
        se && row.se > 0 ? h('span.soft', { html: ` ± ${number(row.se, 2)}` }) : null,
      );
    const standing = (row) =>
      row.holds === true
        ? h('span.holds', row.kind === 'bound' ? 'held' : 'agrees')
        : row.holds === false
          ? h('span.fails', 'differs')
          : h('span.soft', row.kind === 'exact' ? '' : row.kind);
    return h(
      'table.numbers',
      h('caption', caption),
      h(
        'thead',
        h(
          'tr',
          h('th', { scope: 'col' }, 'quantity'),
          h('th.n', { scope: 'col' }, 'theory'),
          h('th.n', { scope: 'col' }, 'measured'),
          h('th', { scope: 'col' }, 'standing'),
        ),
      ),
      h(
        'tbody',
        rows.map((row) =>
          h(
            'tr',
            { 'data-row': row.quantity },
            h(
              'td',
              h('code', row.quantity),
              h('span.meaning', { html: this.spec.quantities[row.quantity] ?? '' }),
            ),
            cell(row, 'theory', false),
            cell(row, 'measured', true),
            h('td', standing(row)),
          ),
        ),
      ),
    );
  }
}
