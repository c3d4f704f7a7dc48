// Instruments: a needle for steering, bars for throttle and speed, a trace of the value. They are set ten times a
// second: that is as fast as one reads, and every number that changes makes the browser lay the page out again.

import { el, number, replace, svg } from "./dom.js";

const PERIOD = 100; // ms between two readings
const TRACE = 150;
const TOP_SPEED = 5;
const MAKERS = { steering: needle, throttle: middleBar, speed: speedBar, value: trace };

export class Gauges {
  constructor() {
    this.node = el("div", { class: "gauges" });
    this.names = "";
    this.shown = [];
  }

  /** Which gauges a room has. */
  name(names) {
    if (names.join() === this.names) return;
    this.names = names.join();
    this.shown = names.map((name) => (MAKERS[name] ?? figure)(name));
    replace(this.node, this.shown.map(({ node }) => node));
  }

  /** New numbers of a frame: kept at once, shown with the next reading. */
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

function frame(name, instrument) {
  const figures = el("output", { class: "numbers" });
  return { figures, node: el("div", { class: `gauge ${name}` }, el("span", { class: "gauge-name", text: name }), instrument, figures) };
}

function needle(name) {
  const hand = svg("path", { class: "dial-hand", d: "M50 46 L48 46 L50 10 L52 46 Z" });
  const dial = svg("svg", { viewBox: "0 0 100 52", "aria-hidden": "true" }, svg("path", { class: "dial-arc", d: "M12 46 A38 38 0 0 1 88 46" }), hand, svg("circle", { class: "dial-hub", cx: 50, cy: 46, r: 4 }));
  const { node, figures } = frame(name, dial);
  const draw = (x) => {
    hand.style.transform = `rotate(${75 * clamp(x, -1, 1)}deg)`;
    figures.textContent = Math.abs(x) < 0.05 ? "straight" : `${x < 0 ? "left" : "right"} ${Math.round(100 * Math.abs(x))}%`;
  };
  return { node, draw };
}

/** A bar that grows from its middle: full power to the right, brakes to the left. */
function middleBar(name) {
  const fill = el("span");
  const { node, figures } = frame(name, el("div", { class: "gauge-bar from-middle", "aria-hidden": "true" }, fill));
  const draw = (x) => {
    fill.style.transform = `scaleX(${clamp(x, -1, 1)})`;
    fill.classList.toggle("negative", x < 0);
    figures.textContent = `${x < -0.005 ? "−" : ""}${Math.round(100 * Math.abs(x))}%`;
  };
  return { node, draw };
}

function speedBar(name) {
  const fill = el("span");
  const { node, figures } = frame(name, el("div", { class: "gauge-bar", "aria-hidden": "true" }, fill));
  const draw = (x) => {
    fill.style.transform = `scaleX(${clamp(x / TOP_SPEED, 0, 1)})`;
    figures.textContent = x.toFixed(1);
  };
  return { node, draw };
}

/** What the agent expects, over the last seconds. */
function trace(name) {
  const past = [];
  const path = svg("path", { class: "graph-line" });
  const { node, figures } = frame(name, svg("svg", { viewBox: `0 0 ${TRACE} 40`, preserveAspectRatio: "none", "aria-hidden": "true" }, path));
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

function figure(name) {
  const { node, figures } = frame(name, null);
  return { node, draw: (x) => (figures.textContent = number(Math.round(100 * x) / 100)) };
}

function clamp(x, low, high) {
  return Math.max(low, Math.min(high, x));
}
