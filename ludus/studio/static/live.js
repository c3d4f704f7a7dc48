// Controls of a room in which agents play: pace, swarm, ghost and imagined path if supported, gauges, last returns.

import { Controls } from "./controls.js";
import { el, number, replace, select, unique } from "./dom.js";
import { Gauges } from "./gauges.js";
import { line } from "./graph.js";
import { button, press } from "./turns.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const SWARMS = [1, 8, 64];

export class Live {
  constructor(room) {
    this.room = room;
    this.controls = new Controls(room);
    this.gauges = new Gauges();
    this.node = el("div", { class: "room-stack", hidden: true }, this.#pace(), this.#instruments(), this.#returns());
  }

  #pace() {
    const set = (change) => this.room.send({ do: "set", ...change });
    this.pause = button("Pause", "Space", () => set({ paused: !this.room.state.paused }), "small");
    this.tick = button("Step", ".", () => this.room.send({ do: "tick" }), "small");
    this.speed = select(SPEEDS.map((speed) => ({ name: String(speed), label: `${speed}×` })), "1", { id: unique("speed"), onchange: () => set({ speed: Number(this.speed.value) }) });
    this.swarm = choices("Games at once", SWARMS, (swarm) => set({ swarm }));
    this.ghost = toggle("Ghost", (ghost) => set({ ghost }));
    this.imagine = toggle("What the agent imagines", (imagine) => set({ imagine }));
    return el("section", { class: "panel", "aria-labelledby": "pace" }, el("h2", { id: "pace", text: "Pace" }),
      el("div", { class: "toolbar pace" }, this.pause, this.tick, el("div", { class: "field speed" }, el("label", { class: "visually-hidden", for: this.speed.id, text: "Speed" }), this.speed)),
      this.swarm.node, this.ghost.node, this.imagine.node);
  }

  #instruments() {
    this.panel = el("section", { class: "panel", "aria-labelledby": "instruments" }, el("h2", { id: "instruments", text: "Instruments" }), this.gauges.node);
    return this.panel;
  }

  #returns() {
    this.spark = el("div", { class: "graph spark" });
    this.sum = el("p", { class: "muted small numbers" });
    this.score = el("section", { class: "panel", "aria-labelledby": "returns" }, el("h2", { id: "returns", text: "Last games" }), this.spark, this.sum);
    return this.score;
  }

  /** Update; hidden in rooms that wait for moves of a person. */
  update(state) {
    const { can = {} } = state;
    this.controls.update(state);
    this.node.hidden = !state.continuous && Boolean(state.you?.length);
    this.pause.firstChild.textContent = state.paused ? "Resume" : "Pause";
    press(this.tick, !state.paused);
    if (document.activeElement !== this.speed) this.speed.value = String(state.speed ?? 1);
    this.swarm.show(can.swarm, state.swarm);
    this.ghost.show(can.ghost, state.ghost, `Ghost of the last ${state.ghost_part}`);
    this.imagine.show(can.imagine, state.imagine);
    this.gauges.declare(state.gauges ?? []);
    this.panel.hidden = !state.gauges?.length;
    this.#showReturns(state.score);
  }

  #showReturns(score) {
    const returns = score?.returns ?? [];
    this.score.hidden = returns.length < 1;
    const drawn = returns.join();
    if (this.score.hidden || drawn === this.drawn) return;
    this.drawn = drawn;
    const mean = returns.reduce((sum, value) => sum + value, 0) / returns.length;
    this.spark.hidden = returns.length < 2;
    replace(this.spark, line(returns, { label: `The last ${returns.length} returns` }));
    this.sum.textContent = `${number(score.games)} played; last return ${number(returns.at(-1))}, average ${number(Math.round(100 * mean) / 100)}`;
  }

  frame(stage) {
    if (!this.panel.hidden && stage.gauges.length) this.gauges.set(stage.gauges);
  }

  key(event) {
    if (this.controls.key(event)) return true;
    if (this.node.hidden || event.repeat) return false;
    // The space bar on a focused button presses that button.
    if (event.key === " " && event.target.closest("button, a, summary")) return false;
    if (event.key === " ") return this.pause.click() ?? true;
    if (event.key === ".") return this.tick.click() ?? true;
    return false;
  }

  close() {
    this.controls.close();
    this.gauges.close();
  }
}

/** A few numbers to choose from, as radio buttons in a row. */
function choices(name, values, choose) {
  const group = unique("choice");
  const inputs = values.map((value) => el("input", { type: "radio", name: group, value: String(value), onchange: () => choose(value) }));
  const labels = inputs.map((input, index) => el("label", { class: "choice" }, input, el("span", { text: String(values[index]) })));
  const node = el("fieldset", { class: "choices" }, el("legend", { text: name }), labels);
  const show = (can, chosen) => {
    node.hidden = !can;
    for (const input of inputs) input.checked = Number(input.value) === chosen;
  };
  return { node, show };
}

function toggle(text, set) {
  const input = el("input", { type: "checkbox", onchange: () => set(input.checked) });
  const words = el("span", { text });
  const node = el("label", { class: "switch" }, input, words);
  const show = (can, checked, label = text) => {
    node.hidden = !can;
    input.checked = Boolean(checked);
    if (words.textContent !== label) words.textContent = label;
  };
  return { node, show };
}
