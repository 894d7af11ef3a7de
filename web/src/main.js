// SPDX-License-Identifier: MIT
// The page: which view is shown, the engine, light and dark.
import attendModule from 'page-module';
import catalogue from 'page-catalogue';
import judgements from 'page-judgements';
import samples from 'page-samples';
import solutions from 'page-solutions';
import workerSource from 'page-worker';
import { Answer } from './answer.js';
import { Client } from './client.js';
import { errorBox, h } from './dom.js';
import { openEngine } from './engine.js';
import { Playground } from './playground.js';
import { Questions } from './questions.js';
import { Sheets } from './sheets.js';
import { Solution } from './solution.js';
import { address, lastAddress, read } from './state.js';
import { Tensors } from './tensors.js';

const VIEWS = [
  ['playground', 'Playground', Playground],
  ['questions', 'Questions', Questions],
  ['sheets', 'Sheets', Sheets],
  ['solution', 'Your solution', Solution],
  ['answer', 'Your answer', Answer],
  ['tensors', 'Your tensors', Tensors],
];

// ---- the engine ------------------------------------------------------------------------

/** A function with one vector instruction: a browser that accepts it has them. */
const VECTOR_PROBE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98,
  11,
]);

const decode = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const payload = (name) => decode(document.getElementById(`module-${name}`).textContent.trim());

/** The module with vector instructions where they run, else the one without. */
async function moduleBytes() {
  const forced = new URLSearchParams(location.search).get('module');
  if (
    forced !== 'scalar' &&
    typeof DecompressionStream === 'function' &&
    WebAssembly.validate(VECTOR_PROBE)
  ) {
    const packed = new Blob([payload('simd128')]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(packed).arrayBuffer());
  }
  return payload('scalar');
}

// ---- light and dark --------------------------------------------------------------------

const THEMES = { auto: 'system', light: 'light', dark: 'dark' };

/** The media rules for dark screens. */
function darkRules() {
  return [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .filter(
      (rule) =>
        rule instanceof CSSMediaRule &&
        (rule.asked ??= rule.media.mediaText).includes('prefers-color-scheme: dark'),
    );
}

function setTheme(theme) {
  for (const rule of darkRules())
    rule.media.mediaText = theme === 'auto' ? rule.asked : theme === 'dark' ? 'screen' : 'not all';
  document.documentElement.style.colorScheme = theme === 'auto' ? '' : theme;
  try {
    localStorage.setItem('attend-theme', theme);
  } catch {
    // A page from disk may have no storage; the theme then lasts as long as the page.
  }
}

function savedTheme() {
  try {
    const theme = localStorage.getItem('attend-theme');
    return theme in THEMES ? theme : 'auto';
  } catch {
    return 'auto';
  }
}

// ---- views -----------------------------------------------------------------------------

class App {
  constructor() {
    this.catalogue = catalogue;
    this.judgements = judgements;
    this.samples = samples;
    this.solutions = solutions;
    this.engine = null;
    this.isa = '';
    this.frames = 0; // number of frames that the playground has drawn
    this.bytes = moduleBytes();
    this.live = this.newClient();
    this.long = this.newClient();
    this.views = new Map();
    this.error = errorBox();
    this.main = h('main', { id: 'main', tabindex: -1 }, this.error.element);
    this.status = h('span.status.small.soft', { title: 'kernel set of the engine' }, 'starting');
    this.tabs = new Map(
      VIEWS.map(([name, label]) => [name, h('a', { href: address({ view: name }) }, label)]),
    );
    document.body.replaceChildren(
      h('a.skip', { href: '#main', onclick: (event) => this.skip(event) }, 'Skip to the content'),
      this.header(),
      this.main,
      this.footer(),
    );
  }

  newClient() {
    return new Client(workerSource, this.bytes);
  }

  skip(event) {
    event.preventDefault();
    this.main.focus();
  }

  header() {
    const theme = h(
      'select.theme',
      { 'aria-label': 'Colours', onchange: () => setTheme(theme.value) },
      Object.entries(THEMES).map(([name, label]) => h('option', { value: name }, label)),
    );
    theme.value = savedTheme();
    setTheme(theme.value);
    return h(
      'header.top',
      h(
        'a.mark',
        { href: address({ view: 'playground' }) },
        h('b', 'attend'),
        h('span.soft', 'softmax attention, to see and to try'),
      ),
      h('nav', { 'aria-label': 'Views' }, [...this.tabs.values()]),
      h('div.corner', this.status, theme),
    );
  }

  footer() {
    return h(
      'footer.small.soft',
      `attend ${catalogue.version}. Everything is computed in this page, by the C library as WebAssembly: `,
      h('span', 'no request leaves it'),
      '. In the plots lines are theory and points are measurements, with bars of one standard error.',
    );
  }

  async start() {
    addEventListener('hashchange', () => this.route());
    // A file dropped beside its place would replace the page.
    for (const name of ['dragover', 'drop']) addEventListener(name, (event) => event.preventDefault());
    this.route();
    try {
      this.engine = await openEngine(attendModule, await this.bytes);
      this.isa = this.engine.isa();
      this.status.textContent = this.isa;
      document.documentElement.dataset.engine = this.isa;
      this.route();
    } catch (error) {
      this.status.textContent = 'no engine';
      this.error.show(
        `The engine could not start: ${error.message ?? error}. This page needs a browser with WebAssembly.`,
      );
    }
  }

  route() {
    const state = read();
    const [name, label, View] = VIEWS.find(([one]) => one === state.view) ?? VIEWS[0];
    if (this.shown && this.shown !== name) {
      const old = this.views.get(this.shown);
      old.leave?.();
      old.element.hidden = true;
      scrollTo(0, 0);
    }
    if (!this.views.has(name)) {
      const view = new View(this);
      this.views.set(name, view);
      this.main.append(view.element);
    }
    const view = this.views.get(name);
    view.element.hidden = false;
    this.shown = name;
    document.title = `${label} – attend`;
    for (const [one, tab] of this.tabs) {
      tab.href = lastAddress(one);
      if (one === name) {
        tab.setAttribute('aria-current', 'page');
        tab.parentNode.scrollLeft = tab.offsetLeft - (tab.parentNode.clientWidth - tab.offsetWidth) / 2;
      } else tab.removeAttribute('aria-current');
    }
    view.show(state);
  }
}

const app = new App();
window.attendPage = app;
app.start();
