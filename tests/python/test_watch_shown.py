# SPDX-License-Identifier: MIT
"""The page of a watch in a browser, and its plots."""

import unittest

import torch
from eager_weights import sharp, watched
from setting import html_pages, np
from tiny_models import DECODERS, TRANSLATORS, build, tokens
from watch_pages import Case, Words, small_watch

import attend

# Runs inside the page: operates it as a user would, and reports the results.
PROBE = """<script>
addEventListener('load', () => {
  const byId = (id) => document.getElementById(id), said = {};
  const key = (where, name) => where.dispatchEvent(new KeyboardEvent('keydown', {key: name, bubbles: true}));
  const grid = document.querySelector('#grids canvas'), title = () => byId('head-title').textContent;
  const pixel = () => [...grid.getContext('2d').getImageData(grid.width - 6, 6, 1, 1).data];
  for (let i = 0; i < 9; i++) { key(grid, 'ArrowUp'); key(grid, 'ArrowLeft'); }
  said.first = title();
  key(grid, 'ArrowRight'); key(grid, 'ArrowDown');
  said.moved = title();
  const box = grid.getBoundingClientRect();
  grid.dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: box.right - 4, clientY: box.top + 4}));
  said.clicked = title();
  said.reason = byId('head-reason').textContent;
  said.pixel = pixel();
  said.map = [byId('map').width, byId('map').height];
  said.tokens = byId('tokens').children.length;
  said.before = byId('token-says').textContent;
  key(byId('tokens'), 'Home');
  said.home = byId('token-says').textContent;
  byId('tokens').children[3].dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
  said.third = byId('token-says').textContent;
  said.shaded = [...byId('tokens').children].filter((s) => s.style.background).length;
  said.dots = document.querySelectorAll('#phases circle').length;
  const sort = [...document.querySelectorAll('th')].find((th) => th.dataset.name === 'top_weight');
  sort.querySelector('button').click();
  said.sorted = [...document.querySelectorAll('tbody tr')].map((tr) => Number(tr.cells[5].textContent));
  said.order = sort.getAttribute('aria-sort');
  const chip = byId('characters').children[1];
  chip.click();
  said.chip = [chip.textContent, document.querySelectorAll('tbody tr').length, chip.getAttribute('aria-pressed')];
  document.querySelector('tbody tr').click();
  said.row = title();
  const root = document.documentElement, body = getComputedStyle(document.body);
  said.width = innerWidth; said.scroll = root.scrollWidth;
  said.fetched = performance.getEntriesByType('resource').map((e) => e.name);
  said.background = body.backgroundColor; said.colour = body.color;
  parent.postMessage(JSON.stringify(said), '*');
});
</script>"""


class Shown(html_pages.Browser, Case):
    def browse_watch(self, w, width, *flags):
        return self.browse(self.saved(w), PROBE, width, self.dir, *flags)

    def test_a_person_explores(self):
        w = small_watch()
        said = self.browse_watch(w, 1280)
        self.assertEqual(
            [said["first"], said["moved"], said["clicked"]],
            ["Layer 0, head 0", "Layer 1, head 1", "Layer 0, head 3"],
        )
        (head,) = [head for head in w.heads() if (head["layer"], head["head"]) == (0, 3)]
        self.assertEqual(said["reason"].strip(), f"{head['character']}: {head['reason']}")
        self.assertEqual((said["tokens"], said["dots"]), (40, 8))
        self.assertEqual(said["pixel"][3], 255)
        self.assertGreater(min(said["map"]), 100)
        row = w.rows(0, 3)[3]
        self.assertEqual(said["shaded"], len(row["top_keys"]))
        self.assertIn(f"({row['top_keys'][0]}) {row['top_weights'][0]:.2f}", said["third"])
        self.assertRegex(said["home"], r"\(0\) looks at .*\(0\) 1\.00$")
        self.assertNotEqual(said["before"], said["home"])
        self.assertEqual(said["sorted"], sorted(said["sorted"], reverse=True))
        self.assertEqual((len(said["sorted"]), said["order"]), (8, "descending"))
        character, count = said["chip"][0].rsplit(" ", 1)
        self.assertEqual((int(count), said["chip"][2]), (said["chip"][1], "true"))
        self.assertIn(character, {head["character"] for head in w.heads()})
        self.assertRegex(said["row"], r"^Layer \d, head \d$")
        self.assert_light(said)

    def test_in_the_dark_on_a_phone(self):
        self.assert_dark(
            self.browse_watch(small_watch(keep=None), 390, "--blink-settings=preferredColorScheme=0")
        )

    def test_gaps(self):
        model = build(DECODERS["llama"])
        with torch.no_grad():
            model.model.layers[1].self_attn.q_proj.weight[:] = float("nan")
        w = watched(model, tokens(batch=1, length=40), Words())
        self.assertEqual(self.browse_watch(w, 1280)["dots"], 4)

    def test_encoder_and_decoder(self):
        model = build(TRANSLATORS["bart"])
        with attend.watch(model, Words()) as w:
            model.generate(tokens(batch=1, length=40), max_new_tokens=5, min_new_tokens=5, do_sample=False)
        self.assertEqual(self.browse_watch(w, 1280)["first"], "Layer encoder 0, head 0")


class Plot(unittest.TestCase):
    def test_grids(self):
        model = sharp(DECODERS["llama"])
        w = watched(model, tokens())
        figure = w.plot()
        images = [axis.images[0].get_array() for axis in figure.axes if axis.get_title()]
        self.assertEqual([image.shape for image in images], [(2, 4)] * 6)
        sinks = w.table().sink1.to_numpy().reshape(2, 4)
        np.testing.assert_allclose(images[2], sinks)
