// SPDX-License-Identifier: MIT
// The exercise, question by question: statement, answer, formula, and its experiment.
import { h } from './dom.js';
import { Experiment } from './experiment.js';
import { address } from './state.js';

/** Which of the five things to remember a question teaches. */
const REMEMBER = {
  '1a-i': 0,
  '1a-ii': 0,
  '1a-iii': 0,
  '1a-iv': 0,
  '1b-ii': 1,
  '1c-i': 2,
  '1c-ii': 3,
  '1d-i': 3,
  '1d-ii': 3,
  '1e': 3,
  '2a-i': 4,
  '2a-ii': 4,
  '2b-i': 4,
  '2b-ii': 4,
  '3g': 4,
  'many-keys': 0,
  'random-scores': 0,
  'few-dimensions': 1,
};
/** A formula that can be scrolled where it is wider than the screen. */
const formula = (html) => h('div.formula', { tabindex: 0, role: 'math', 'aria-label': 'formula', html });

const isOfExercise = (question) => /^\d/.test(question.id);

export class Questions {
  constructor(app) {
    this.app = app;
    this.element = h('div.view.questions');
    this.experiment = new Experiment(app);
    this.build();
  }

  build() {
    const { questions } = this.app.catalogue;
    this.links = new Map();
    const link = (question) => {
      const element = h(
        'a',
        { href: address({ view: 'questions', part: question.id }) },
        isOfExercise(question) && h('b', question.id),
        h('span', { html: question.title }),
      );
      this.links.set(question.id, element);
      return h('li', element);
    };
    this.startLink = h(
      'a',
      { href: address({ view: 'questions' }) },
      h('span', 'The exercise in one screen'),
    );
    this.body = h('div.body');
    const list = h(
      'details.contents',
      { open: matchMedia('(min-width: 60rem)').matches },
      h('summary', 'Questions'),
      h('ol', h('li', this.startLink), questions.map(link)),
    );
    this.element.append(h('nav.list', { 'aria-label': 'Questions' }, list), this.body);
    this.list = list;
  }

  show({ part, values }) {
    this.experiment.stop();
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
    this.experiment.stop();
  }

  // ---- the start ---------------------------------------------------------------------

  showStart() {
    const { exercise, things, glossary } = this.app.catalogue;
    this.question = null;
    this.body.replaceChildren(
      h('h1', 'The exercise in one screen'),
      ...exercise.map((html) => (html.startsWith('<math') ? formula(html) : h('p', { html }))),
      h(
        'section',
        h('h2', 'Five things to remember'),
        h(
          'ol.things',
          things.map(({ what, why }) => h('li', h('b', { html: what }), ' ', h('span', { html: why }))),
        ),
      ),
      h(
        'section',
        h('h2', 'Glossary'),
        h(
          'dl.glossary',
          glossary.map(({ term, meaning }) => h('div', h('dt', { html: term }), h('dd', { html: meaning }))),
        ),
      ),
    );
  }

  // ---- a question --------------------------------------------------------------------

  showQuestion(values) {
    const { question } = this;
    const { questions } = this.app.catalogue;
    const names = [...new Set([...question.figures, ...question.numbers].map((one) => one.experiment))];
    const at = questions.indexOf(question);
    const step = (to, words) =>
      to &&
      h(
        'a.step',
        { href: address({ view: 'questions', part: to.id }) },
        words,
        h('span', { html: to.title }),
      );
    this.body.replaceChildren(
      ...[
        h(
          'h1',
          isOfExercise(question) && h('span.soft', `${question.id} `),
          h('span', { html: question.title }),
        ),
        h('p.asks', { html: question.asks }),
        h('p.answer', { html: question.answer }),
        ...question.formulas.map(formula),
        names.length > 0 && this.experiment.element,
        names.length === 0 &&
          h('p', h('a.button', { href: address({ view: 'playground' }) }, 'See it in the playground')),
        this.remember(),
        this.voices(),
        h('p.steps', step(questions[at - 1], '← '), step(questions[at + 1], '→ ')),
      ].filter(Boolean),
    );
    if (names.length > 0) this.experiment.open(question, names, values);
  }

  remember() {
    const thing = this.app.catalogue.things[REMEMBER[this.question.id]];
    return (
      thing &&
      h(
        'aside.remember',
        { 'aria-label': 'What to remember' },
        h('p.small.soft', 'What to remember'),
        h('p', h('b', { html: thing.what }), ' ', h('span', { html: thing.why })),
      )
    );
  }

  voices() {
    const { question } = this;
    const ids = question.statements.split(' ').filter(Boolean);
    if (!ids.length) return null;
    const judged = new Map(this.app.judgements.charity.map((one) => [one.id, one.verdict]));
    return h(
      'p.small.voices',
      'Statements of the five solution sheets: ',
      ids.map((id) => [
        h(
          'a',
          { class: judged.get(id), href: address({ view: 'sheets', part: id }) },
          `${id} ${this.app.catalogue.verdict_words[judged.get(id)]}`,
        ),
        ' ',
      ]),
    );
  }
}
