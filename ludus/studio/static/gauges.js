// Gauges: a dial, a bar or a trace for each number that comes with the frames of a room. They are drawn ten times per
// second, because people cannot read faster and every changed number makes the browser lay out the page again.

import { el, number, replace, svg } from "./dom.js";

const PERIOD = 100; // ms between two updates
const TRACE = 150;
const MAKERS = { dial, centered: centeredBar, bar, trace };

export class Gauges {
  constructor() {
    this.node = el("div", { class: "gauges" });
    this.names = "";
    this.shown = [];
  }

  /** The gauges of a room: {name, kind, low, high, neutral, labels, unit}. */
  declare(gauges) {
    const names = gauges.map(({ name }) => name).join();
    if (names === this.names) return;
    this.names = names;
    this.shown = gauges.map((gauge) => (MAKERS[gauge.kind] ?? figure)(gauge));
    replace(this.node, this.shown.map(({ node }) => node));
  }

  /** Store the numbers of a frame; they are shown at the next update. */
  set(numbers) {
    this.numbers = Array.from(numbers, (x) => (Number.isFinite(x) ? x : 0));
    this.shown.forEach((gauge, index) => gauge.record?.(this.numbers[index] ?? 0));
    this.reading ??= setTimeout(() => this.#read(), PERIOD);
  }

  #read() {
    this.reading = null;
    this.shown.forEach((gauge, index) => gauge.draw(this.numbers[index] ?? 0));
  }

  close() {
    clearTimeout(this.reading);
  }
}

function frame({ name, kind }, instrument) {
  const figures = el("output", { class: "numbers" });
  return { figures, node: el("div", { class: `gauge ${kind}-gauge` }, el("span", { class: "gauge-name", text: name }), instrument, figures) };
}

/** A needle that points up at the neutral value and to the sides at the bounds. */
function dial(gauge) {
  const hand = svg("path", { class: "dial-hand", d: "M50 46 L48 46 L50 10 L52 46 Z" });
  const face = svg("svg", { viewBox: "0 0 100 52", "aria-hidden": "true" }, svg("path", { class: "dial-arc", d: "M12 46 A38 38 0 0 1 88 46" }), hand, svg("circle", { class: "dial-hub", cx: 50, cy: 46, r: 4 }));
  const { node, figures } = frame(gauge, face);
  const draw = (x) => {
    hand.style.transform = `rotate(${75 * position(gauge, x)}deg)`;
    figures.textContent = sideWords(gauge, x);
  };
  return { node, draw };
}

/** A bar that grows from its middle, the neutral value. */
function centeredBar(gauge) {
  const fill = el("span");
  const { node, figures } = frame(gauge, el("div", { class: "gauge-bar from-middle", "aria-hidden": "true" }, fill));
  const draw = (x) => {
    fill.style.transform = `scaleX(${position(gauge, x)})`;
    fill.classList.toggle("negative", position(gauge, x) < 0);
    figures.textContent = sideWords(gauge, x);
  };
  return { node, draw };
}

/** A bar from the low to the high end of the gauge. */
function bar(gauge) {
  const { low, high, unit } = gauge;
  const fill = el("span");
  const { node, figures } = frame(gauge, el("div", { class: "gauge-bar", "aria-hidden": "true" }, fill));
  const draw = (x) => {
    fill.style.transform = `scaleX(${clamp((x - low) / (high - low), 0, 1)})`;
    figures.textContent = `${decimal(x, high - low < 5 ? 2 : 1)}${unit ? ` ${unit}` : ""}`;
  };
  return { node, draw };
}

/** The number over the last seconds. */
function trace(gauge) {
  const past = [];
  const path = svg("path", { class: "graph-line" });
  const { node, figures } = frame(gauge, svg("svg", { viewBox: `0 0 ${TRACE} 40`, preserveAspectRatio: "none", "aria-hidden": "true" }, path));
  const record = (x) => {
    past.push(x);
    if (past.length > TRACE) past.shift();
  };
  const draw = (x) => {
    path.setAttribute("d", curve(past));
    figures.textContent = number(Math.round(10 * x) / 10);
  };
  return { node, draw, record };
}

function curve(past) {
  const low = Math.min(...past), span = Math.max(...past) - low || 1;
  return past.map((x, index) => `${index ? "L" : "M"}${index} ${(38 - (36 * (x - low)) / span).toFixed(1)}`).join("");
}

function figure(gauge) {
  const { node, figures } = frame(gauge, null);
  return { node, draw: (x) => (figures.textContent = number(Math.round(100 * x) / 100)) };
}

/** -1 at the low bound, 0 at the neutral value, 1 at the high bound. */
function position({ low, neutral, high }, x) {
  const reach = x < neutral ? neutral - low : high - neutral;
  return reach > 0 ? clamp((x - neutral) / reach, -1, 1) : 0;
}

/** The name of a side with a percentage, the name of the neutral value, or "−40%" if the game names none. */
function sideWords(gauge, x) {
  const [lower, rest, upper] = gauge.labels;
  const place = position(gauge, x);
  const share = `${Math.round(100 * Math.abs(place))}%`;
  if (rest && Math.abs(place) < 0.05) return rest;
  const side = place < 0 ? lower : upper;
  return side ? `${side} ${share}` : `${place < -0.005 ? "−" : ""}${share}`;
}

/** A number with a fixed count of digits, so that it does not jump; never "-0.0". */
function decimal(x, digits) {
  return (Number(x.toFixed(digits)) || 0).toFixed(digits).replace("-", "−");
}

function clamp(x, low, high) {
  return Math.max(low, Math.min(high, x));
}
