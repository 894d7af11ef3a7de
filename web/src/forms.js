// SPDX-License-Identifier: MIT
// Forms of `attend grade`: JSON in and out, by the rules of the command.
import { isObject, readObject, typeName } from './json.js';

const BYTES = 1 << 18;
const NAME_BYTES = 200;

function load(text) {
  if (new TextEncoder().encode(text).length > BYTES) throw new Error(`more than ${BYTES} bytes`);
  return readObject(text.replace(/^\uFEFF/, ''));
}

/** Half of a pair of UTF-16, which no file in UTF-8 can have. */
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

const isBlank = (text) => /^[ \t\r\n]*$/.test(text);

function takeText(value, place, check) {
  if (typeof value !== 'string') throw new Error(`${place}: ${typeName(value)} where a text should be`);
  if (/\0/.test(value) || LONE.test(value)) throw new Error(`${place}: a character that no text has`);
  const text = isBlank(value) ? '' : value;
  const why = text && check(text);
  if (why) throw new Error(`${place}: ${why}`);
  return text;
}

function takePart(value, part, place, check) {
  if (part.texts === 1) return [takeText(value, place, (text) => check(0, text))];
  if (!Array.isArray(value))
    throw new Error(`${place}: ${typeName(value)} where a list of ${part.texts} texts should be`);
  if (value.length !== part.texts)
    throw new Error(`${place}: ${value.length} texts in place of ${part.texts}`);
  const texts = value.map((one, k) => takeText(one, `${place}[${k + 1}]`, (text) => check(k, text)));
  const given = texts.filter(Boolean).length;
  if (given && given < part.texts)
    throw new Error(`${place}: ${part.texts - given} of ${part.texts} texts are empty`);
  return texts;
}

function takeStudent(value) {
  if (typeof value !== 'string') throw new Error(`student: ${typeName(value)} where a text should be`);
  if (new TextEncoder().encode(value).length > NAME_BYTES)
    throw new Error(`student: a name of more than ${NAME_BYTES} bytes`);
  if (/[\u0000-\u001f\u007f]/.test(value) || LONE.test(value))
    throw new Error('student: a control character or half a character in the name');
  return value;
}

export const blank = (parts) => ({ student: '', texts: parts.map((part) => new Array(part.texts).fill('')) });

/** check(part, k, text): '' or why.  Throws what is wrong, with its place. */
export function parseForm(text, parts, check) {
  const form = blank(parts);
  for (const [key, value] of Object.entries(load(text))) {
    if (key === '_help') continue;
    if (key === 'student') {
      form.student = takeStudent(value);
      continue;
    }
    if (!parts.some((part) => part.question === key)) throw new Error(`no question '${key.slice(0, 40)}'`);
    if (!isObject(value)) throw new Error(`${key}: ${typeName(value)} where an object should be`);
    for (const [name, given] of Object.entries(value)) {
      if (name === '_help') continue;
      const at = parts.findIndex((part) => part.question === key && part.name === name);
      if (at < 0) throw new Error(`${key}: no part '${name.slice(0, 40)}' in this question`);
      form.texts[at] = takePart(given, parts[at], `${key}.${name}`, (k, one) => check(at, k, one));
    }
  }
  return form;
}

/** A form from an address, where answers may be unfinished: what does not fit is left out. */
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

/** What was answered, as a form. */
export function writeForm({ student, texts }, parts) {
  const root = student ? { student } : {};
  parts.forEach((part, at) => {
    if (texts[at].every(isBlank)) return;
    root[part.question] ??= {};
    root[part.question][part.name] = part.texts === 1 ? texts[at][0] : texts[at];
  });
  return `${JSON.stringify(root, null, 2)}\n`;
}
