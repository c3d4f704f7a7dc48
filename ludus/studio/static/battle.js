// A battle: every pair of the chosen agents plays; then ratings and a table of results are shown.

import { get, post } from "./api.js";
import { attempt } from "./dialogs.js";
import { count, el, field, number, replace, select } from "./dom.js";
import { followJob } from "./jobs.js";
import { api, rowHead, scrolled, section, table, to } from "./parts.js";

export const title = "Battle";

const FEWEST = 2;
const MOST = 8;

export async function view(root, { game, job }) {
  const games = (await get("/api/games")).filter((one) => one.seats > 1);
  const ring = new Ring(root, games, game);
  // A running or finished battle is shown again from its address.
  if (job) return void attempt(() => ring.follow(job));
}

class Ring {
  constructor(root, games, game) {
    this.chosen = new Set();
    this.agents = el("div", { class: "agents" });
    this.jobs = el("div", {});
    this.result = el("div", { class: "view" });
    this.status = el("span", { class: "muted", role: "status" });
    this.start = el("button", { class: "button primary", type: "submit", text: "Start the battle" });
    this.games = el("input", { value: "100", inputmode: "numeric", required: true, pattern: "[0-9]+", title: "A whole number" });
    this.game = select(games.map(({ name, title: label }) => ({ name, label })), games.some((one) => one.name === game) ? game : games[0]?.name, { onchange: () => attempt(() => this.#list()) });
    const submit = (event) => {
      event.preventDefault();
      attempt(() => this.#fight());
    };
    root.append(
      el("h1", { text: "Battle" }),
      el("form", { class: "panel", onsubmit: submit },
        el("div", { class: "pair" }, field("Game", this.game), field("Games per pair", this.games)),
        el("fieldset", { class: "plain" }, el("legend", { text: `Agents, ${FEWEST} to ${MOST}` }), this.agents),
        el("div", { class: "toolbar" }, this.start, this.status)),
      this.jobs, this.result);
    attempt(() => this.#list());
  }

  async #list() {
    const game = this.game.value;
    const agents = await get(api("games", game, "agents"));
    if (game !== this.game.value) return;
    this.chosen = new Set(agents.slice(0, FEWEST).map((agent) => agent.name));
    replace(this.agents, agents.map((agent) => this.#choice(agent)));
    this.#count();
  }

  #choice(agent) {
    const box = el("input", { type: "checkbox", checked: this.chosen.has(agent.name), onchange: () => this.#choose(agent.name, box.checked) });
    return el("label", { class: "agent" }, box, el("span", {}, el("strong", { text: agent.label }), el("small", { text: agent.note })));
  }

  #choose(name, chosen) {
    if (chosen) this.chosen.add(name);
    else this.chosen.delete(name);
    this.#count();
  }

  #count() {
    const agents = this.chosen.size;
    const fits = agents >= FEWEST && agents <= MOST;
    this.start.disabled = !fits || this.busy;
    this.status.textContent = fits ? `${agents} agents, ${count((agents * (agents - 1)) / 2, "pair")}` : `Choose ${FEWEST} to ${MOST} agents; ${agents} chosen.`;
  }

  async #fight() {
    const { job } = await post("/api/battles", { game: this.game.value, agents: [...this.chosen], games: Number(this.games.value) });
    history.replaceState(null, "", `#/battle?game=${encodeURIComponent(this.game.value)}&job=${job}`);
    await this.follow(job);
  }

  async follow(job) {
    this.busy = true;
    this.#count();
    replace(this.result);
    try {
      const { result, status } = await followJob(this.jobs, job, "The battle");
      if (result) replace(this.result, ratings(result), payoff(result));
      else if (status === "stopped") replace(this.result, el("p", { class: "empty", text: "The battle was stopped before it was finished." }));
    } finally {
      this.busy = false;
      this.#count();
    }
  }
}

/** Ratings with their intervals as bars on one scale. */
function ratings({ game, names, ratings: found }) {
  const lowest = Math.min(...found.map(({ low }) => low));
  const span = Math.max(...found.map(({ high }) => high)) - lowest || 1;
  const place = (value) => `${(100 * (value - lowest)) / span}%`;
  const rows = found.map(({ rating, low, high }, rank) =>
    el("tr", {}, el("td", { class: "number muted", text: `${rank + 1}` }), rowHead(names[rank]), el("td", { class: "number", text: rating.toFixed(0) }),
      el("td", { class: "muted", text: `${low.toFixed(0)} to ${high.toFixed(0)}` }),
      el("td", { class: "whiskers" }, el("div", { class: "whisker", "aria-hidden": "true" },
        el("span", { style: { left: place(low), width: `${(100 * (high - low)) / span}%` } }), el("i", { style: { left: place(rating) } })))));
  return section("ratings", `Ratings in ${game}`,
    table("Ratings", ["", "Agent", ">Rating", "95%", ""], rows),
    el("p", { class: "muted", text: "A difference of 400 points means odds of 10 to 1; the average of these agents is 1500." }));
}

/** Table of results: blue if the row won, orange if it lost, with the percentage as a number. */
function payoff({ game, names, payoff: shares }) {
  const head = el("tr", {}, el("td", {}), names.map((name) => el("th", { scope: "col", text: name })));
  const cell = (share, row, column) => {
    if (share === null) return el("td", { class: "muted", text: row === column ? "·" : "–" });
    const strength = Math.abs(2 * share - 1);
    const words = `${names[row]} took ${whole(share)} percent of the points from ${names[column]}; watch them`;
    return el("td", { class: share >= 0.5 ? "won" : "lost", style: { "--strength": String(strength) } },
      el("button", { type: "button", "aria-label": words, title: words, text: whole(share), onclick: () => attempt(() => watch(game, [names[row], names[column]])) }));
  };
  const rows = shares.map((line, row) => el("tr", {}, rowHead(names[row]), line.map((share, column) => cell(share, row, column))));
  return section("payoff", "Who beats whom",
    scrolled("Who beats whom", el("table", { class: "heat" }, el("thead", {}, head), el("tbody", {}, rows))),
    el("p", { class: "muted", text: "Percentage of the points that the agent of the row won against that of the column. Press a number to watch these two play." }));
}

async function watch(game, seats) {
  const { room } = await post("/api/rooms", { game, seats });
  location.hash = to("room", room);
}

/** Whole percent; 0 and 100 are shown only for exactly never and always. */
function whole(share) {
  if (share === 0 || share === 1) return number(100 * share);
  return String(Math.min(99, Math.max(1, Math.round(100 * share))));
}
