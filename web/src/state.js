// SPDX-License-Identifier: MIT
// The state of the page as an address: #/view/part?name=value.

const PAUSE = 250; // ms; browsers refuse changes of the address that come too often

let waiting = 0;
let current = ''; // the address that is shown
const latest = new Map(); // the last address of each view

/** A part of an address; a part that cannot be decoded stays as it is. */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function read() {
  clearTimeout(waiting);
  current = location.hash;
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [view = '', part = ''] = path.split('/').map(decode);
  latest.set(view, location.hash);
  return { view, part, values: Object.fromEntries(new URLSearchParams(query)) };
}

/** The last address of a view, or its first. */
export const lastAddress = (view) => latest.get(view) ?? address({ view });

export function address({ view, part = '', values = {} }) {
  const known = Object.entries(values).filter(([, value]) => value != null && value !== '');
  const query = new URLSearchParams(known.map(([name, value]) => [name, String(value)])).toString();
  return `#/${view}${part ? `/${encodeURIComponent(part)}` : ''}${query ? `?${query}` : ''}`;
}

/** Changes the address without a new entry in the history, once the changes pause. */
export function replace(state) {
  const next = address(state);
  latest.set(state.view, next);
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    // A newer address has not been read yet.
    if (location.hash !== current) return;
    if (next !== current) history.replaceState(null, '', next);
    current = location.hash;
  }, PAUSE);
}
