// Charts of runs, drawn by uPlot: one panel per metric with all runs in it, one zoom for all panels.
// Smoothing, axis and zoom are applied here; a History holds the raw values.

import { ApiError } from "./api.js";
import { el, stylesheet } from "./dom.js";
import { label } from "./labels.js";
import { Panel } from "./panel.js";
import { button } from "./parts.js";

/** Metrics that are shown at first, in this order. */
const FIRST = ["score", "episode_return", "policy_loss", "value_loss", "entropy", "steps_per_second", "exploration", "exploration_noise"];
const COLORS = 6;
/** Maximum number of runs in one chart; beyond six, colours repeat with another line style. */
export const MOST_RUNS = 8;

let library;

/** uPlot is a classic script, loaded when the first chart is shown. */
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

/** Charts of one or several runs, with their tools; call open() after adding it to the page. */
export class Board {
  constructor(root, runs) {
    Object.assign(this, { runs, axis: "step", smoothing: 0, zoom: null, panels: new Map(), offered: [] });
    this.grid = el("div", { class: "charts" });
    this.picker = el("div", { class: "chart-picks" });
    this.reset = button("Show all", () => this.zoomTo(null), "quiet small", { disabled: true });
    this.tools = this.#tools();
    root.append(el("section", { class: "chart-board", "aria-label": "Charts" }, el("h2", { class: "visually-hidden", text: "Charts" }), this.tools, this.grid));
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
    this.unwatchTheme();
    for (const panel of this.panels.values()) panel.close();
  }

  color(place) {
    return getComputedStyle(this.grid).getPropertyValue(`--series-${(place % COLORS) + 1}`).trim();
  }

  /** The same horizontal range for all panels, so that they align. */
  extent() {
    const ends = this.runs.flatMap(({ [this.axis]: x }) => (x.length ? [x[0], x.at(-1)] : []));
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    return low < high ? [low, high] : [(ends[0] ?? 0) - 1, (ends[0] ?? 0) + 1];
  }

  append(run, lines) {
    this.runs.find((history) => history.run === run)?.append(lines);
    // Draw at most once per frame, however many lines arrive.
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
      percent.textContent = `${event.target.value} %`;
      this.smoothing = event.target.value / 100;
      this.#all((panel) => panel.feed());
    };
    const percent = el("output", { text: "0 %" });
    const axis = el("select", { onchange: turn }, el("option", { value: "step", text: "steps" }), el("option", { value: "seconds", text: "time" }));
    const slider = el("input", { type: "range", min: "0", max: "99", value: "0", oninput: slide });
    return el("div", { class: "toolbar chart-tools" }, el("label", {}, "Over", axis), el("label", {}, "Smoothing", slider, percent),
      el("details", { class: "chart-choice" }, el("summary", { text: "Metrics" }), this.picker), this.reset);
  }

  /** Checkboxes for metrics; metrics that appear later are added, and the default ones are shown at once. */
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
    this.unwatchTheme = () => {
      system.removeEventListener("change", redraw);
      document.removeEventListener("theme", redraw);
    };
  }
}
