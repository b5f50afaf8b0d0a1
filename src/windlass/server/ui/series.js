/** Counts over time, made ready to be drawn. Pure. */

/**
 * The sparse points of the API as a column for each bucket, empty ones included.
 * @param {{at: string}[]} points
 * @param {{step: number, since: number, until: number, keys: string[], most?: number}} shape `most`:
 *   buckets are merged until there are no more than so many
 * @returns {{step: number, times: number[], values: Record<string, number[]>, totals: Record<string, number>}}
 *   `totals` has what the bucket that is not over has, too
 */
export function columns(points, { step, since, until, keys, most = Infinity }) {
  const merged = step * Math.max(1, Math.ceil((until - since) / step / most));
  const first = Math.ceil(since / merged) * merged;
  // The last bucket is not over yet, and would look like a fall.
  const number = Math.max(1, Math.floor((until - first) / merged));
  const times = Array.from({ length: number }, (_, index) => first + index * merged);
  const values = Object.fromEntries(keys.map((key) => [key, new Array(number).fill(0)]));
  const totals = Object.fromEntries(keys.map((key) => [key, 0]));
  for (const point of points) {
    const index = Math.floor((Date.parse(point.at) - first) / merged);
    if (index < 0) continue;
    for (const key of keys) {
      totals[key] += point[key] ?? 0;
      if (index < number) values[key][index] += point[key] ?? 0;
    }
  }
  return { step: merged, times, values, totals };
}

export const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);

/** A round number that is no less than `value`, and its quarters or halves or fifths. */
export function scale(value) {
  if (value <= 0) return { top: 1, ticks: [0, 1] };
  const power = 10 ** Math.floor(Math.log10(value));
  const [factor, parts] = [
    [1, 2],
    [2, 2],
    [4, 4],
    [5, 5],
    [8, 4],
    [10, 2],
  ].find(([each]) => each * power >= value);
  const top = factor * power;
  return { top, ticks: Array.from({ length: parts + 1 }, (_, index) => (top * index) / parts) };
}

/** An SVG path through points, in whole tenths of a pixel. */
export const line = (points) =>
  points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
