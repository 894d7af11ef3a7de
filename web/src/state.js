// SPDX-License-Identifier: MIT
// What is shown, as an address: #/view/part?name=value.

export function read() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [view = '', part = ''] = path.split('/').map(decodeURIComponent);
  return { view, part, values: Object.fromEntries(new URLSearchParams(query)) };
}

export function address({ view, part = '', values = {} }) {
  const known = Object.entries(values).filter(([, value]) => value != null && value !== '');
  const query = new URLSearchParams(known.map(([name, value]) => [name, String(value)])).toString();
  return `#/${view}${part ? `/${encodeURIComponent(part)}` : ''}${query ? `?${query}` : ''}`;
}

/** Changes the address without a new entry in the history: sliders make many. */
export function replace(state) {
  const next = address(state);
  if (next !== location.hash) history.replaceState(null, '', next);
}
