// Whose turn it is, the value of the game, and the buttons of a game with moves.

import { directed } from "./areas.js";
import { el, percent } from "./dom.js";

export class Turns {
  constructor(room) {
    this.room = room;
    this.line = el("p", { class: "room-line" });
    this.preparation = el("p", { class: "room-preparing", hidden: true }, el("progress", { "aria-label": "Compiling" }), el("small"));
    this.bar = valueBar();
    this.buttons = el("div", { class: "toolbar room-buttons" });
    this.#make();
    this.node = el("div", { hidden: true });
  }

  #make() {
    const { room } = this;
    this.again = button("New game", "N", () => room.again());
    this.undo = button("Undo", "U", () => room.send({ do: "undo" }));
    this.hint = button("Hint", "H", () => room.send({ do: "hint" }));
    this.swap = button("Swap seats", "S", () => this.#swap());
    this.think = button("Thoughts", "T", () => room.showThoughts(!room.thoughts));
    this.buttons.append(this.again, this.undo, this.hint, this.swap, this.think);
    this.shortcuts = { n: this.again, u: this.undo, h: this.hint, s: this.swap, t: this.think };
  }

  #swap() {
    const { seats } = this.room.state;
    this.room.send({ do: "set", seats: [...seats.slice(1), seats[0]] });
  }

  update(state) {
    const { can = {}, seats, over } = state;
    this.line.textContent = this.headline(state);
    this.line.className = `room-line${over ? " over" : state.waiting ? " yours" : ""}`;
    this.again.firstChild.textContent = over ? "Play again" : state.continuous && state.layout ? `New ${state.layout}` : "New game";
    this.again.classList.toggle("primary", Boolean(over));
    this.undo.hidden = this.hint.hidden = !state.you?.length || state.continuous;
    press(this.undo, !can.undo);
    press(this.hint, !can.hint || !state.waiting);
    this.swap.hidden = seats.length < 2 || new Set(seats).size < 2;
    this.hasThoughts ||= Boolean(state.thoughts);
    this.think.hidden = !this.hasThoughts;
    this.think.setAttribute("aria-pressed", String(this.room.thoughts));
    this.#showValue(state);
    this.#showPreparation(state.preparing);
  }

  /** While the game is compiled, agents that simulate it wait; everything else can be played at once. */
  #showPreparation(preparing) {
    this.preparation.hidden = !preparing?.agents.length;
    if (this.preparation.hidden) return;
    const names = preparing.agents.map((agent) => this.room.labels?.get(agent) ?? readable(agent)).join(" and ");
    this.preparation.firstChild.value = preparing.done;
    this.preparation.lastChild.textContent = `Preparing ${names}: ${Math.round(100 * preparing.done)} %, about ${Math.ceil(preparing.seconds_left)} s left`;
  }

  /** One line: the result, or who is to move. */
  headline(state) {
    if (state.over) return state.result ?? "The game is over";
    if (state.thinking && !this.room.stage?.pictured) return "Loading …";
    if (state.continuous) return state.control === "person" ? "You are in control" : `${this.name(state, 0)} plays`;
    if (state.waiting) return (state.you.length > 1 ? `${ordinal(state.seat)} to move` : "Your move") + (state.hint ? `; a hint: ${state.hint.name}` : "");
    const who = this.name(state, state.seat);
    if (state.preparing?.agents.includes(state.seats[state.seat])) return `${who} is being prepared`;
    if (state.paused) return `Paused; ${who} is to move`;
    return state.thinking ? `${who} is thinking …` : `${who} is to move`;
  }

  lastMove(state) {
    if (!state.last) return "";
    const yours = state.you?.includes(state.last.seat);
    return `${yours ? "You" : this.name(state, state.last.seat)} played ${state.last.name}`;
  }

  name(state, seat) {
    const agent = state.seats[seat];
    const label = this.room.labels?.get(agent) ?? readable(agent);
    const twins = state.seats.length > 1 && state.seats.filter((one) => one === agent).length > 1;
    return twins ? `${label} (${ordinal(seat).toLowerCase()})` : label;
  }

  /** Expected score of the first seat beside the board; only in games of two players. */
  #showValue(state) {
    const value = state.thoughts?.values?.[0] ?? state.history?.findLast((one) => one !== null);
    this.bar.hidden = state.seats.length !== 2 || !this.room.thoughts || state.continuous || value === undefined || value === null;
    if (this.bar.hidden) return;
    const share = Math.max(0, Math.min(1, (value + 1) / 2));
    this.bar.style.setProperty("--share", String(share));
    this.bar.setAttribute("aria-label", `${this.name(state, 0)}, who began, is expected to score ${percent(share)}`);
    this.bar.title = this.bar.getAttribute("aria-label");
    this.bar.lastChild.textContent = percent(share);
  }

  key(event) {
    const way = directed(event.key, this.room.state);
    if (way) return this.room.act(way.action) ?? true;
    const target = event.repeat ? null : this.shortcuts[event.key.toLowerCase()];
    if (!target || target.hidden || target.getAttribute("aria-disabled") === "true") return false;
    target.click();
    return true;
  }
}

function valueBar() {
  return el("div", { class: "value-bar", role: "img", hidden: true }, el("span", { class: "value-fill" }), el("b", { class: "numbers" }));
}

/** A button that shows its key. Unavailable buttons stay focusable and are marked as disabled. */
export function button(text, key, onclick, kind = "") {
  const press = (event) => event.currentTarget.getAttribute("aria-disabled") !== "true" && onclick(event);
  return el("button", { class: `button ${kind}`, type: "button", "aria-keyshortcuts": key, onclick: press }, el("span", { text }), key ? el("kbd", { text: key, "aria-hidden": "true" }) : null);
}

export function press(node, disabled) {
  node.setAttribute("aria-disabled", String(Boolean(disabled)));
}

/** The agent "run:name-0001@best" as readable text. */
export function readable(agent) {
  if (agent === "person") return "You";
  const [, run, checkpoint] = /^run:([^@]+)(?:@(.+))?$/.exec(agent) ?? [];
  if (run) return checkpoint ? `${run} (${checkpoint})` : run;
  return agent.charAt(0).toUpperCase() + agent.slice(1);
}

export function ordinal(seat) {
  return ["First", "Second", "Third", "Fourth"][seat] ?? `Seat ${seat + 1}`;
}
