// The players: one select per seat with the agents of this game, including the person's own runs.

import { get } from "./api.js";
import { el, replace, unique } from "./dom.js";
import { ordinal, readable } from "./turns.js";

export class Seats {
  constructor(room) {
    this.room = room;
    this.agents = [];
    this.selects = [];
    this.place = el("div", { class: "seats" });
    this.note = el("p", { class: "muted small" });
    this.node = el("section", { class: "panel", "aria-labelledby": "players" }, el("h2", { id: "players", text: "Players" }), this.place, this.note);
    this.#fetch();
  }

  async #fetch() {
    const game = this.room.state.game.split("(")[0];
    this.agents = await get(`/api/games/${encodeURIComponent(game)}/agents`).catch(() => []);
    this.room.labels = new Map([["person", "You"], ...this.agents.map(({ name, label }) => [name, label])]);
    this.drawn = null;
    this.room.update(this.room.state);
  }

  update(state) {
    const drawn = JSON.stringify([state.seats, state.continuous, this.agents.length]);
    // Do not replace a select while the person may have it open.
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.selects = state.seats.map((agent, seat) => this.#select(state, agent, seat));
    replace(this.place, this.selects.map((select, seat) => this.#field(state, select, seat)));
    this.#showNotes(state);
  }

  #field(state, select, seat) {
    const label = state.seats.length > 1 ? `${ordinal(seat)} seat` : state.continuous ? "In control" : "Player";
    return el("div", { class: "field" }, el("label", { for: select.id, text: label }), select);
  }

  #select(state, agent, seat) {
    const ours = this.agents.filter(({ name }) => !name.startsWith("run:"));
    const runs = this.agents.filter(({ name }) => name.startsWith("run:"));
    const person = state.continuous ? [] : [{ name: "person", label: "You" }];
    const known = [...person, ...this.agents].some(({ name }) => name === agent);
    const lost = known ? [] : [{ name: agent, label: readable(agent) }];
    const select = el("select", { id: unique("seat"), onchange: () => this.#set(seat, select.value) },
      [...lost, ...person, ...ours].map(option), runs.length ? el("optgroup", { label: "Your runs" }, runs.map(option)) : null);
    select.value = agent;
    return select;
  }

  #set(seat, name) {
    const seats = this.room.state.seats.map((old, index) => (index === seat ? name : old));
    this.room.send({ do: "set", seats });
  }

  #showNotes(state) {
    const notes = state.seats.map((name) => this.agents.find((agent) => agent.name === name)).filter((agent) => agent?.note);
    const sentences = new Set(notes.map(({ label, note }) => `${label}: ${note}.`));
    this.note.textContent = [...sentences].join(" ");
    this.note.hidden = !sentences.size;
  }
}

function option({ name, label }) {
  return el("option", { value: name, text: label });
}
