"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const dark = matchMedia("(prefers-color-scheme: dark)");

// ---- colours --------------------------------------------------------------------

const RAMPS = {
  light: [[244, 246, 249], [190, 215, 236], [97, 160, 210], [31, 98, 163], [9, 42, 87]],
  dark: [[30, 35, 42], [28, 66, 104], [45, 122, 182], [124, 193, 236], [238, 248, 255]],
};
const CHARACTERS = {
  "fragile pair": "#d1495b", diffuse: "#8d99ae", "previous token": "#e09f3e", sink: "#5b8e7d", local: "#bc6c25",
  copy: "#3d7dca", average: "#8f5fbf", frozen: "#2a9db0", mixed: "#7a7f87",
};
const colourOf = (character) => CHARACTERS[character] || CHARACTERS.mixed;

function shade(t) {
  const ramp = RAMPS[dark.matches ? "dark" : "light"];
  const x = Math.min(Math.max(t, 0), 1) * (ramp.length - 1);
  const i = Math.min(Math.floor(x), ramp.length - 2);
  return ramp[i].map((a, c) => Math.round(a + (x - i) * (ramp[i + 1][c] - a)));
}
const css = (rgb) => `rgb(${rgb.join(",")})`;
const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// ---- numbers and bytes -----------------------------------------------------------

function show(x, digits = 3) {
  if (x === null || x === undefined) return "\u2013";
  if (x === 0 || x === 1) return String(x);
  const size = Math.abs(x);
  if (size >= 100) return x.toFixed(0);
  return size < 0.001 ? x.toExponential(1) : x.toFixed(size >= 10 ? 1 : digits);
}
const percent = (x) => (x === null || x === undefined ? "\u2013" : show(100 * x, 2) + " %");

function bytes(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

// Decoded on first use, since a page may hold hundreds of maps.
function unpack(layer) {
  if (!layer.unpacked) {
    const keys = bytes(layer.keys);
    layer.unpacked = {
      keys: layer.wide ? new Uint32Array(keys.buffer) : new Uint16Array(keys.buffer),
      weights: bytes(layer.weights),
      map: layer.map ? bytes(layer.map.bytes) : null,
    };
  }
  return layer.unpacked;
}

// ---- what is chosen ---------------------------------------------------------------

const heads = data.heads;
const place = new Map(heads.map((head, i) => [head.layer + "," + head.head, i]));
const state = { head: 0, filter: null, query: null, sort: "layer", down: false };
const counts = new Map();
for (const head of heads) counts.set(head.character, (counts.get(head.character) || 0) + 1);
const visible = (head) => state.filter === null || head.character === state.filter;

function element(tag, parent, attributes = {}, text) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

// ---- grids ------------------------------------------------------------------------

const most = Math.max(...data.layers.map((layer) => layer.heads));
const LEFT = Math.max(...data.layers.map((layer) => layer.label.length)) > 3 ? 62 : 22;
const BOTTOM = 16;

function prepared(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = height + "px";
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.clearRect(0, 0, width, height);
  return pen;
}

function gridTop(grid) {
  if (grid.top !== null) return grid.top;
  return Math.max(...heads.map((head) => head.values[grid.name] || 0)) || 1;
}

function cellSize(width) {
  const side = (width - LEFT) / most;
  return [side, data.layers.length > 16 ? 11 : Math.max(15, Math.min(side, 22))];
}

function drawGrid(grid) {
  const width = grid.canvas.clientWidth;
  const [w, h] = cellSize(width);
  const pen = prepared(grid.canvas, width, h * data.layers.length + BOTTOM);
  const top = gridTop(grid);
  pen.font = "10px system-ui, sans-serif";
  pen.textBaseline = "middle";
  const every = h < 12 ? 5 : 1;
  heads.forEach((head) => {
    const value = head.values[grid.name];
    pen.globalAlpha = visible(head) ? 1 : 0.12;
    pen.fillStyle = value === null || value === undefined ? variable("--rule") : css(shade(value / top));
    pen.fillRect(LEFT + head.head * w + 0.5, head.layer * h + 0.5, w - 1, h - 1);
  });
  pen.globalAlpha = 1;
  pen.fillStyle = variable("--soft");
  pen.textAlign = "right";
  data.layers.forEach((layer, i) => {
    if (i % every === 0) pen.fillText(layer.label, LEFT - 5, (i + 0.5) * h, LEFT - 6);
  });
  pen.textAlign = "center";
  const step = Math.ceil(18 / w);
  for (let x = 0; x < most; x += step) pen.fillText(x, LEFT + (x + 0.5) * w, h * data.layers.length + BOTTOM / 2 + 1);
  const chosen = heads[state.head];
  pen.strokeStyle = variable("--mark");
  pen.lineWidth = 2;
  pen.strokeRect(LEFT + chosen.head * w, chosen.layer * h, w, h);
}

function headAt(grid, event) {
  const box = grid.canvas.getBoundingClientRect();
  const [w, h] = cellSize(box.width);
  const column = Math.floor((event.clientX - box.left - LEFT) / w);
  const row = Math.floor((event.clientY - box.top) / h);
  return place.get(row + "," + column);
}

function move(event) {
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!steps) return;
  event.preventDefault();
  const layer = Math.min(Math.max(heads[state.head].layer + steps[0], 0), data.layers.length - 1);
  const last = data.layers[layer].heads - 1;
  choose(place.get(layer + "," + Math.min(Math.max(heads[state.head].head + steps[1], 0), last)));
}

function makeGrids() {
  for (const grid of data.grids) {
    const figure = element("figure", byId("grids"));
    const caption = element("figcaption", figure, {}, `${grid.title}, 0\u2013${show(gridTop(grid), 2)}`);
    grid.reading = element("span", caption);
    grid.canvas = element("canvas", figure, { tabindex: "0", role: "img", "aria-label": grid.title + ": layers by heads; arrow keys choose a head" });
    grid.canvas.addEventListener("keydown", move);
    grid.canvas.addEventListener("click", (event) => {
      const i = headAt(grid, event);
      if (i !== undefined) choose(i);
    });
    grid.canvas.addEventListener("mousemove", (event) => readGrid(grid, headAt(grid, event)));
    grid.canvas.addEventListener("mouseleave", () => readGrid(grid));
  }
}

function readGrid(grid, i) {
  const head = heads[i === undefined ? state.head : i];
  grid.reading.textContent = `layer ${data.layers[head.layer].label}, head ${head.head}: ${show(head.values[grid.name])}`;
}

// ---- one head -----------------------------------------------------------------------

const FACTS = [
  ["entropy_share", "entropy / ln keys"], ["n_eff", "effective keys"], ["keys", "keys of a row"], ["top_weight", "largest weight"],
  ["sink1", "weight of the first key"], ["previous", "weight of the previous token"], ["distance", "mean distance"],
  ["induction", "induction"], ["duplicate_token", "earlier copies"], ["S", "spread of scores"], ["freezing", "\u221a(2 ln n)"],
  ["entropy", "entropy"], ["random_entropy", "entropy if random"],
];
const NOISE = [["predicted", "int8 keys: predicted error"], ["measured", "int8 keys: measured error"]];

function drawHead() {
  const head = heads[state.head], layer = data.layers[head.layer];
  byId("head-title").textContent = `Layer ${layer.label}, head ${head.head}`;
  const reason = byId("head-reason");
  reason.textContent = "";
  element("span", reason, { class: "dot", style: `background:${colourOf(head.character)}` });
  element("b", reason, {}, " " + head.character);
  reason.append(": " + head.reason);
  const facts = byId("head-facts");
  facts.textContent = "";
  for (const [list, write] of [[FACTS, show], [NOISE, percent]]) {
    for (const [name, title] of list) {
      if (!(name in head.values) || head.values[name] === null) continue;
      const pair = element("div", facts);
      element("dt", pair, {}, title);
      element("dd", pair, {}, write(head.values[name]));
    }
  }
  drawMap();
  makeTokens();
}

function drawMap() {
  const head = heads[state.head], layer = data.layers[head.layer], map = layer.map, canvas = byId("map");
  canvas.hidden = byId("map-title").hidden = !map;
  if (!map) {
    byId("map-note").textContent = "";
    return;
  }
  const cells = unpack(layer).map.subarray(head.head * map.rows * map.columns);
  const image = new ImageData(map.columns, map.rows);
  for (let i = 0; i < map.rows * map.columns; i++) {
    const [r, g, b] = shade(cells[i] / 255);
    image.data.set([r, g, b, 255], 4 * i);
  }
  const small = document.createElement("canvas");
  small.width = map.columns;
  small.height = map.rows;
  small.getContext("2d").putImageData(image, 0, 0);
  const width = canvas.clientWidth, height = Math.max(24, Math.round((width * map.rows) / map.columns));
  const pen = prepared(canvas, width, height);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(small, 0, 0, width, height);
  noteMap();
}

function noteMap(event) {
  const head = heads[state.head], map = data.layers[head.layer].map;
  const size = map.block === 1 ? "one query by one key" : `${map.block} queries by ${map.block} keys`;
  let text = `Queries downwards, keys to the right; a cell is ${size}, its shade the root of the weight.`;
  if (event) {
    const box = byId("map").getBoundingClientRect();
    const column = Math.min(map.columns - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * map.columns)));
    const row = Math.min(map.rows - 1, Math.max(0, Math.floor(((event.clientY - box.top) / box.height) * map.rows)));
    const cell = unpack(data.layers[head.layer]).map[(head.head * map.rows + row) * map.columns + column];
    const span = (first, x) => (map.block === 1 ? `${first + x}` : `${first + x * map.block}\u2013${first + (x + 1) * map.block - 1}`);
    text = `Queries ${span(map.first, row)}, keys ${span(map.keyFirst, column)}: weight ${show((cell / 255) ** 2)}.`;
  }
  byId("map-note").textContent = text;
}

// ---- tokens ---------------------------------------------------------------------------

const word = (text, i) => (text < 0 || data.texts[text][i] === undefined ? `#${i} ` : data.texts[text][i]);
const quoted = (text, i) => `\u201c${word(text, i).replace(/\n/g, "\u23ce").trim()}\u201d`;

// [key, weight] of a row of the chosen head.
function looks(row) {
  const head = heads[state.head], layer = data.layers[head.layer], { keys, weights } = unpack(layer);
  const none = layer.wide ? 0xffffffff : 0xffff, found = [];
  for (let x = 0; x < data.top; x++) {
    const at = (head.head * layer.rows + row) * data.top + x;
    if (keys[at] !== none && weights[at] > 1) found.push([keys[at], weights[at] / 255]);
  }
  return found;
}

function makeTokens() {
  const head = heads[state.head], layer = data.layers[head.layer], box = byId("tokens");
  const crossing = layer.kind === "cross";
  box.textContent = "";
  box.spans = [];
  for (let row = 0; row < layer.rows; row++) {
    const text = word(layer.text, layer.first + row);
    box.spans.push(element("span", box, { "data-row": row }, text.replace(/\n/g, "\u23ce\n")));
  }
  const shown = layer.rows < layer.total ? `The last ${layer.rows} of ${layer.total} tokens. ` : "";
  byId("tokens-note").textContent = `${shown}Point at a token, or move with the arrow keys: ` +
    (crossing ? "below is what it looks at in the other text." : "the keys of largest weight are shaded.");
  const last = layer.rows - 1;
  lookFrom(state.query === null ? last : Math.min(state.query, last));
  scrollToQuery();
}

function scrollToQuery() {
  const box = byId("tokens"), span = box.spans[state.query];
  if (!span) return;
  const above = span.offsetTop - box.offsetTop;
  if (above < box.scrollTop || above + span.offsetHeight > box.scrollTop + box.clientHeight)
    box.scrollTop = above - box.clientHeight / 2;
}

function lookFrom(row) {
  const head = heads[state.head], layer = data.layers[head.layer], box = byId("tokens"), says = byId("token-says");
  if (row < 0) return;
  state.query = row;
  const found = looks(row), crossing = layer.kind === "cross";
  for (const span of box.marked || []) {
    span.removeAttribute("class");
    span.removeAttribute("style");
  }
  box.marked = [box.spans[row]];
  box.spans[row].className = "query";
  says.textContent = "";
  element("b", says, {}, quoted(layer.text, layer.first + row));
  says.append(` (${layer.first + row}) looks at `);
  found.forEach(([key, weight], x) => {
    says.append(x ? ", " : "");
    element("b", says, {}, quoted(layer.keyText, key));
    says.append(` (${key}) ${weight.toFixed(2)}`);
    const span = crossing ? undefined : box.spans[key - layer.first];
    if (!span) return;
    const rgb = shade(0.15 + 0.85 * weight);
    span.style.background = css(rgb);
    span.style.color = 0.3 * rgb[0] + 0.59 * rgb[1] + 0.11 * rgb[2] > 140 ? "#10151b" : "#fff";
    box.marked.push(span);
  });
  if (!found.length) says.append("no key");
}

function watchTokens() {
  const box = byId("tokens");
  const rowOf = (event) => (event.target.dataset.row === undefined ? -1 : Number(event.target.dataset.row));
  box.addEventListener("mouseover", (event) => lookFrom(rowOf(event)));
  box.addEventListener("click", (event) => lookFrom(rowOf(event)));
  box.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowUp: -10, ArrowRight: 1, ArrowDown: 10, Home: -1e9, End: 1e9 }[event.key];
    if (!step) return;
    event.preventDefault();
    lookFrom(Math.min(Math.max(state.query + step, 0), box.spans.length - 1));
    scrollToQuery();
  });
}

// ---- phase diagram ------------------------------------------------------------------------

const SVG = "http:" + "//www.w3.org/2000/svg";
function drawn(tag, parent, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function drawPhases() {
  const box = byId("phases"), W = Math.max(320, Math.min(736, box.clientWidth)), H = 360, L = 58, B = 44, T = 10, R = 12;
  box.textContent = "";
  const svg = drawn("svg", box, { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "Spread of scores against entropy, all heads" });
  const known = heads.filter((head) => Number.isFinite(head.values.S) && Number.isFinite(head.values.entropy_share));
  const across = (head) => head.values.S / head.values.freezing;
  const right = Math.max(1.25, ...known.map(across)) * 1.05;
  const x = (v) => L + Math.sqrt(v / right) * (W - L - R), y = (v) => H - B - v * (H - B - T);
  for (let v = 0; v <= 1.001; v += 0.25) {
    drawn("line", svg, { class: "axis", x1: L, x2: W - R, y1: y(v), y2: y(v) });
    drawn("text", svg, { x: L - 6, y: y(v) + 4, "text-anchor": "end" }, v.toFixed(2));
  }
  let free = 0;
  for (const v of [0, 0.1, 0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24]) {
    if (v > right || x(v) < free) continue;
    drawn("text", svg, { x: x(v), y: H - B + 16, "text-anchor": "middle" }, String(v));
    free = x(v) + 30;
  }
  drawn("text", svg, { x: L + (W - L - R) / 2, y: H - 6, "text-anchor": "middle" }, "spread of scores / \u221a(2 ln n)");
  drawn("text", svg, { x: 12, y: T + (H - B - T) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${T + (H - B - T) / 2})` }, "entropy / ln n");
  drawn("line", svg, { class: "freeze", x1: x(1), x2: x(1), y1: T, y2: H - B });
  const law = data.law.points.filter(([v]) => v <= right);
  drawn("path", svg, { class: "law", d: "M" + law.map(([u, v]) => `${x(u).toFixed(1)},${y(v).toFixed(1)}`).join("L") });
  for (const head of known) {
    const i = heads.indexOf(head), shown = visible(head);
    const dot = drawn("circle", svg, {
      cx: x(across(head)), cy: y(head.values.entropy_share || 0), r: i === state.head ? 6 : 4, fill: colourOf(head.character),
      "fill-opacity": shown ? 0.8 : 0.08, class: i === state.head ? "chosen" : "",
    });
    drawn("title", dot, {}, `layer ${data.layers[head.layer].label}, head ${head.head}: ${head.character}`);
    dot.addEventListener("click", () => choose(i));
    if (i === state.head) svg.chosen = dot;
  }
  if (svg.chosen) svg.append(svg.chosen);
}

// ---- table ----------------------------------------------------------------------------------

const COLUMNS = [
  ["layer", "layer"], ["head", "head"], ["character", "character"], ["entropy_share", "entropy / ln keys"], ["n_eff", "effective keys"],
  ["top_weight", "largest weight"], ["sink1", "first key"], ["previous", "previous token"], ["distance", "distance"],
  ["induction", "induction"], ["duplicate_token", "earlier copies"], ["S", "spread"],
  ["predicted", "int8 error, predicted"], ["measured", "int8 error, measured"],
].filter(([name]) => ["layer", "head", "character"].includes(name) || heads.some((head) => head.values[name] !== undefined));

const cell = (head, name) => (name in head ? head[name] : head.values[name]);

function makeTable() {
  const row = element("tr", byId("table").tHead);
  for (const [name, title] of COLUMNS) {
    const th = element("th", row, { scope: "col", "data-name": name, class: name === "character" ? "word" : "" });
    const button = element("button", th, { type: "button" }, title);
    button.addEventListener("click", () => {
      state.down = state.sort === name ? !state.down : !["layer", "head", "character"].includes(name);
      state.sort = name;
      drawTable();
    });
  }
}

function compare(a, b) {
  const u = cell(heads[a], state.sort), v = cell(heads[b], state.sort);
  if (u === v) return a - b;
  if (u === null || u === undefined) return 1;
  if (v === null || v === undefined) return -1;
  return (u < v ? -1 : 1) * (state.down ? -1 : 1);
}

function drawTable() {
  for (const th of byId("table").tHead.rows[0].cells)
    th.setAttribute("aria-sort", th.dataset.name !== state.sort ? "none" : state.down ? "descending" : "ascending");
  const body = byId("table").tBodies[0];
  body.textContent = "";
  for (const i of heads.map((_, x) => x).filter((x) => visible(heads[x])).sort(compare)) {
    const row = element("tr", body, { "data-head": i, class: i === state.head ? "chosen" : "" });
    for (const [name] of COLUMNS) {
      const value = cell(heads[i], name);
      if (name === "layer") element("td", row, {}, data.layers[value].label);
      else if (name === "head") {
        const button = element("button", element("td", row), { type: "button", "aria-label": `Show layer ${data.layers[heads[i].layer].label}, head ${value}` }, value);
        button.addEventListener("click", () => choose(i));
      } else if (name === "character") element("td", row, { class: "word" }, value);
      else element("td", row, {}, name === "predicted" || name === "measured" ? percent(value) : show(value));
    }
    row.addEventListener("click", () => choose(i));
  }
}

function markTable() {
  for (const row of byId("table").tBodies[0].rows) row.className = Number(row.dataset.head) === state.head ? "chosen" : "";
}

// ---- all together ------------------------------------------------------------------------------

function makeChips() {
  const box = byId("characters");
  const add = (character, text, colour) => {
    const button = element("button", box, { type: "button" });
    if (colour) element("span", button, { class: "dot", style: `background:${colour}` });
    button.append(text);
    button.character = character;
    button.addEventListener("click", () => {
      state.filter = state.filter === character ? null : character;
      drawAll();
      drawTable();
    });
  };
  add(null, `all ${heads.length}`, null);
  for (const [character, count] of [...counts].sort((a, b) => b[1] - a[1])) add(character, `${character} ${count}`, colourOf(character));
}

function about() {
  const layers = data.layers.length, lengths = [...new Set(data.layers.map((layer) => layer.total))];
  const parts = [`${data.model}: ${layers} attention layers, ${heads.length} heads, ${lengths.join(" and ")} tokens.`];
  if (data.batches > 1) parts.push(`Means are over ${data.batches} texts; maps and tokens are of the first.`);
  if (data.missed.length) parts.push(`Not watched, since they bypass the attention interface: ${data.missed.join(", ")}.`);
  parts.push(`The curve of the phase diagram is for ${data.law.keys} keys. Made by attend ${data.version}.`);
  byId("about").textContent = parts.join(" ");
}

function drawAll() {
  for (const button of byId("characters").children) button.setAttribute("aria-pressed", String(button.character === state.filter));
  for (const grid of data.grids) {
    drawGrid(grid);
    readGrid(grid);
  }
  drawPhases();
}

// The head with the clearest pattern is chosen first.
function first() {
  const clear = ({ values }) => (values.induction || 0) + (values.duplicate_token || 0) + (values.previous || 0);
  return heads.reduce((best, head, i) => (clear(head) > clear(heads[best]) ? i : best), 0);
}

function choose(i) {
  state.head = i;
  drawAll();
  drawHead();
  markTable();
}

about();
makeChips();
makeGrids();
makeTable();
watchTokens();
byId("map").addEventListener("mousemove", noteMap);
byId("map").addEventListener("mouseleave", () => noteMap());
drawTable();
choose(first());
let waiting = 0;
const again = () => {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => choose(state.head));
};
addEventListener("resize", again);
dark.addEventListener("change", again);
