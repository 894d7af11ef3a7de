// SPDX-License-Identifier: MIT
// Forms of `attend grade` as the page keeps them; the module reads those from files.
const isBlank = (text) => /^[ \t\r\n]*$/.test(text);

export const blank = (parts) => ({ student: '', texts: parts.map((part) => new Array(part.texts).fill('')) });

/** A form from an address, where answers may be unfinished: invalid entries are left out. */
export function readUnfinished(text, parts) {
  const form = blank(parts);
  let root;
  try {
    root = JSON.parse(text);
  } catch {
    return form;
  }
  if (typeof root?.student === 'string') form.student = root.student;
  parts.forEach((part, at) => {
    const given = [root?.[part.question]?.[part.name]].flat();
    form.texts[at] = form.texts[at].map((_, k) => (typeof given[k] === 'string' ? given[k] : ''));
  });
  return form;
}

/** The form without its empty answers. */
export function writeForm({ student, texts }, parts) {
  const root = student ? { student } : {};
  parts.forEach((part, at) => {
    if (texts[at].every(isBlank)) return;
    root[part.question] ??= {};
    root[part.question][part.name] = part.texts === 1 ? texts[at][0] : texts[at];
  });
  return `${JSON.stringify(root, null, 2)}\n`;
}
