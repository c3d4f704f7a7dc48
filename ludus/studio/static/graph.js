// A small line chart, for the value of a game after each move and for the last returns.

import { svg } from "./dom.js";

const WIDTH = 300, HEIGHT = 90, EDGE = 4;

/** Options: low, high (default: from the values), zero (draw a line at 0), mark (an index), label. */
export function line(values, { low, high, zero = false, mark = -1, label }) {
  const known = values.filter((value) => value !== null && Number.isFinite(value));
  const bottom = Math.min(low ?? Infinity, ...known), top = Math.max(high ?? -Infinity, ...known);
  const x = (index) => EDGE + ((WIDTH - 2 * EDGE) * index) / Math.max(1, values.length - 1);
  const y = (value) => HEIGHT - EDGE - ((HEIGHT - 2 * EDGE) * (value - bottom)) / (top - bottom || 1);
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label, preserveAspectRatio: "none" });
  if (zero) drawing.append(svg("line", { class: "graph-zero", x1: 0, x2: WIDTH, y1: y(0), y2: y(0) }));
  drawing.append(svg("path", { class: "graph-line", d: path(values, x, y) }));
  if (mark >= 0) drawing.append(svg("line", { class: "graph-mark", x1: x(mark), x2: x(mark), y1: 0, y2: HEIGHT }));
  return drawing;
}

/** Missing values leave no gap: the line continues to the next known one. */
function path(values, x, y) {
  const places = values.map((value, index) => [index, value]).filter(([, value]) => value !== null && Number.isFinite(value));
  return places.map(([index, value], order) => `${order ? "L" : "M"}${x(index).toFixed(1)} ${y(value).toFixed(1)}`).join("");
}
