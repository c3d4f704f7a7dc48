// All runs: search, filter, sort, compare, tag and delete them; and import agents.

import { ApiError, get } from "./api.js";
import { MOST_RUNS } from "./charts.js";
import { Comparison } from "./comparison.js";
import { addTag, attempt, deleteRuns, evaluate, rename } from "./dialogs.js";
import { count, duration, el, field, number, percent, replace, select, toast } from "./dom.js";
import { button, cell, emptiness, redraw, rowHead, table, to } from "./parts.js";
import { badge } from "./run.js";
import { wire } from "./wire.js";

export const title = "Runs";

const LARGEST = 64 * 2 ** 20; // maximum bytes of an imported agent, as on the server
const COLUMNS = [
  { key: "name", text: "Run" }, { key: "game", text: "Game" }, { key: "algorithm", text: "Algorithm" }, { key: "status", text: "Status" },
  { key: "share", text: "Progress" }, { key: "score", text: "Score", number: true }, { key: "seconds", text: "Trained", number: true },
];

export async function view(root, { compare }) {
  const page = new RunsPage(root);
  await page.open(compare ? compare.split(",").slice(0, MOST_RUNS) : []);
  return () => page.close();
}

class RunsPage {
  constructor(root) {
    this.runs = [];
    this.chosen = new Set();
    this.sorting = { key: "name", down: true };
    this.filter = { words: "", game: "", status: "", tag: "" };
    this.tools = el("div", { class: "toolbar selection", role: "group", "aria-label": "Chosen runs" });
    this.jobs = el("div");
    this.list = el("div");
    this.filters = el("div", { class: "filters", role: "search", "aria-label": "Runs" });
    this.comparison = new Comparison();
    root.append(
      el("div", { class: "run-head" }, el("h1", { text: "Runs" }), el("div", { class: "toolbar" }, this.#importer(), el("a", { class: "button primary", href: "#/train", text: "Train a new agent" }))),
      this.filters, this.tools, this.jobs, this.list, this.comparison.root);
  }

  async open(compared) {
    await this.#fetch();
    this.#showFilters();
    this.off = wire.on("runs", () => this.#fetch());
    // Steps and scores of running trainers change without a message that the list has changed.
    this.clock = setInterval(() => this.runs.some((run) => run.status === "training") && this.#fetch(), 3000);
    for (const name of compared) if (this.runs.some((run) => run.name === name)) this.chosen.add(name);
    if (this.chosen.size > 1) await this.#compare();
    this.#show();
  }

  close() {
    clearInterval(this.clock);
    this.off?.();
    this.comparison.close();
  }

  async #fetch() {
    const runs = await get("/api/runs");
    this.runs = runs.map((run) => ({ ...run, share: run.of ? Math.min(1, run.steps / run.of) : 0 }));
    for (const name of this.chosen) if (!runs.some((run) => run.name === name)) this.chosen.delete(name);
    this.#show();
  }

  #showFilters() {
    const values = (pick) => [...new Set(this.runs.flatMap(pick))].sort().map((name) => ({ name, label: name }));
    const choice = (key, label, options) => field(label, select([{ name: "", label: "all" }, ...options], "", { onchange: (event) => this.#narrow(key, event.target.value) }));
    const words = el("input", { type: "search", placeholder: "name, title or tag", oninput: (event) => this.#narrow("words", event.target.value) });
    replace(this.filters, field("Search", words), choice("game", "Game", values((run) => run.game)), choice("status", "Status", values((run) => run.status)), choice("tag", "Tag", values((run) => run.tags)), el("div", { class: "narrow" }, field("Sort by", this.#sorter())));
  }

  /** A select to sort by, for pages too narrow for column heads. */
  #sorter() {
    return select(COLUMNS.map(({ key, text }) => ({ name: key, label: text })), "name", { onchange: (event) => this.#sort(event.target.value) });
  }

  #sort(key) {
    this.sorting = { key, down: this.sorting.key === key ? !this.sorting.down : key === "score" };
    this.#show();
  }

  #narrow(key, value) {
    this.filter[key] = value;
    this.#show();
  }

  #visible() {
    const { words, game, status, tag } = this.filter;
    const text = words.trim().toLowerCase();
    const fits = (run) => (!game || run.game === game) && (!status || run.status === status) && (!tag || run.tags.includes(tag))
      && [run.name, run.title ?? "", run.game, run.algorithm, ...run.tags].some((part) => part.toLowerCase().includes(text));
    const { key, down } = this.sorting;
    return this.runs.filter(fits).sort((one, other) => (down ? -1 : 1) * compared(one[key], other[key]));
  }

  #show() {
    this.#showTools();
    const visible = this.#visible();
    this.filters.hidden = this.runs.length === 0;
    if (!this.runs.length) replace(this.list, emptiness("No runs yet", "Train an agent, and watch it learn.", "#/train", "Train an agent"));
    else if (!visible.length) replace(this.list, el("p", { class: "empty", text: "No run matches these filters." }));
    else redraw(this.list, el("div", { class: "panel flush" }, table("Runs", this.#heads(visible), visible.map((run) => this.#row(run)), "stacked")));
  }

  #heads(visible) {
    const all = el("input", { type: "checkbox", "aria-label": "Choose all runs", checked: visible.every((run) => this.chosen.has(run.name)), onchange: (event) => this.#choose(visible, event.target.checked) });
    return [el("td", { class: "pick" }, all, el("span", { class: "narrow", "aria-hidden": "true", text: "all" })), ...COLUMNS.map(({ key, text, number: right }) => {
      const order = this.sorting.key !== key ? undefined : this.sorting.down ? "descending" : "ascending";
      return el("th", { scope: "col", class: right ? "number" : "", "aria-sort": order }, el("button", { class: "sort", type: "button", onclick: () => this.#sort(key), text }));
    })];
  }

  #row(run) {
    const pick = el("input", { type: "checkbox", "aria-label": `Choose ${run.name}`, checked: this.chosen.has(run.name), onchange: (event) => this.#choose([run], event.target.checked) });
    const spread = run.low == null || run.high == null ? null : el("small", { text: `${number(run.low)} to ${number(run.high)}` });
    return el("tr", { class: this.chosen.has(run.name) ? "chosen" : "" },
      el("td", { class: "pick" }, pick),
      rowHead(el("a", { href: to("run", run.name), text: run.title || run.name }), run.title ? el("small", { text: run.name }) : null, run.tags.map((tag) => el("span", { class: "badge plain tag", text: tag }))),
      cell("Game", run.game), cell("Algorithm", run.algorithm.replaceAll("_", " ")),
      cell("Status", badge(run.status)),
      cell("Progress", el("progress", { max: "1", value: run.share, "aria-label": `${run.name}: ${percent(run.share)} done` }), el("small", { text: `${number(run.steps)} of ${number(run.of)}` })),
      cell(">Score", number(run.score), spread ?? ""), cell(">Trained", duration(run.seconds)));
  }

  #choose(runs, chosen) {
    for (const { name } of runs) chosen ? this.chosen.add(name) : this.chosen.delete(name);
    this.#show();
  }

  #showTools() {
    const chosen = this.runs.filter((run) => this.chosen.has(run.name));
    const tool = (text, fits, onclick) => button(text, onclick, "small", { disabled: !fits });
    const then = (work) => async () => (await work()) && this.#fetch();
    this.tools.hidden = this.runs.length === 0;
    redraw(this.tools,
      el("span", { class: "muted", role: "status", text: chosen.length ? `${count(chosen.length, "run")} chosen` : "Choose runs to compare, name or delete them" }),
      tool("Compare", chosen.length > 1 && chosen.length <= MOST_RUNS, () => attempt(() => this.#compare())),
      tool("Evaluate", chosen.length === 1 && chosen[0].checkpoints > 0, () => evaluate(chosen[0], this.jobs)),
      tool("Rename", chosen.length === 1, then(() => rename(chosen[0]))),
      tool("Tag", chosen.length > 0, then(() => addTag(chosen))),
      tool("Delete", chosen.length > 0, then(() => deleteRuns(chosen))));
  }

  async #compare() {
    const names = [...this.chosen];
    await this.comparison.show(names);
    // Put the compared runs into the address, so that it can be bookmarked and shared.
    history.replaceState(null, "", `#/runs?compare=${names.map(encodeURIComponent).join(",")}`);
  }

  #importer() {
    const input = el("input", { type: "file", accept: ".zip", hidden: true, onchange: () => attempt(() => this.#import(input)) });
    return el("span", {}, button("Import an agent", () => input.click(), "", { title: "A .zip that was exported from a run" }), input);
  }

  async #import(input) {
    const [file] = input.files;
    input.value = "";
    if (!file) return;
    if (file.size > LARGEST) throw new ApiError(`${file.name} is larger than 64 MB; import a file made by Export, which contains only the agent.`, null, 0);
    const answer = await fetch("/api/agents", { method: "POST", body: file, headers: { "Content-Type": "application/zip" } });
    const body = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new ApiError(body.sentence ?? "This file could not be imported.", null, answer.status);
    toast(`Imported as ${body.run}.`, "good");
    await this.#fetch();
  }
}

/** Compare values for sorting; missing values come first. */
function compared(one, other) {
  if (one == null || other == null) return (one != null) - (other != null);
  return typeof one === "string" ? one.localeCompare(other, undefined, { numeric: true }) : one - other;
}
