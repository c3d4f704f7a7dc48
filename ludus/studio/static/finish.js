// After the game: a chart of its value after every move, the replay, and a view of any position.

import { post } from "./api.js";
import { el, replace, toast } from "./dom.js";
import { line } from "./graph.js";

export class Finish {
  constructor(room) {
    this.room = room;
    this.heading = el("h2", { id: "finish", class: "result" });
    this.graph = el("div", { class: "graph" });
    this.slider = el("input", { type: "range", min: 0, "aria-label": "Position in the game", oninput: () => this.#point() });
    this.moment = el("p", { class: "muted small numbers" });
    this.look = el("button", { class: "button small", type: "button", text: "See this move", onclick: () => this.#open(this.slider.value) });
    this.save = el("button", { class: "button small", type: "button", text: "Save replay", onclick: () => this.#keep() });
    this.link = el("a", { class: "button small", text: "Open the replay", hidden: true });
    this.course = el("div", { class: "course" }, this.graph, this.slider, this.moment);
    this.node = el("section", { class: "panel", "aria-labelledby": "finish", hidden: true },
      this.heading, this.course, el("div", { class: "toolbar" }, this.look, this.save, this.link));
    this.graph.addEventListener("click", (event) => this.#click(event));
  }

  update(state) {
    const over = Boolean(state.over) && !state.continuous;
    if (over && this.node.hidden) this.#begin(state);
    this.node.hidden = !over;
  }

  #begin(state) {
    this.replay = null;
    this.heading.textContent = state.result ?? "The game is over.";
    this.link.hidden = true;
    this.save.hidden = false;
    this.history = state.history ?? [];
    const known = this.history.filter((value) => value !== null);
    this.course.hidden = known.length < 2;
    this.look.hidden = this.course.hidden;
    if (this.course.hidden) return;
    this.slider.max = this.history.length - 1;
    this.slider.value = this.slider.max;
    this.#point();
  }

  #point() {
    const at = Number(this.slider.value);
    const value = this.history[at];
    const name = this.room.state.moves?.[at];
    const value_words = value === null ? "" : `, ${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(2)} for the first seat`;
    this.moment.textContent = `Move ${at + 1}${name ? `: ${name}` : ""}${value_words}`;
    this.slider.setAttribute("aria-valuetext", this.moment.textContent);
    replace(this.graph, line(this.history, { low: -1, high: 1, mark: at, zero: true, label: "Value of the game for the first seat" }));
  }

  #click(event) {
    const box = this.graph.getBoundingClientRect();
    this.slider.value = Math.round(((event.clientX - box.left) / box.width) * (this.history.length - 1));
    this.#point();
  }

  async #keep() {
    if (this.replay) return this.replay;
    try {
      this.replay = (await post(`/api/rooms/${this.room.id}/replay`)).replay;
    } catch (problem) {
      toast(problem.sentence, "bad");
      return null;
    }
    Object.assign(this.link, { hidden: false, href: `#/replay/${encodeURIComponent(this.replay)}` });
    if (document.activeElement === this.save) this.link.focus();
    this.save.hidden = true;
    toast("The replay is saved.", "good");
    return this.replay;
  }

  async #open(at) {
    const replay = await this.#keep();
    if (replay) location.hash = `#/replay/${encodeURIComponent(replay)}?at=${Number(at) + 1}`;
  }
}
