// The areas of a scene as buttons over the canvas, with the agent's probabilities. The Tab key reaches one of them;
// arrow keys move from area to area.

import { el, number, percent } from "./dom.js";

const LEAST = 0.01;
const NEAR = 0.005;
const VALUE_SIZE = 0.42;
const LARGEST = 0.2; // maximum diameter of a disc, as a share of the board's width
const TOUCHABLE = 24;
const LABELLED = { value: 24, chance: 36 }; // minimum diameter in pixels of a disc that shows its number: 0.5, 31%
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Areas {
  #rects = [];
  #buttons = [];
  #state = {};
  #current = null; // the action that Tab reaches
  #wanted = false; // a person plays by keyboard: focus returns to the board when it is their turn again
  #known = new Map(); // action -> last position, so that a move which is no longer legal still shows its probability
  #wandering = false; // an action was seen at two positions, so its last position cannot be used
  #frame = [1, 1];

  constructor(stage, onAction) {
    this.onAction = onAction;
    this.chances = el("div", { class: "chances", "aria-hidden": "true" });
    this.board = el("div", { class: "areas", role: "group", "aria-label": "Moves on the board", hidden: true, onkeydown: (event) => this.#key(event) });
    stage.append(this.chances, this.board);
  }

  /** New rectangles [{action, x, y, w, h}] in the game's pixels. */
  place(rects, frame) {
    this.#wandering ||= rects.some((rect) => moved(this.#known.get(rect.action), rect));
    if (this.#wandering || frame[0] !== this.#frame[0]) this.#known.clear();
    this.#rects = rects;
    this.#frame = frame;
    for (const rect of rects) this.#known.set(rect.action, rect);
    this.#keepFocus(() => this.#build());
    this.#showChances();
  }

  room(state) {
    this.#state = state;
    this.#keepFocus(() => this.#dress());
    this.#showChances();
  }

  /** The legal moves that have no area, or only one too small to tap. */
  others() {
    const scale = this.board.parentNode.clientWidth / this.#frame[0];
    const large = this.#rects.filter(({ w, h }) => Math.min(w, h) * scale >= TOUCHABLE);
    const offered = new Set(large.map(({ action }) => action));
    return (this.#state.legal ?? []).filter(({ action }) => !offered.has(action));
  }

  holdsFocus() {
    return this.board.contains(document.activeElement);
  }

  #build() {
    while (this.#buttons.length > this.#rects.length) this.#buttons.pop().remove();
    while (this.#buttons.length < this.#rects.length) this.#add();
    this.#rects.forEach((rect, index) => {
      spread(this.#buttons[index], rect, this.#frame);
      // A name over a small area would hide it; above it there must be room.
      this.#buttons[index].classList.toggle("small-area", rect.h < 0.3 * this.#frame[1] && rect.y > 0.12 * this.#frame[1]);
    });
    this.#dress();
  }

  #add() {
    const index = this.#buttons.length;
    const button = el("button", { class: "area", type: "button", tabindex: -1, onclick: () => this.#press(index), onfocus: () => this.#reach(index) });
    this.#buttons.push(button);
    this.board.append(button);
  }

  #press(index) {
    if (this.#state.waiting) this.onAction?.(this.#rects[index].action);
  }

  #reach(index) {
    this.#current = this.#rects[index]?.action ?? null;
    this.#buttons.forEach((button, other) => (button.tabIndex = other === index ? 0 : -1));
  }

  /** Update names and legality; buttons stay in place while no person is to move, so that focus is not lost. */
  #dress() {
    const { waiting, over } = this.#state;
    const legal = new Map((this.#state.legal ?? []).map(({ action, name }) => [action, name]));
    this.board.hidden = Boolean(over) || (!waiting && !this.#wanted);
    this.board.classList.toggle("resting", !waiting);
    this.#rects.forEach(({ action }, index) => this.#name(this.#buttons[index], action, legal));
    this.#rove();
  }

  #name(button, action, legal) {
    const name = legal.get(action);
    button.hidden = Boolean(this.#state.waiting) && name === undefined;
    button.setAttribute("aria-disabled", String(!this.#state.waiting));
    button.classList.toggle("hint", this.#state.hint?.action === action);
    if (name === undefined) return;
    const chance = this.#state.thoughts?.moves?.[action];
    const words = chance === undefined ? name : `${name}, ${amount(chance, this.#state.thoughts.unit)}`;
    button.setAttribute("aria-label", words);
    button.dataset.label = words;
  }

  #open() {
    return this.#buttons.map((button, index) => index).filter((index) => !this.#buttons[index].hidden);
  }

  #rove() {
    const open = this.#open();
    const kept = open.find((index) => this.#rects[index].action === this.#current) ?? open[0];
    this.#buttons.forEach((button, index) => (button.tabIndex = index === kept ? 0 : -1));
  }

  /** Do something that may remove the focused button, then focus the nearest remaining one. */
  #keepFocus(change) {
    const before = this.#buttons.indexOf(document.activeElement);
    if (before >= 0) this.#wanted = true;
    const [x, y] = before >= 0 && this.#rects[before] ? middle(this.#rects[before]) : [0, 0];
    change();
    if (!this.#wanted || !this.#state.waiting || this.holdsFocusOf(this.#buttons)) return;
    if (document.activeElement && document.activeElement !== document.body) return void (this.#wanted = false);
    const nearest = this.#open().sort((a, b) => this.#gap(a, x, y) - this.#gap(b, x, y))[0];
    this.#buttons[nearest]?.focus({ preventScroll: true });
  }

  holdsFocusOf(buttons) {
    return buttons.some((button) => button === document.activeElement && !button.hidden);
  }

  #gap(index, x, y) {
    const [a, b] = middle(this.#rects[index]);
    return Math.hypot(a - x, b - y);
  }

  #key(event) {
    // If moves are directions, an arrow key plays a move and does not change the area.
    const step = directed(event.key, this.#state) ? null : STEPS[event.key];
    const here = this.#buttons.indexOf(document.activeElement);
    if (!step || here < 0) return;
    event.preventDefault();
    event.stopPropagation();
    const next = this.#toward(here, step);
    if (next !== undefined) this.#buttons[next].focus();
  }

  /** The nearest area in a direction; distance perpendicular to it counts double. */
  #toward(here, [dx, dy]) {
    const [x, y] = middle(this.#rects[here]);
    const cost = (index) => {
      const [a, b] = middle(this.#rects[index]);
      const along = (a - x) * dx + (b - y) * dy;
      return along < 1 ? Infinity : along + 2 * Math.abs((a - x) * dy + (b - y) * dx);
    };
    return this.#open().filter((index) => cost(index) < Infinity).sort((a, b) => cost(a) - cost(b))[0];
  }

  #showChances() {
    const { thoughts } = this.#state;
    const moves = Object.entries(thoughts?.moves ?? {}).filter(([action]) => this.#known.has(Number(action)));
    const best = Math.max(...moves.map(([, chance]) => chance));
    this.chances.replaceChildren(...moves.map(([action, chance]) => this.#disc(Number(action), chance, chance >= best - NEAR)).filter(Boolean));
  }

  /** The size of a disc shows a probability; values have discs of equal size, and the best ones are coloured. */
  #disc(action, chance, best) {
    const { unit } = this.#state.thoughts;
    if (unit !== "value" && chance < LEAST) return null;
    const { x, y, w, h } = this.#known.get(action);
    const most = Math.min(w, h, LARGEST * this.#frame[0]);
    const side = most * (unit === "value" ? VALUE_SIZE : 0.92 * Math.sqrt(Math.min(1, chance)));
    // In a tall area (a column) the disc is at the upper end, where a stone is dropped; in a wide one (a button)
    // at the right end, where it hides no word.
    const [a, b] = [w > 2 * h ? x + w - h / 2 : x + w / 2, h > 2 * w ? y + w / 2 : y + h / 2];
    const pixels = (side * this.board.parentNode.clientWidth) / this.#frame[0];
    const text = pixels >= LABELLED[unit === "value" ? "value" : "chance"] ? amount(chance, unit) : "";
    const disc = el("span", { class: unit === "value" && !best ? "chance other" : "chance" }, el("b", { text }));
    return spread(disc, { x: a - side / 2, y: b - side / 2, w: side, h: side }, this.#frame);
  }
}

/** The legal move that is named like an arrow key ("left", "push left"), if there is one. */
export function directed(key, { waiting, legal }) {
  const word = key.startsWith("Arrow") ? key.slice(5).toLowerCase() : null;
  return waiting && word ? legal?.find(({ name }) => name.split(" ").at(-1) === word) : undefined;
}

/** A probability as a percentage, a value as a signed number. */
export function amount(x, unit) {
  return unit === "value" ? (x > 0 ? `+${number(x)}` : number(x)) : percent(x);
}

/** The length (0..1) of each bar: probabilities unchanged, values scaled from loss to win or from worst to best. */
export function shares(numbers, unit) {
  if (unit !== "value") return numbers.map((x) => Math.max(0, Math.min(1, x)));
  const low = Math.min(-1, ...numbers), high = Math.max(1, ...numbers);
  return numbers.map((x) => (x - low) / (high - low));
}

function moved(before, { x, y }) {
  return before !== undefined && (before.x !== x || before.y !== y);
}

function middle({ x, y, w, h }) {
  return [x + w / 2, y + h / 2];
}

function spread(node, { x, y, w, h }, [width, height]) {
  const share = { left: x / width, top: y / height, width: w / width, height: h / height };
  for (const [name, value] of Object.entries(share)) node.style[name] = `${100 * value}%`;
  return node;
}
