// SPDX-License-Identifier: MIT
// Elements, numbers and controls.

/** An element: attributes by name, listeners by onname, children that are nodes or text. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  assign(element, attributes);
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  assign(element, attributes);
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
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

/** The same where HTML cannot stand. */
export function numberText(value, digits = 4) {
  return number(value, digits)
    .replace(/<sup>/g, '^')
    .replace(/<\/sup>/g, '');
}

/** A number in the page: what is read, and all of its digits for whoever compares. */
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
  const box = h('input', {
    type: 'text',
    inputmode: 'decimal',
    class: 'number',
    'aria-label': `${spec.name ?? spec.label}, as a number`,
    autocomplete: 'off',
    spellcheck: 'false',
    title: spec.optional ? 'empty: it follows from the others' : null,
  });
  const error = h('span', { class: 'field-error', role: 'alert', hidden: true });
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
    if (!NUMBER.test(text) || !Number.isFinite(value)) return refuse(`‘${box.value}’ is no number`);
    if (spec.whole && !Number.isInteger(value)) return refuse(`${box.value} is no whole number`);
    if (value < spec.min || value > spec.max) return refuse(`from ${spec.min} to ${spec.max}`);
    refuse('');
    show(value);
    changed(value);
  });
  show(spec.value);
  const element = h(
    'div',
    { class: 'control', 'data-control': spec.name ?? spec.label },
    h('label', { for: id, html: spec.label }),
    box,
    range,
    error,
    spec.help && h('p', { class: 'help', id: `${id}-help`, html: spec.help }),
  );
  return { element, set: show };
}

const curves = {
  linear: ({ low, high }) => ({
    place: (x) => clamp((x - low) / (high - low)),
    value: (t) => low + t * (high - low),
  }),
  // Small numbers get most of the way; 0 is on it.
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

/** How an element is found again after its parent was built anew. */
function selectorOf(element) {
  for (const name of ['action', 'experiment', 'preset', 'verdict'])
    if (element.dataset[name]) return `[data-${name}="${CSS.escape(element.dataset[name])}"]`;
  const control = element.closest('[data-control]');
  const type = element.getAttribute('type');
  const own = `${element.localName}${type ? `[type=${type}]` : ''}`;
  return control && `[data-control="${CSS.escape(control.dataset.control)}"] ${own}`;
}

/** Builds parts of `root` anew; the focus stays on the control that had it. */
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
    'div',
    { class: 'control', 'data-control': name ?? label },
    h('label', { for: id, html: label }),
    select,
    help && h('p', { class: 'help', html: help }),
  );
  return { element, set: (word) => (select.value = word) };
}

export function toggle({ label, name, value }, changed) {
  const id = freshId('toggle');
  const box = h('input', { type: 'checkbox', id, checked: value, onchange: () => changed(box.checked) });
  return {
    element: h(
      'div',
      { class: 'control toggle', 'data-control': name ?? label },
      box,
      h('label', { for: id, html: label }),
    ),
    set: (on) => (box.checked = on),
  };
}

/** A line that says what is under way, with a bar and a button that stops it. */
export function progressLine(stop) {
  const bar = h('progress', { max: 1, value: 0, 'aria-label': 'progress' });
  const words = h('span', { class: 'small soft' });
  const line = h(
    'div',
    { class: 'progress', hidden: true },
    bar,
    words,
    h('button', { type: 'button', class: 'quiet', onclick: stop }, 'Cancel'),
  );
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

/** Where an error is shown: where it happened. */
export function errorBox() {
  const box = h('p', { class: 'error', role: 'alert', hidden: true });
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
