// The checkpoints of a run as a table: steps, score, size, and links to watch, play or export each.

import { el, number } from "./dom.js";
import { api, cell, moment, table } from "./parts.js";

export function checkpointTable(run) {
  if (!run.checkpoints.length) return el("p", { class: "muted", text: "No checkpoints yet; they are saved at regular intervals and with every new best score." });
  const newestFirst = [...run.checkpoints].sort((one, other) => other.steps - one.steps);
  return table("Checkpoints", ["", ">Steps", ">Score", "Saved", ">Size", ""], newestFirst.map((point) => row(run, point)), "stacked");
}

function row(run, point) {
  const path = api("runs", run.name);
  const picture = el("img", { class: "thumbnail", alt: "", width: 56, height: 56, loading: "lazy", src: `${path}/checkpoints/${point.name}/thumbnail.webp`, onerror: () => picture.remove() });
  const marks = [point.best && el("span", { class: "badge good", text: "best" }), point.newest && el("span", { class: "badge plain", text: "newest" })];
  return el("tr", {}, el("td", {}, picture), el("th", { scope: "row", class: "number", text: number(point.steps) }),
    cell(">Score", point.score == null ? "–" : number(point.score)),
    cell("Saved", el("span", { class: "saved" }, moment(point.created), marks)),
    cell(">Size", size(point.bytes)),
    el("td", {}, links(run, point, `${path}/export?checkpoint=${point.name}`)));
}

function links(run, point, file) {
  const game = encodeURIComponent(run.game);
  const agent = encodeURIComponent(`run:${run.name}@${point.name}`);
  const link = (text, href, more = {}) => el("a", { class: "button quiet small", href, text, "aria-label": `${text} the checkpoint at ${number(point.steps)} steps`, ...more });
  return el("div", { class: "toolbar tight" }, link("Watch", `#/watch/${game}?agent=${agent}`), link("Play", `#/play/${game}?agent=${agent}`), link("Export", file, { download: "" }));
}

function size(bytes) {
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.max(1, Math.round(bytes / 1e3))} kB`;
}
