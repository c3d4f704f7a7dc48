// The current agent of a run at play, beside its charts: a room shown on a small stage.

import { get, post } from "./api.js";
import { attempt } from "./dialogs.js";
import { el, replace } from "./dom.js";
import { button, section, to } from "./parts.js";
import { wire } from "./wire.js";

export class Preview {
  constructor(place, game, agent) {
    Object.assign(this, { game, agent });
    this.body = el("div", { class: "watch-body" });
    place.append(section("watching", "The agent at play", this.body));
    this.#offer();
  }

  close() {
    this.closed = true;
    this.stop?.();
    this.stage?.close();
    clearTimeout(this.again);
  }

  #offer() {
    const open = button("Watch the current agent", () => attempt(() => this.#open()), "primary");
    const link = el("a", { href: `${to("watch", this.game)}?agent=${encodeURIComponent(this.agent)}`, text: "Watch it in a room of its own" });
    replace(this.body, el("p", { class: "muted", text: "The agent plays with the newest checkpoint, and changes to a newer one when it is saved." }), open, link);
  }

  async #open() {
    const { Stage } = await import("./stage.js");
    const games = await get("/api/games");
    const seats = games.find((game) => game.name === this.game.split("(")[0])?.seats ?? 1;
    const { room } = await post("/api/rooms", { game: this.game, seats: Array(seats).fill(this.agent) });
    if (this.closed) return;
    const place = el("div", { class: "watch-stage" });
    const status = el("p", { class: "muted", "aria-live": "off" });
    const link = el("a", { class: "button small", href: to("room", room), text: "Open the room" });
    replace(this.body, place, status, link);
    this.stage = new Stage(place, { label: `${this.game}, played by ${this.agent}` });
    this.stop = wire.watch(room, { state: (state) => this.#state(state, status), frame: (buffer) => this.stage.message(buffer) });
  }

  /** Show the state; start the next game two seconds after the end of one. */
  #state(state, status) {
    this.stage.room(state);
    status.textContent = state.result ?? (state.move ? `Move ${state.move}` : "");
    clearTimeout(this.again);
    if (state.over) this.again = setTimeout(() => wire.send({ do: "again", room: state.room }), 2000);
  }
}
