// SPDX-License-Identifier: MIT
// Your answer: typed, checked as it is typed, and graded by the code of `attend grade`.
import { Cancelled } from './client.js';
import { button, download, errorBox, freshId, h, progressLine, shown, toggle, verdict } from './dom.js';
import { blank, readUnfinished, writeForm } from './forms.js';
import { address, replace } from './state.js';

/** The colours of the sheets' verdicts for those of answers. */
const COLOURS = {
  right: 'holds',
  limit: 'limit',
  slip: 'slip',
  partly: 'slip',
  wrong: 'fails',
  unread: 'fails',
};

export class Answer {
  constructor(app) {
    this.app = app;
    this.parts = app.catalogue.parts;
    this.form = blank(this.parts);
    this.fileName = 'answer.json';
    this.hints = true;
    this.fields = [];
    this.changes = 0; // version of the form; grades of older versions are dropped
    this.element = h('div.view.answer');
    this.build();
  }

  build() {
    this.error = errorBox();
    this.progress = progressLine(() => this.app.long.cancel());
    this.total = h('p.total', { 'aria-live': 'polite' });
    this.student = h('input', {
      id: 'student',
      type: 'text',
      autocomplete: 'off',
      oninput: () => this.typed(),
    });
    const file = h('input.visually-hidden', {
      type: 'file',
      accept: '.json,application/json',
      id: 'answer-file',
      onchange: () => file.files[0] && this.openFile(file.files[0]).finally(() => (file.value = '')),
    });
    const samples = Object.keys(this.app.samples);
    const sample = h(
      'select',
      {
        id: 'answer-sample',
        onchange: () => sample.value && this.openText(this.app.samples[sample.value], `${sample.value}.json`),
      },
      h('option', { value: '' }, 'choose'),
      samples.map((name) => h('option', { value: name }, name.replace('-', ' '))),
    );
    this.gradeButton = button('button', 'Grade', () => this.grade(), { 'data-action': 'grade' });
    this.element.append(
      h(
        'div.lead',
        h('h1', 'Your answer'),
        h(
          'p',
          'Type formulas in the letters of the exercise, such as ',
          h('code', 'beta (k_a + k_b)'),
          ', ',
          h('code', 'A A^T'),
          ' or ',
          h('code', 'e^C / (2 e^C + n - 2)'),
          '. They are not compared with a solution: each is evaluated beside what the engine computes, in fourteen worlds that differ in n, scale and noise.',
        ),
      ),
      h(
        'div.toolbar',
        h('div.control', h('label', { for: 'student' }, 'Name'), this.student),
        h('div.control', h('label', { for: 'answer-sample' }, 'A sheet’s answers'), sample),
        toggle({ label: 'Hints in place of solutions', name: 'hints', value: true }, (value) => {
          this.hints = value;
          if (this.graded) this.showGrades();
        }).element,
        h(
          'div.buttons',
          this.gradeButton,
          h('label.button.quiet-button', { for: 'answer-file' }, 'Open a file'),
          file,
          button('quiet', 'Save as a file', () => download(this.fileName, writeForm(this.form, this.parts)), {
            'data-action': 'save',
          }),
          button('quiet', 'Clear', () => this.take(blank(this.parts), 'answer.json'), {
            'data-action': 'clear',
          }),
        ),
      ),
      this.progress.element,
      this.error.element,
      this.total,
      ...this.questions(),
    );
    this.element.addEventListener('dragover', (event) => event.preventDefault());
    this.element.addEventListener('drop', (event) => {
      event.preventDefault();
      if (event.dataTransfer.files[0]) this.openFile(event.dataTransfer.files[0]);
    });
  }

  questions() {
    const ids = [...new Set(this.parts.map((part) => part.question))];
    return ids.map((id) => {
      const question = this.app.catalogue.questions.find((one) => one.id === id);
      return h(
        'section.answer-question',
        { 'aria-label': `question ${id}` },
        h(
          'h2',
          h('a', { href: address({ view: 'questions', part: id }) }, id),
          ' ',
          h('span', { html: question?.title ?? '' }),
        ),
        question && h('p.soft', { html: question.asks }),
        this.parts.map((part, at) => (part.question === id ? this.part(part, at) : null)),
      );
    });
  }

  part(part, at) {
    const id = freshId('answer');
    const inputs = Array.from({ length: part.texts }, (_, k) => this.input(part, at, k, `${id}-${k}`));
    const grade = h('div.grade', { id: `${id}-grade` });
    this.fields[at] = { inputs, grade };
    const label =
      part.texts === 1
        ? h('label', { for: `${id}-0`, html: part.asks })
        : h('span.label', { id: `${id}-label`, html: part.asks });
    return h(
      'div.part',
      {
        'data-part': `${part.question}.${part.name}`,
        role: part.texts > 1 ? 'group' : null,
        'aria-labelledby': part.texts > 1 ? `${id}-label` : null,
      },
      h(
        'div.part-head',
        label,
        h('span.soft.small', `${part.points} ${part.points === 1 ? 'point' : 'points'}`),
      ),
      h(
        'div.inputs',
        inputs.map((one) => one.element),
      ),
      !part.choices && h('p.help', `letters: ${part.letters}`),
      grade,
    );
  }

  input(part, at, k, id) {
    const error = h('span.field-error', { role: 'alert', id: `${id}-error`, hidden: true });
    const changed = () => {
      this.form.texts[at][k] = field.value;
      this.checkField(at, k);
      this.typed();
    };
    const attributes = {
      id,
      'aria-describedby': `${id}-error`,
      'aria-label': part.texts > 1 ? `${part.name}, ${k + 1} of ${part.texts}` : null,
    };
    const field = part.choices
      ? h(
          'select',
          { ...attributes, onchange: changed },
          h('option', { value: '' }, 'no answer'),
          part.choices.split('|').map((word) => h('option', { value: word }, word)),
        )
      : h('input', {
          ...attributes,
          type: 'text',
          autocomplete: 'off',
          autocapitalize: 'off',
          spellcheck: 'false',
          oninput: changed,
        });
    return { element: h('span.field', field, error), field, error };
  }

  checkField(at, k) {
    const { field, error } = this.fields[at].inputs[k];
    const why = this.app.engine ? this.app.engine.check(at, k, field.value) : '';
    error.textContent = why;
    error.hidden = !why;
    field.setAttribute('aria-invalid', why ? 'true' : 'false');
    return why;
  }

  // ---- files -------------------------------------------------------------------------

  async openFile(file) {
    try {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
      this.openText(text, file.name);
    } catch {
      this.error.show(`${file.name}: this is not UTF-8`);
    }
  }

  openText(text, name) {
    try {
      this.take(this.app.engine.form(text), name);
    } catch (error) {
      this.error.show(`${name}: ${error.message}`);
    }
  }

  take(form, name) {
    this.form = form;
    this.fileName = name;
    this.student.value = form.student;
    form.texts.forEach((list, at) =>
      list.forEach((text, k) => (this.fields[at].inputs[k].field.value = text)),
    );
    this.fields.forEach(({ inputs }, at) => inputs.forEach((_, k) => this.checkField(at, k)));
    this.error.show('');
    this.typed();
  }

  /** After a change of the form the old grades are out of date. */
  typed() {
    this.form.student = this.student.value;
    this.changes++;
    this.graded = null;
    this.total.textContent = '';
    this.fields.forEach(({ grade }) => grade.replaceChildren());
    replace({ view: 'answer', values: { form: this.packed() } });
  }

  packed() {
    const text = writeForm(this.form, this.parts);
    return text.length > 3 ? JSON.stringify(JSON.parse(text)) : '';
  }

  show({ values }) {
    if (values.form && values.form !== this.packed())
      this.take(readUnfinished(values.form, this.parts), 'answer.json');
  }

  // ---- grading -----------------------------------------------------------------------

  async grade() {
    const bad = this.fields
      .flatMap(({ inputs }, at) => inputs.map((one, k) => [this.checkField(at, k), one.field, at]))
      .find(([why]) => why);
    if (bad) {
      this.error.show(`${this.parts[bad[2]].question}.${this.parts[bad[2]].name}: ${bad[0]}`);
      bad[1].focus();
      return;
    }
    const half = this.form.texts.findIndex(
      (texts) => texts.some((t) => t.trim()) && !texts.every((t) => t.trim()),
    );
    if (half >= 0) {
      this.error.show(`${this.parts[half].question}.${this.parts[half].name}: some of its texts are empty`);
      this.fields[half].inputs.find((one) => !one.field.value.trim()).field.focus();
      return;
    }
    this.error.show('');
    this.progress.show('grading in fourteen worlds', null);
    this.gradeButton.disabled = true;
    const { changes } = this;
    try {
      const graded = await this.app.long.call('grade', [
        { texts: this.form.texts, seed: 1, name: this.fileName },
      ]);
      if (changes === this.changes) {
        this.graded = graded;
        this.showGrades();
      } else this.total.textContent = 'The answer changed while it was graded: grade it again.';
    } catch (error) {
      if (error instanceof Cancelled) this.total.textContent = 'Grading was cancelled.';
      else this.error.show(error.message);
    }
    this.progress.hide();
    this.gradeButton.disabled = false;
  }

  showGrades() {
    const { points, of, parts } = this.graded;
    this.total.replaceChildren(
      h('b', shown(points, 'points')),
      ' of ',
      shown(of, 'of'),
      h('span.soft.small', ` points; worlds of seed 1 and ${this.fileName}`),
    );
    parts.forEach((one, at) =>
      this.fields[at].grade.replaceChildren(...(one.verdict === 'empty' ? [] : this.gradeOf(one, at))),
    );
  }

  gradeOf(one, at) {
    const part = this.parts[at];
    const lost = one.points < one.of;
    return [
      h(
        'div.row',
        verdict(COLOURS[one.verdict], one.words),
        h('span.small', shown(one.points, `${part.question}.${part.name}.points`), ` of ${one.of}`),
      ),
      one.error && h('p.small', h('b', one.error)),
      one.verdict !== 'right' && one.evidence && h('p.small.soft', { html: one.shown }),
      lost &&
        (this.hints ? one.hint : one.solution) &&
        h(
          'p.small',
          h('span.soft', this.hints ? 'Hint: ' : 'Solution: '),
          this.hints ? one.hint : h('code', one.solution),
        ),
    ].filter(Boolean);
  }
}
