// Several runs side by side: their curves in the same charts, and the settings in which they differ.

import { get } from "./api.js";
import { Board } from "./charts.js";
import { el, replace } from "./dom.js";
import { typed } from "./form.js";
import { History } from "./history.js";
import { api, button, table } from "./parts.js";
import { wire } from "./wire.js";

export class Comparison {
  constructor() {
    this.root = el("section", { class: "comparison", "aria-labelledby": "comparison", hidden: true });
    this.stops = [];
  }

  async show(names) {
    const query = new URLSearchParams(names.map((name) => ["runs", name]));
    const [difference, ...metrics] = await Promise.all([get(`/api/compare?${query}`), ...names.map((name) => get(`${api("runs", name, "metrics")}?points=1000`))]);
    this.close();
    const place = el("div", {});
    replace(this.root, el("div", { class: "run-head" }, el("h2", { id: "comparison", tabindex: "-1", text: `${names.join(", ")} compared` }), button("Close", () => this.#hide(), "quiet small")), place, settings(difference, names));
    this.root.hidden = false;
    this.board = new Board(place, names.map((name, index) => new History(name, metrics[index])));
    this.stops = names.map((name) => wire.follow(name, ({ lines }) => this.board.append(name, lines)));
    await this.board.open();
    this.root.scrollIntoView({ block: "start" });
    this.root.querySelector("h2").focus({ preventScroll: true });
  }

  close() {
    for (const stop of this.stops) stop();
    this.stops = [];
    this.board?.close();
  }

  #hide() {
    this.close();
    this.root.hidden = true;
    history.replaceState(null, "", "#/runs");
  }
}

function settings(difference, names) {
  const found = Object.entries(difference.settings);
  if (!found.length) return el("p", { class: "muted", text: "All settings of these runs are the same." });
  const rows = found.map(([name, values]) => el("tr", {}, el("th", { scope: "row", text: name }), values.map((value) => el("td", { text: typed(value) || "–" }))));
  const heading = "Settings in which they differ";
  return el("div", { class: "panel" }, el("h3", { text: heading }), table(heading, ["Setting", ...names], rows));
}
