// SPDX-License-Identifier: MIT
// The statements of the sheets: passage, verdict, numbers, and a way to the counterexample.
import { Cancelled } from './client.js';
import { button, choice, errorBox, h, keepFocus, progressLine, shown, verdict } from './dom.js';
import { address, replace } from './state.js';

const VERDICTS = ['holds', 'limit', 'fails', 'slip'];

/** Flags of an experiment that stand for the scale of a statement. */
const SCALES = ['C', 'beta', 'D', 'S'];

export class Sheets {
  constructor(app) {
    this.app = app;
    this.judgements = { ...app.judgements };
    this.filter = { verdict: '', sheet: '', question: '', reading: 'charity', text: '' };
    this.element = h('div.view.sheets');
    this.build();
  }

  build() {
    this.error = errorBox();
    this.progress = progressLine(() => this.app.long.cancel());
    this.tally = h('div.tally');
    this.list = h('ol.cards', { 'aria-label': 'Statements' });
    this.count = h('p.small.soft', { 'aria-live': 'polite' });
    this.filters = h('div.filters');
    this.disputes = h('ol.disputes');
    this.again = button('quiet', 'Judge all again in this browser', () => this.judgeAgain(), {
      'data-action': 'judge-again',
    });
    this.element.append(
      h(
        'div.lead',
        h('h1', `Five sheets, ${this.app.catalogue.statements} statements`),
        h(
          'p',
          'Five solution sheets answer the exercise. Every statement was put to the test by computing it, with the sheet’s own queries. Each shows the passage judged with its line, what is exactly so, and the numbers. The sheets are scans, most of handwriting: where the scan may be at fault, the numbers say so.',
        ),
      ),
      this.tally,
      h(
        'ul.legend',
        VERDICTS.map((name) =>
          h('li', this.word(name), ' ', h('span', { html: this.app.catalogue.verdicts[name] })),
        ),
      ),
      this.filters,
      h('div.row', this.again, this.count),
      this.progress.element,
      this.error.element,
      this.list,
      h(
        'section',
        { id: 'disputes' },
        h('h2', 'Where the sheets disagree'),
        h(
          'p',
          `${this.app.catalogue.disputes} points on which they contradict each other or themselves, and who is right.`,
        ),
        this.disputes,
      ),
    );
    this.disputes.append(
      ...this.app.judgements.disputes.map((one) =>
        h(
          'li',
          h('b', { html: this.linked(one.question) }),
          h('p.small.soft', { html: this.linked(one.sides) }),
          h('p.small', h('span.holds', 'Right: '), h('span', { html: this.linked(one.right) })),
        ),
      ),
    );
  }

  /** A verdict as readers see it. */
  word(name) {
    return verdict(name, this.app.catalogue.verdict_words[name]);
  }

  /** The verdict of the other reading, in words. */
  otherwise(one) {
    const other = this.judgements[one.reading === 'charity' ? 'letter' : 'charity'];
    return this.app.catalogue.verdict_words[other.find((two) => two.id === one.id).verdict];
  }

  linked(html) {
    return html.replace(
      /\b00\d-\d{1,2}\b/g,
      (id) => `<a href="${address({ view: 'sheets', part: id })}">${id}</a>`,
    );
  }

  show({ part, values }) {
    for (const name of Object.keys(this.filter))
      this.filter[name] = values[name] ?? (name === 'reading' ? 'charity' : '');
    if (this.filter.reading !== 'letter') this.filter.reading = 'charity';
    if (!VERDICTS.includes(this.filter.verdict)) this.filter.verdict = '';
    this.part = part;
    this.draw();
    const card = part && this.list.querySelector(`[data-id="${CSS.escape(part)}"]`);
    if (card) {
      card.classList.add('target');
      card.scrollIntoView({ block: 'center' });
      card.focus({ preventScroll: true });
    }
  }

  set(changes) {
    Object.assign(this.filter, changes);
    this.part = '';
    const { reading, ...rest } = this.filter;
    replace({ view: 'sheets', values: { ...rest, ...(reading === 'letter' ? { reading } : {}) } });
    this.draw(Object.keys(changes)[0]);
  }

  draw(changed) {
    const all = this.judgements[this.filter.reading];
    keepFocus(this.element, () => {
      this.drawTally(all);
      if (changed !== 'text') this.drawFilters(all);
    });
    const { verdict: wanted, sheet, question, text } = this.filter;
    const words = text.toLowerCase();
    const shownOnes = this.part
      ? all
      : all.filter(
          (one) =>
            (!wanted || one.verdict === wanted) &&
            (!sheet || one.sheet === sheet) &&
            (!question || one.question === question) &&
            (!words || `${one.id} ${one.says} ${one.quote} ${one.evidence}`.toLowerCase().includes(words)),
        );
    this.count.textContent = `${shownOnes.length} of ${all.length} statements`;
    this.list.replaceChildren(...shownOnes.map((one) => this.card(one)));
  }

  drawTally(all) {
    const count = Object.fromEntries(
      VERDICTS.map((name) => [name, all.filter((one) => one.verdict === name).length]),
    );
    this.tally.replaceChildren(
      h(
        'div.split',
        { 'aria-hidden': 'true' },
        VERDICTS.map((name) => h('i', { class: name, style: `flex:${count[name]}` })),
      ),
      h(
        'div.chips',
        { role: 'group', 'aria-label': 'Filter by verdict' },
        ['', ...VERDICTS].map((name) =>
          button(
            `chip ${name}`,
            name ? `${count[name]} ${this.app.catalogue.verdict_words[name]}` : `all ${all.length}`,
            () => this.set({ verdict: name }),
            {
              'aria-pressed': String(this.filter.verdict === name && !this.part),
              'data-verdict': name || 'all',
            },
          ),
        ),
      ),
    );
  }

  drawFilters(all) {
    const questions = [...new Set(all.map((one) => one.question).filter(Boolean))];
    const search = h('input', {
      type: 'search',
      id: 'sheet-search',
      value: this.filter.text,
      autocomplete: 'off',
      oninput: () => this.set({ text: search.value }),
    });
    this.filters.replaceChildren(
      choice(
        {
          label: 'Sheet',
          name: 'sheet',
          value: this.filter.sheet,
          options: [['', 'all five'], ...['000', '001', '002', '003', '004'].map((id) => [id, id])],
        },
        (value) => this.set({ sheet: value }),
      ).element,
      choice(
        {
          label: 'Question',
          name: 'question',
          value: this.filter.question,
          options: [['', 'all'], ...questions.map((id) => [id, id])],
        },
        (value) => this.set({ question: value }),
      ).element,
      choice(
        {
          label: 'Reading',
          name: 'reading',
          value: this.filter.reading,
          options: [
            ['charity', 'with charity'],
            ['letter', 'by the letter'],
          ],
        },
        (value) => this.set({ reading: value }),
      ).element,
      h('div.control', { 'data-control': 'text' }, h('label', { for: 'sheet-search' }, 'Search'), search),
    );
  }

  card(one) {
    const link = this.counterexample(one);
    return h(
      'li.card',
      { 'data-id': one.id, 'data-verdict': one.verdict, tabindex: -1 },
      h(
        'div.card-head',
        h('b', one.id),
        this.word(one.verdict),
        one.question &&
          h(
            'a.small',
            { href: address({ view: 'questions', part: one.question }) },
            `question ${one.question}`,
          ),
        h('span.soft.small', `line ${one.quoted_line}`),
      ),
      one.quote && h('blockquote.quote', { html: one.quote }),
      h('p', { html: one.says }),
      h('p.small', h('span.soft', 'Exactly: '), h('span', { html: one.holds_when })),
      h('p.small.soft', { html: one.evidence }),
      h(
        'div.row.small',
        one.measured != null && h('span', 'computed ', shown(one.measured, `${one.id}.measured`, 5)),
        one.expected != null && h('span', 'claimed ', shown(one.expected, `${one.id}.expected`, 5)),
        !one.readings_agree &&
          h(
            'span.soft',
            one.reading === 'charity' ? 'by the letter: ' : 'with charity: ',
            this.otherwise(one),
          ),
        one.invariant && h('span.soft', 'the same whatever the numbers of the exercise'),
        link,
      ),
    );
  }

  /** A link to the question with its sliders where the statement was furthest off. */
  counterexample(one) {
    const { questions, experiments } = this.app.catalogue;
    const question = questions.find((q) => q.id === one.question);
    const name = question?.figures[0]?.experiment ?? question?.numbers[0]?.experiment;
    if (!one.at || !name) return null;
    const experiment = experiments.find((e) => e.name === name);
    const flag = (wanted) => experiment.flags.find((f) => f.name === wanted);
    const hold = (f, value) => Math.min(Math.max(value, f.min), f.max);
    const values = {};
    if (flag('n')) values.n = hold(flag('n'), one.at.n);
    const scale = SCALES.map(flag).find(Boolean);
    if (scale && one.at.scale != null) values[scale.name] = hold(scale, one.at.scale);
    if (flag('alpha') && one.at.alpha > 0) values.alpha = hold(flag('alpha'), one.at.alpha);
    return h(
      'a.button.small',
      {
        'data-counterexample': one.id,
        href: address({ view: 'questions', part: question.id, values }),
      },
      one.verdict === 'fails' ? 'Set the sliders to its counterexample' : 'Set the sliders to its numbers',
    );
  }

  async judgeAgain() {
    const { reading } = this.filter;
    this.again.disabled = true;
    this.error.show('');
    try {
      const told = {
        progress: (done, total) => this.progress.show(`${done} of ${total} statements`, done / total),
      };
      const judged = await this.app.long.call(
        'judgeAll',
        [{ reading, count: this.app.catalogue.statements }],
        told,
      );
      const moved = judged.filter((one, i) => one.verdict !== this.judgements[reading][i].verdict).length;
      this.judgements[reading] = judged;
      this.draw();
      this.count.textContent = `${judged.length} statements judged in this browser; ${moved} verdicts differ from those the page came with`;
    } catch (error) {
      if (!(error instanceof Cancelled)) this.error.show(error.message);
      else this.count.textContent = 'Cancelled: the verdicts are those the page came with.';
    }
    this.progress.hide();
    this.again.disabled = false;
  }

  leave() {
    if (this.again.disabled) this.app.long.cancel();
  }
}
