// One metric of all runs of a board: a chart, its newest values as text, and a table.

import { duration, el, number } from "./dom.js";
import { nearest, sampled, smoothed } from "./history.js";
import { label } from "./labels.js";
import { button, table, to } from "./parts.js";

const MARKS = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });
/** Tick intervals of a time axis in seconds: round numbers of seconds, minutes, hours and days. */
const TIMES = [1, 2, 5, 10, 20, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400, 172800, 604800];
const ENDS = ["score_low", "score_high"];
const DASHES = { solid: [], dashed: [8, 5], dotted: [2, 4] };
const ZOOMS = { "+": [0.25, -0.25], "=": [0.25, -0.25], "-": [-0.5, 0.5], ArrowLeft: [-0.2, -0.2], ArrowRight: [0.2, 0.2], 0: null };

/** The line style of a run, for people who cannot distinguish the colours. */
const strokeOf = (place) => Object.keys(DASHES)[Math.floor(place / 3) % 3];

export class Panel {
  constructor(board, column) {
    Object.assign(this, { board, column, name: label(column), banded: column === "score" });
    this.value = el("span", { class: "chart-value" });
    this.plot = el("div", { class: "chart-plot", tabindex: "0", role: "img", onkeydown: (event) => this.#key(event) });
    this.legend = el("ul", { class: "chart-legend" });
    this.table = el("div", { class: "chart-table", hidden: true });
    this.toggle = button("Table", () => this.#toggleTable(), "quiet small", { "aria-pressed": "false", "aria-label": `${this.name}: show as a table` });
    this.root = el("figure", { class: "panel chart" }, el("figcaption", {}, el("h3", { text: this.name }), this.toggle, this.value), this.plot, this.legend, this.table);
    this.resized = new ResizeObserver(() => this.chart?.setSize(this.#size()));
    this.resized.observe(this.plot);
  }

  close() {
    this.resized.disconnect();
    this.chart?.destroy();
    this.root.remove();
  }

  /** Build the chart again, for other colours, another axis or other runs. */
  build() {
    this.chart?.destroy();
    this.chart = new this.board.uPlot(this.#options(), this.#data(), this.plot);
    this.#showValues();
  }

  feed() {
    this.chart?.setData(this.#data());
    this.#showValues();
    if (!this.table.hidden) this.#fillTable();
  }

  #size() {
    return { width: Math.max(this.plot.clientWidth, 120), height: this.plot.clientHeight || 200 };
  }

  /** For each run: its line, and the raw line or the two ends of its confidence interval. */
  #data() {
    const { axis, smoothing, runs, uPlot } = this.board;
    return uPlot.join(runs.map((history) => {
      const [x, y] = history.points(this.column, axis);
      const line = smoothing ? smoothed(y, smoothing) : y;
      if (!this.banded) return [x, line, smoothing ? y : y.map(() => null)];
      return [x, line, ...ENDS.map((name) => history.points(name, axis)[1]).map((end) => (end.length === x.length ? end : y))];
    }));
  }

  #options() {
    const { board } = this;
    const [series, bands] = [[{}], []];
    board.runs.forEach((history, place) => {
      const color = board.color(place);
      const sparse = () => history.points(this.column, "step")[0].length < 25;
      series.push({ stroke: color, width: 2, dash: DASHES[strokeOf(place)], spanGaps: true, points: { show: sparse, size: 5, fill: color } });
      const faint = { stroke: this.banded ? "transparent" : `${color}55`, width: 1, spanGaps: true, points: { show: false } };
      series.push(faint);
      if (!this.banded) return;
      series.push({ ...faint });
      bands.push({ series: [series.length - 1, series.length - 2], fill: `${color}33` });
    });
    return {
      ...this.#size(), series, bands, legend: { show: false }, axes: this.#axes(), padding: [10, 20, 0, 0],
      scales: { x: { time: false, range: () => board.zoom ?? board.extent() }, y: { range: (_, low, high) => margin(low, high) } },
      cursor: { y: false, drag: { x: true, y: false, setScale: false }, bind: { dblclick: () => () => board.zoomTo(null) } },
      hooks: { setSelect: [(chart) => this.#select(chart)], setCursor: [(chart) => this.#showValues(chart.cursor.left >= 0 ? chart.posToVal(chart.cursor.left, "x") : null)] },
    };
  }

  #axes() {
    const style = getComputedStyle(this.plot);
    const [stroke, line] = ["--muted", "--line"].map((token) => style.getPropertyValue(token).trim());
    const shared = { stroke, font: "12px system-ui, sans-serif", grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 } };
    const down = (mark) => MARKS.format(mark).replace("-", "−");
    const across = this.board.axis === "seconds" ? { incrs: TIMES, values: (_, marks) => marks.map(duration) } : { values: (_, marks) => marks.map(down) };
    const wide = (_, words) => 22 + 7 * Math.max(2, ...(words ?? []).map((word) => word.length));
    return [{ ...shared, size: 32, space: 70, ...across }, { ...shared, size: wide, space: 36, values: (_, marks) => marks.map(down) }];
  }

  #select(chart) {
    const { left, width } = chart.select;
    if (width < 5) return;
    const ends = [left, left + width].map((place) => chart.posToVal(place, "x"));
    chart.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.board.zoomTo(ends);
  }

  /** Keyboard: + and - zoom about the middle, arrows move, 0 shows all. */
  #key(event) {
    const { min, max } = this.chart?.scales.x ?? {};
    if (min == null || event.ctrlKey || event.metaKey || event.altKey || !(event.key in ZOOMS)) return;
    event.preventDefault();
    const shares = ZOOMS[event.key];
    this.board.zoomTo(shares && [min + shares[0] * (max - min), max + shares[1] * (max - min)]);
  }

  /** Show the values at a position of the axis, or the newest, in the caption, the legend and the ARIA label. */
  #showValues(place = null) {
    const { runs } = this.board;
    const found = runs.map((history) => this.#at(history, place));
    const words = found.map((text) => text ?? "not measured yet");
    const several = runs.length > 1;
    this.root.classList.toggle("blank", !found.some(Boolean));
    this.value.textContent = several ? "" : words[0];
    this.legend.hidden = !several;
    if (several) this.legend.replaceChildren(...runs.map(({ run }, index) => this.#entry(run, index, words[index])));
    if (place !== null) return;
    const values = runs.map(({ run }, index) => `${run}: ${words[index]}`).join("; ");
    this.plot.setAttribute("aria-label", `Chart of ${this.name}. Newest values: ${values}. Plus and minus zoom, arrows move, 0 shows all.`);
  }

  #at(history, place) {
    const [x, y] = history.points(this.column, this.board.axis);
    if (!x.length) return null;
    const index = place === null ? x.length - 1 : nearest(x, place);
    const ends = this.banded ? ENDS.map((name) => history.points(name, "step")[1][index]).filter((end) => end != null) : [];
    const between = ends.length === 2 ? ` (${ends.map(number).join(" to ")})` : "";
    return `${number(y[index])}${between} at ${(this.board.axis === "seconds" ? duration : number)(x[index])}`;
  }

  #entry(run, index, words) {
    const mark = el("span", { class: "chart-key", style: { "border-top": `4px ${strokeOf(index)} ${this.board.color(index)}` } });
    return el("li", {}, mark, el("a", { href: to("run", run), text: run }), ` ${words}`);
  }

  #toggleTable() {
    this.table.hidden = !this.table.hidden;
    this.plot.hidden = !this.table.hidden;
    this.toggle.setAttribute("aria-pressed", String(!this.table.hidden));
    if (!this.table.hidden) this.#fillTable();
  }

  #fillTable() {
    const cell = (value) => el("td", { class: "number", text: number(value) });
    const rows = this.board.runs.flatMap((history) => sampled(history.points(this.column, "step"), 24).map(([step, value]) => el("tr", {}, el("td", { text: history.run }), cell(step), cell(value))));
    this.table.replaceChildren(table(`${this.name}, as a table`, ["Run", ">Steps", `>${this.name}`], rows));
  }
}

function margin(low, high) {
  if (low == null) return [0, 1];
  const room = low === high ? Math.abs(low) / 2 || 1 : 0.06 * (high - low);
  return [low - room, high + room];
}
