// SPDX-License-Identifier: MIT
// Forms of `attend grade`: JSON in and out, by the rules of the command.

const BYTES = 1 << 18;
const NAME_BYTES = 200;

function typeName(value) {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return { object: 'an object', string: 'a text', number: 'a number' }[typeof value] ?? String(value);
}

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

/** A key that an object has twice, which JSON.parse() lets pass; or null. */
function repeatedKey(text) {
  const objects = [];
  for (const [token, key] of text.matchAll(/("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === '{') objects.push(new Set());
    else if (token === '}') objects.pop();
    else if (key) {
      const name = JSON.parse(key);
      if (objects.at(-1).has(name)) return name;
      objects.at(-1).add(name);
    }
  }
  return null;
}

function load(text) {
  if (new TextEncoder().encode(text).length > BYTES) throw new Error(`more than ${BYTES} bytes`);
  let root;
  try {
    root = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new Error(`this is no JSON: ${error.message}`);
  }
  const twice = repeatedKey(text);
  if (twice !== null) throw new Error(`'${twice.slice(0, 40)}' is given twice`);
  if (!isObject(root)) throw new Error(`${typeName(root)} where an object should be`);
  return root;
}

function takeText(value, place, check) {
  if (typeof value !== 'string') throw new Error(`${place}: ${typeName(value)} where a text should be`);
  const text = value.trim() === '' ? '' : value;
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
  if (/[\u0000-\u001f\u007f]/.test(value)) throw new Error('student: a control character in the name');
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

/** What was answered, as a form. */
export function writeForm({ student, texts }, parts) {
  const root = student ? { student } : {};
  parts.forEach((part, at) => {
    if (!texts[at].some((text) => text.trim())) return;
    root[part.question] ??= {};
    root[part.question][part.name] = part.texts === 1 ? texts[at][0] : texts[at];
  });
  return `${JSON.stringify(root, null, 2)}\n`;
}
