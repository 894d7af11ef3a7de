// SPDX-License-Identifier: MIT
// JSON from files: an object, with no key given twice.

export function typeName(value) {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return { object: 'an object', string: 'a text', number: 'a number' }[typeof value] ?? String(value);
}

export const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

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

/** Throws an Error with a message if the text is invalid. */
export function readObject(text) {
  let root;
  try {
    root = JSON.parse(text);
  } catch (error) {
    throw new Error(`this is not JSON: ${error.message}`);
  }
  const twice = repeatedKey(text);
  if (twice !== null) throw new Error(`'${twice.slice(0, 40)}' is given twice`);
  if (!isObject(root)) throw new Error(`${typeName(root)} where an object should be`);
  return root;
}
