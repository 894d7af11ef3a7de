// SPDX-License-Identifier: MIT
// Elements, numbers and controls.

const isAttributes = (value) => value?.constructor === Object;

function fill(element, [first, ...rest]) {
  assign(element, isAttributes(first) ? first : {});
  const children = isAttributes(first) ? rest : [first, ...rest];
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

/**
 * An element: h('p.small', { id: 'x' }, 'text', ...).  Attributes by name, listeners by onname, none of
 * them needed; children are nodes, texts or lists.
 */
export function h(selector, ...rest) {
  const [tag, ...classes] = selector.split('.');
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(' ');
  return fill(element, rest);
}

/** kind: the classes of the button. */
export function button(kind, label, onclick, attributes = {}) {
  return h('button', { type: 'button', class: kind, onclick, ...attributes }, label);
}

export function svg(tag, ...rest) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), rest);
}

function assign(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value == null || value === false) continue;
    if (name === 'html') element.innerHTML = value;
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value' || name === 'checked' || name === 'selected') element[name] = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
}

/** A number for reading, as the report writes it: HTML. */
export function number(value, digits = 4) {
  if (value == null || Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e6) return plain(String(Number(value.toPrecision(digits))));
  const [mantissa, exponent] = value.toExponential(digits - 1).split('e');
  return `${plain(String(Number(mantissa)))}·10<sup>${plain(String(Number(exponent)))}</sup>`;
}

const plain = (text) => text.replace('-', '−');

/** The same as plain text. */
export function numberText(value, digits = 4) {
  return number(value, digits)
    .replace(/<sup>/g, '^')
    .replace(/<\/sup>/g, '');
}

/** A number in the page: rounded text, with all digits in an attribute for tests. */
export function shown(value, name, digits = 4) {
  return h('span', {
    'data-number': name,
    'data-value': value == null ? '' : String(value),
    html: number(value, digits),
  });
}

export function verdict(name, words = name) {
  return h('span', { class: `verdict ${name}` }, words);
}

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

let names = 0;
export const freshId = (prefix) => `${prefix}-${++names}`;

/**
 * A slider with its number.  spec: {label, help, min, max, low, high, value, curve, whole};
 * the slider goes from low to high, the number from min to max.
 */
export function slider(spec, changed) {
  const id = freshId('slider');
  const curve = curves[spec.curve ?? 'linear'](spec);
  const steps = 1000;
  const round = (x) => (spec.whole ? Math.round(x) : Number(x.toPrecision(3)));
  const range = h('input', {
    type: 'range',
    min: 0,
    max: steps,
    step: 1,
    id,
    'aria-describedby': spec.help ? `${id}-help` : null,
  });
  const box = h('input.number', {
    type: 'text',
    inputmode: 'decimal',
    'aria-label': `${spec.name ?? spec.label}, as a number`,
    autocomplete: 'off',
    spellcheck: 'false',
    title: spec.optional ? 'empty: it follows from the others' : null,
  });
  const error = h('span.field-error', { role: 'alert', hidden: true });
  const show = (value) => {
    range.value = value == null ? 0 : Math.round(steps * curve.place(value));
    box.value = value == null ? '' : String(value);
    range.setAttribute('aria-valuetext', box.value || 'by itself');
  };
  const refuse = (why) => {
    error.textContent = why;
    error.hidden = !why;
    box.setAttribute('aria-invalid', why ? 'true' : 'false');
  };
  range.addEventListener('input', () => {
    const value = round(Math.min(Math.max(curve.value(range.value / steps), spec.min), spec.max));
    show(value);
    refuse('');
    changed(value);
  });
  box.addEventListener('change', () => {
    const text = box.value.trim().replace('−', '-');
    if (text === '' && spec.optional) {
      refuse('');
      return changed(null);
    }
    const value = Number(text);
    if (!NUMBER.test(text) || !Number.isFinite(value)) return refuse(`‘${box.value}’ is not a number`);
    if (spec.whole && !Number.isInteger(value)) return refuse(`${box.value} is not a whole number`);
    if (value < spec.min || value > spec.max) return refuse(`from ${spec.min} to ${spec.max}`);
    refuse('');
    show(value);
    changed(value);
  });
  show(spec.value);
  const element = h(
    'div.control',
    { 'data-control': spec.name ?? spec.label },
    h('label', { for: id, html: spec.label }),
    box,
    range,
    error,
    spec.help && h('p.help', { id: `${id}-help`, html: spec.help }),
  );
  return { element, set: show };
}

const curves = {
  linear: ({ low, high }) => ({
    place: (x) => clamp((x - low) / (high - low)),
    value: (t) => low + t * (high - low),
  }),
  // Small numbers take most of the slider's length; 0 is allowed.
  square: ({ low, high }) => ({
    place: (x) => clamp(Math.sqrt(Math.max(x - low, 0) / (high - low))),
    value: (t) => low + t * t * (high - low),
  }),
  log: ({ low, high }) => ({
    place: (x) => clamp(Math.log(Math.max(x, low) / low) / Math.log(high / low)),
    value: (t) => low * (high / low) ** t,
  }),
};

const clamp = (t) => Math.min(Math.max(t, 0), 1);

/** A selector that finds an element again after its parent was rebuilt. */
function selectorOf(element) {
  for (const name of ['action', 'experiment', 'preset', 'verdict'])
    if (element.dataset[name]) return `[data-${name}="${CSS.escape(element.dataset[name])}"]`;
  const control = element.closest('[data-control]');
  const type = element.getAttribute('type');
  const own = `${element.localName}${type ? `[type=${type}]` : ''}`;
  return control && `[data-control="${CSS.escape(control.dataset.control)}"] ${own}`;
}

/** Rebuilds parts of `root`; the focus stays on the same control. */
export function keepFocus(root, build) {
  const had = root.contains(document.activeElement) && selectorOf(document.activeElement);
  build();
  if (had && !root.contains(document.activeElement)) root.querySelector(had)?.focus({ preventScroll: true });
}

/** A choice among a few words. */
export function choice({ label, name, options, value, help }, changed) {
  const id = freshId('choice');
  const select = h(
    'select',
    { id, onchange: () => changed(select.value) },
    options.map(([word, text]) => h('option', { value: word, selected: word === value }, text)),
  );
  select.value = value;
  const element = h(
    'div.control',
    { 'data-control': name ?? label },
    h('label', { for: id, html: label }),
    select,
    help && h('p.help', { html: help }),
  );
  return { element, set: (word) => (select.value = word) };
}

export function toggle({ label, name, value }, changed) {
  const id = freshId('toggle');
  const box = h('input', { type: 'checkbox', id, checked: value, onchange: () => changed(box.checked) });
  return {
    element: h(
      'div.control.toggle',
      { 'data-control': name ?? label },
      box,
      h('label', { for: id, html: label }),
    ),
    set: (on) => (box.checked = on),
  };
}

/** A line for the work under way, with a bar and a button that stops it. */
export function progressLine(stop) {
  const bar = h('progress', { max: 1, value: 0, 'aria-label': 'progress' });
  const words = h('span.small.soft');
  const line = h('div.progress', { hidden: true }, bar, words, button('quiet', 'Cancel', stop));
  return {
    element: line,
    show(text, share) {
      line.hidden = false;
      words.textContent = text;
      if (share == null) bar.removeAttribute('value');
      else bar.value = share;
    },
    hide() {
      line.hidden = true;
    },
  };
}

/** A box for an error, placed beside the control that caused it. */
export function errorBox() {
  const box = h('p.error', { role: 'alert', hidden: true });
  return {
    element: box,
    show(text) {
      box.textContent = text;
      box.hidden = !text;
    },
  };
}

export function download(name, text, type = 'application/json') {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
