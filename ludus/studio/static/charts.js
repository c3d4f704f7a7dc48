// Curves of runs, drawn by uPlot: one panel a metric, all runs in it, one zoom for all panels.
// What is drawn of a History (smoothing, axis, zoom) is decided here, on the page.

import { ApiError } from "./api.js";
import { el, stylesheet } from "./dom.js";
import { label, Panel } from "./panel.js";
import { button } from "./parts.js";

const FIRST = ["score", "return", "policy_loss", "value_loss", "rate", "undecided", "exploration"];
const COLORS = 6;
/** Runs in one chart; beyond six, colours come again in another stroke. */
export const MOST_RUNS = 8;

let library;

/** uPlot exists as a classic script only, and is fetched when the first chart is shown. */
function loadPlots() {
  library ??= new Promise((resolve, reject) => {
    const styled = stylesheet("/vendor/uplot/uPlot.min.css");
    const onload = () => styled.then(() => resolve(window.uPlot));
    const onerror = () => {
      library = undefined;
      reject(new ApiError("The charts could not be loaded; is the studio still running?", null, 0));
    };
    document.head.append(el("script", { src: "/vendor/uplot/uPlot.iife.js", onload, onerror }));
  });
  return library;
}

/** Charts of one run or of several, with their tools; call open() once it is in the page. */
export class Board {
  constructor(root, runs) {
    Object.assign(this, { runs, axis: "step", smoothing: 0, zoom: null, panels: new Map(), offered: [] });
    this.grid = el("div", { class: "charts" });
    this.picker = el("div", { class: "chart-picks" });
    this.reset = button("Show all", () => this.zoomTo(null), "quiet small", { disabled: true });
    this.tools = this.#tools();
    root.append(el("section", { class: "chart-board", "aria-label": "Charts" }, el("h2", { class: "hushed", text: "Charts" }), this.tools, this.grid));
    this.#watchTheme();
  }

  async open() {
    this.uPlot = await loadPlots();
    if (this.closed) return;
    this.#show("score");
    this.#offer();
  }

  close() {
    this.closed = true;
    this.quiet();
    for (const panel of this.panels.values()) panel.close();
  }

  color(place) {
    return getComputedStyle(this.grid).getPropertyValue(`--series-${(place % COLORS) + 1}`).trim();
  }

  /** The same from left to right for all panels, whatever they measure, so that one looks straight down. */
  extent() {
    const ends = this.runs.flatMap(({ [this.axis]: x }) => (x.length ? [x[0], x.at(-1)] : []));
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    return low < high ? [low, high] : [(ends[0] ?? 0) - 1, (ends[0] ?? 0) + 1];
  }

  append(run, lines) {
    this.runs.find((history) => history.run === run)?.append(lines);
    // However many lines arrive, charts are drawn once a frame at most.
    if (this.uPlot) this.due ??= requestAnimationFrame(() => this.#catchUp());
  }

  zoomTo(ends) {
    this.zoom = ends;
    this.reset.disabled = ends === null;
    this.#all((panel) => panel.feed());
  }

  #all(work) {
    for (const panel of this.panels.values()) work(panel);
  }

  #catchUp() {
    this.due = undefined;
    if (this.closed) return;
    this.#offer();
    this.#all((panel) => panel.feed());
  }

  #tools() {
    const turn = (event) => {
      this.axis = event.target.value;
      this.zoomTo(null);
      this.#all((panel) => panel.build());
    };
    const slide = (event) => {
      told.textContent = `${event.target.value} %`;
      this.smoothing = event.target.value / 100;
      this.#all((panel) => panel.feed());
    };
    const told = el("output", { text: "0 %" });
    const axis = el("select", { onchange: turn }, el("option", { value: "step", text: "steps" }), el("option", { value: "seconds", text: "time" }));
    const slider = el("input", { type: "range", min: "0", max: "99", value: "0", oninput: slide });
    return el("div", { class: "toolbar chart-tools" }, el("label", {}, "Over", axis), el("label", {}, "Smoothing", slider, told),
      el("details", { class: "chart-choice" }, el("summary", { text: "Metrics" }), this.picker), this.reset);
  }

  /** Tick boxes for metrics; those that a run begins to measure later join, and the usual ones are shown at once. */
  #offer() {
    const all = [...new Set(this.runs.flatMap((history) => history.names))].sort();
    if (all.length === this.offered.length) return;
    const known = [...new Set([...FIRST.filter((name) => all.includes(name)), ...all])];
    for (const name of known) if (FIRST.includes(name) && !this.offered.includes(name)) this.#show(name);
    this.offered = known;
    this.picker.replaceChildren(...known.map((name) => {
      const box = el("input", { type: "checkbox", checked: this.panels.has(name), onchange: () => (box.checked ? this.#show(name) : this.#hide(name)) });
      return el("label", {}, box, label(name));
    }));
  }

  #show(name) {
    if (this.panels.has(name)) return;
    const panel = new Panel(this, name);
    this.panels.set(name, panel);
    this.grid.append(panel.root);
    panel.build();
  }

  #hide(name) {
    this.panels.get(name)?.close();
    this.panels.delete(name);
  }

  #watchTheme() {
    const redraw = () => this.#all((panel) => panel.build());
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", redraw);
    document.addEventListener("theme", redraw);
    this.quiet = () => {
      system.removeEventListener("change", redraw);
      document.removeEventListener("theme", redraw);
    };
  }
}
