// SPDX-License-Identifier: MIT
// Your solution: pasted as it was written, and given back marked by the code of `attend judge`.
import { Cancelled } from './client.js';
import { button, download, errorBox, h, progressLine } from './dom.js';

const BYTES = 1 << 20;

export class Solution {
  constructor(app) {
    this.app = app;
    this.name = 'solution';
    this.changes = 0; // version of the text; marks of older versions are dropped
    this.element = h('div.view.solution-view');
    this.build();
  }

  build() {
    this.error = errorBox();
    this.progress = progressLine(() => this.app.long.cancel());
    this.said = h('p.total', { 'aria-live': 'polite' });
    this.sheet = h('div.marked-sheet', { tabindex: -1 });
    this.text = h('textarea', {
      id: 'solution-text',
      rows: 12,
      spellcheck: 'false',
      autocomplete: 'off',
      'aria-describedby': 'solution-help',
      oninput: () => this.typed(),
    });
    const file = h('input.visually-hidden', {
      type: 'file',
      accept: '.md,.txt,.tex,text/*',
      id: 'solution-file',
      onchange: () => file.files[0] && this.openFile(file.files[0]).finally(() => (file.value = '')),
    });
    const samples = Object.keys(this.app.solutions);
    const sample = h(
      'select',
      {
        id: 'solution-sample',
        onchange: () => sample.value && this.take(this.app.solutions[sample.value], sample.value),
      },
      h('option', { value: '' }, 'choose'),
      samples.map((name) => h('option', { value: name }, name)),
    );
    this.markButton = button('button', 'Mark', () => this.mark(), { 'data-action': 'mark' });
    this.saveButton = button('quiet', 'Save the marks as JSON', () => this.save(), {
      'data-action': 'save-marks',
      disabled: true,
    });
    this.element.append(
      h(
        'div.lead',
        h('h1', 'Your solution'),
        h(
          'p',
          'Paste a solution of the exercise as it was written: Markdown, LaTeX or plain letters. Every claim in a formula or a sentence is judged by computing it; what cannot be read is shown, and never guessed.',
        ),
      ),
      h(
        'div.toolbar',
        h(
          'div.control.pasted',
          h('label', { for: 'solution-text' }, 'Solution'),
          this.text,
          h(
            'p.help',
            { id: 'solution-help' },
            'Such as: (b) ii. Let q = beta (k_a + k_b) with beta >> 0. Then alpha_a = alpha_b ~= 1/2.',
          ),
        ),
        h('div.control', h('label', { for: 'solution-sample' }, 'An example'), sample),
        h(
          'div.buttons',
          this.markButton,
          h('label.button.quiet-button', { for: 'solution-file' }, 'Open a file'),
          file,
          this.saveButton,
          button('quiet', 'Clear', () => this.take('', 'solution'), { 'data-action': 'clear-solution' }),
        ),
      ),
      this.progress.element,
      this.error.element,
      this.said,
      this.sheet,
    );
    // Line numbers are links within the sheet, and the address is that of the view.
    this.sheet.addEventListener('click', (event) => {
      const link = event.target.closest('a[href^="#"]');
      if (!link) return;
      event.preventDefault();
      this.goTo(link.getAttribute('href').slice(1));
    });
    this.element.addEventListener('dragover', (event) => event.preventDefault());
    this.element.addEventListener('drop', (event) => {
      event.preventDefault();
      if (event.dataTransfer.files[0]) this.openFile(event.dataTransfer.files[0]);
    });
  }

  show() {}

  leave() {
    if (this.markButton.disabled) this.app.long.cancel();
  }

  goTo(id) {
    const words = this.sheet.querySelector(`#${CSS.escape(id)}`)?.closest('.words');
    if (!words) return;
    this.sheet.querySelector('.words.target')?.classList.remove('target');
    words.classList.add('target');
    words.tabIndex = -1;
    words.scrollIntoView({ block: 'center' });
    words.focus({ preventScroll: true });
  }

  // ---- text --------------------------------------------------------------------------

  async openFile(file) {
    try {
      if (file.size > BYTES) throw new Error(`more than ${BYTES} bytes`);
      const bytes = await file.arrayBuffer();
      let text;
      try {
        text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      } catch {
        throw new Error('this is not UTF-8');
      }
      this.take(text, file.name);
    } catch (error) {
      this.error.show(`${file.name}: ${error.message}`);
    }
  }

  take(text, name) {
    this.text.value = text;
    this.name = name;
    this.typed();
  }

  /** After a change of the text the old marks are out of date. */
  typed() {
    this.changes++;
    this.marked = null;
    this.saveButton.disabled = true;
    this.error.show('');
    this.said.textContent = '';
    this.sheet.replaceChildren();
  }

  save() {
    const { shown, ...rest } = this.marked;
    download(`${this.name}.marks.json`, `${JSON.stringify(rest, null, 2)}\n`);
  }

  // ---- marks -------------------------------------------------------------------------

  async mark() {
    const text = this.text.value;
    if (!text.trim()) {
      this.error.show('There is no text.');
      this.text.focus();
      return;
    }
    if (text.includes('\0')) {
      this.error.show('The text has a character U+0000.');
      return;
    }
    this.error.show('');
    this.progress.show('reading and judging', null);
    this.markButton.disabled = true;
    const { changes } = this;
    try {
      const marked = await this.app.long.call('mark', [{ text, name: this.name }]);
      if (changes === this.changes) this.showMarks(marked);
      else this.said.textContent = 'The text changed while it was judged: mark it again.';
    } catch (error) {
      if (error instanceof Cancelled) this.said.textContent = 'Judging was cancelled.';
      else this.error.show(error.message);
    }
    this.progress.hide();
    this.markButton.disabled = false;
  }

  showMarks(marked) {
    this.marked = marked;
    this.saveButton.disabled = false;
    const { formulas, formulas_read: read, judged } = marked.coverage;
    this.said.textContent = `${read} of ${formulas} formulas read, ${judged} claims judged.`;
    this.sheet.innerHTML = marked.shown;
  }
}
