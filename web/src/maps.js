// SPDX-License-Identifier: MIT
// Maps of weights on a canvas.

/** The colours of the report's heat maps. */
const STOPS = [
  [68, 1, 84],
  [71, 44, 122],
  [59, 81, 139],
  [44, 113, 142],
  [33, 144, 141],
  [39, 173, 129],
  [92, 200, 99],
  [170, 220, 50],
  [253, 231, 37],
];

function colourAt(t) {
  const at = Math.min(Math.max(t, 0), 1) * (STOPS.length - 1);
  const i = Math.min(Math.floor(at), STOPS.length - 2);
  return STOPS[i].map((x, c) => x + (at - i) * (STOPS[i + 1][c] - x));
}

/** Sums of weights over blocks, as colours on a logarithmic scale. */
export function paint(canvas, sums, columns, rows, { nq, nk }, block) {
  const image = new ImageData(columns, rows);
  const least = 1 / 16 / nk;
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < columns; c++) {
      const high = block > 1 ? Math.min(block, nq - r * block) : 1;
      const wide = block > 1 ? Math.min(block, nk - c * block) : 1;
      const mean = sums[r * columns + c] / (high * wide);
      const t = mean > 0 ? Math.log(mean / least) / Math.log(1 / least) : 0;
      image.data.set([...(mean > 0 ? colourAt(t) : [24, 20, 30]), 255], 4 * (r * columns + c));
    }
  canvas.getContext('2d').putImageData(image, 0, 0);
}
