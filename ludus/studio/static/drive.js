// A room that runs by itself: pace, swarm, ghost and dreams as the room allows, instruments and the last returns.

import { el, number, replace, select, unique } from "./dom.js";
import { Gauges } from "./gauges.js";
import { line } from "./graph.js";
import { button, press } from "./turns.js";
import { Wheel } from "./wheel.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const SWARMS = [1, 8, 64];

export class Drive {
  constructor(room) {
    this.room = room;
    this.wheel = new Wheel(room);
    this.gauges = new Gauges();
    this.node = el("div", { class: "room-stack", hidden: true }, this.#controls(), this.#instruments(), this.#returns());
  }

  #controls() {
    const set = (change) => this.room.send({ do: "set", ...change });
    this.pause = button("Pause", "Space", () => set({ paused: !this.room.state.paused }), "small");
    this.tick = button("Step", ".", () => this.room.send({ do: "tick" }), "small");
    this.speed = select(SPEEDS.map((speed) => ({ name: String(speed), label: `${speed}×` })), "1", { id: unique("speed"), onchange: () => set({ speed: Number(this.speed.value) }) });
    this.swarm = choices("Cars", SWARMS, (cars) => set({ cars }));
    this.ghost = toggle("Ghost of the last lap", (ghost) => set({ ghost }));
    this.imagine = toggle("What the agent imagines", (imagine) => set({ imagine }));
    return el("section", { class: "panel", "aria-labelledby": "pace" }, el("h2", { id: "pace", text: "Pace" }),
      el("div", { class: "toolbar pace" }, this.pause, this.tick, el("div", { class: "field speed" }, el("label", { class: "hushed", for: this.speed.id, text: "Speed" }), this.speed)),
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

  /** It concerns rooms without a person to wait for. */
  update(state) {
    const { can = {} } = state;
    this.wheel.update(state);
    this.node.hidden = !state.continuous && Boolean(state.you?.length);
    this.pause.firstChild.textContent = state.paused ? "Go on" : "Pause";
    press(this.tick, !state.paused);
    if (document.activeElement !== this.speed) this.speed.value = String(state.speed ?? 1);
    this.swarm.show(can.swarm, state.cars);
    this.ghost.show(can.ghost, state.ghost);
    this.imagine.show(can.imagine, state.imagine);
    this.gauges.name(state.gauges ?? []);
    this.panel.hidden = !state.gauges?.length;
    this.#tellReturns(state.score);
  }

  #tellReturns(score) {
    const returns = score?.returns ?? [];
    this.score.hidden = returns.length < 1;
    const drawn = returns.join();
    if (this.score.hidden || drawn === this.drawn) return;
    this.drawn = drawn;
    const mean = returns.reduce((sum, value) => sum + value, 0) / returns.length;
    this.spark.hidden = returns.length < 2;
    replace(this.spark, line(returns, { label: `The last ${returns.length} returns` }));
    this.sum.textContent = `${number(score.games)} played; the last ${number(returns.at(-1))}, on average ${number(Math.round(100 * mean) / 100)}`;
  }

  frame(stage) {
    if (!this.panel.hidden && stage.gauges.length) this.gauges.set(stage.gauges);
  }

  key(event) {
    if (this.wheel.key(event)) return true;
    if (this.node.hidden || event.repeat) return false;
    // Space on a button presses that button.
    if (event.key === " " && event.target.closest("button, a, summary")) return false;
    if (event.key === " ") return this.pause.click() ?? true;
    if (event.key === ".") return this.tick.click() ?? true;
    return false;
  }

  close() {
    this.wheel.close();
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
  const node = el("label", { class: "switch" }, input, text);
  const show = (can, checked) => {
    node.hidden = !can;
    input.checked = Boolean(checked);
  };
  return { node, show };
}
