// The agent's evaluation of moves as a sorted list, and the legal moves without an area on the board, in groups.

import { amount, shares } from "./areas.js";
import { el, replace } from "./dom.js";

const MANY = 20;
const SEVERAL = 4;
const SHOWN_THOUGHTS = 8;

export class Moves {
  constructor(room) {
    this.room = room;
    this.search = el("input", { type: "search", placeholder: "Find a move", "aria-label": "Find a move", oninput: () => this.#list() });
    this.place = el("div", { class: "move-list" });
    this.others = el("section", { class: "panel", "aria-labelledby": "other-moves", hidden: true }, el("h2", { id: "other-moves", text: "Moves" }), this.search, this.place);
    this.heading = el("h2", { id: "thoughts" });
    this.list = el("ol", { class: "thought-list" });
    this.thoughts = el("section", { class: "panel", "aria-labelledby": "thoughts", hidden: true }, this.heading, this.list);
    this.node = el("div", { class: "room-stack" }, this.others, this.thoughts);
    this.names = new Map();
    this.open = new Set();
    this.drawn = "";
  }

  update(state) {
    this.#think(state);
    this.refresh();
  }

  /** Update again with the picture, because areas may arrive after the state. */
  refresh() {
    const { waiting, legal } = this.room.state;
    this.legal = waiting && legal ? this.room.stage.areas.others() : [];
    const drawn = JSON.stringify(this.legal);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.others.hidden = !this.legal.length;
    this.search.hidden = this.legal.length <= MANY;
    if (this.search.hidden) this.search.value = "";
    this.#list();
  }

  #list() {
    const wanted = this.search.value.trim().toLowerCase();
    const found = this.legal.filter(({ name }) => name.toLowerCase().includes(wanted));
    const groups = [...grouped(found)];
    const single = groups.filter(([, moves]) => moves.length < SEVERAL).flatMap(([, moves]) => moves);
    const several = groups.filter(([, moves]) => moves.length >= SEVERAL);
    replace(this.place, single.length ? row(single.map((move) => this.#button(move))) : null, several.map(([word, moves]) => this.#group(word, moves, wanted)));
    if (!found.length) replace(this.place, el("p", { class: "muted", text: "No move matches." }));
  }

  #group(word, moves, wanted) {
    const shared = beginning(moves);
    const note = (event) => (event.target.open ? this.open.add(word) : this.open.delete(word));
    return el("details", { open: Boolean(wanted) || this.open.has(word), ontoggle: note },
      el("summary", {}, el("b", { text: shared }), el("span", { class: "muted", text: ` ${moves.length}` })),
      row(moves.map((move) => this.#button(move, shared))));
  }

  #button({ action, name }, shared = "") {
    const rest = name.slice(shared.length).trim() || name;
    const hinted = this.room.state.hint?.action === action ? " primary" : "";
    return el("button", { class: `button small${hinted}`, type: "button", text: rest, "aria-label": name, onclick: () => this.room.act(action) });
  }

  /** Remember the names of legal and played moves; names do not change during a game. */
  #learn({ legal, last }) {
    for (const { action, name } of [...(legal ?? []), ...(last ? [last] : [])]) this.names.set(String(action), name);
  }

  #name(action, thoughts) {
    return thoughts.names?.[action] ?? this.names.get(action) ?? `move ${action}`;
  }

  #think(state) {
    const { thoughts } = state;
    const moves = Object.entries(thoughts?.moves ?? {}).sort((a, b) => b[1] - a[1]).slice(0, SHOWN_THOUGHTS);
    this.thoughts.hidden = !moves.length || !this.room.thoughts;
    if (this.thoughts.hidden) return;
    const agent = this.room.labels?.get(thoughts.agent) ?? thoughts.agent;
    this.heading.textContent = `What ${agent} thinks`;
    this.#learn(state);
    const sizes = shares(moves.map(([, chance]) => chance), thoughts.unit);
    replace(this.list, moves.map(([action, chance], index) => thought(this.#name(action, thoughts), amount(chance, thoughts.unit), sizes[index])));
  }
}

function thought(name, chance, share) {
  return el("li", {}, el("span", { class: "thought-name", text: name }), el("span", { class: "thought-bar", "aria-hidden": "true" }, el("span", { style: { width: `${100 * share}%` } })), el("span", { class: "numbers", text: chance }));
}

function row(buttons) {
  return el("div", { class: "toolbar" }, buttons);
}

/** The words with which all these names begin. */
function beginning(moves) {
  const words = moves[0].name.split(" ");
  let length = words.length - 1;
  while (length > 1 && !moves.every(({ name }) => name.startsWith(`${words.slice(0, length).join(" ")} `))) length -= 1;
  return words.slice(0, length).join(" ");
}

/** Group moves by their first word. */
function grouped(moves) {
  const groups = new Map();
  for (const move of moves) {
    const word = move.name.split(" ")[0];
    if (!groups.has(word)) groups.set(word, []);
    groups.get(word).push(move);
  }
  return groups;
}
