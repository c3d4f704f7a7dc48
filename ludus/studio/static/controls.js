// Continuous control: keys, touch sliders and gamepads become an action with one number for each control of the game.
// It is sent only when it changes, at most 30 times per second.

import { post } from "./api.js";
import { el, replace, toast } from "./dom.js";
import { button } from "./turns.js";
import { wire } from "./wire.js";

const INTERVAL = 1000 / 30;
const EDGE = 6;
const DEAD_ZONE = 0.12;
const OFFER_TIME = 5000;
const STEPS = 50; // positions of a control on each side of its neutral value
const KEY_NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };

export class Controls {
  constructor(room) {
    this.room = room;
    this.held = new Set();
    this.controls = [];
    this.sliders = []; // positions of the touch sliders, -1 to 1
    this.keyed = []; // positions that held keys have reached so far
    this.sent = [];
    this.lastSend = 0;
    this.holding = false;
    this.#build();
    this.listening = new AbortController();
    const { signal } = this.listening;
    document.addEventListener("keyup", (event) => this.held.delete(event.code), { signal });
    window.addEventListener("blur", () => this.#release(), { signal });
    document.addEventListener("visibilitychange", () => document.hidden && this.#release(), { signal });
    window.addEventListener("gamepadconnected", () => this.#wake(), { signal });
    this.#wake(); // no event announces a gamepad that is already connected
  }

  #build() {
    this.grab = button("Take control", "W", () => this.take(), "primary");
    this.back = button("Hand back", "Esc", () => this.hand());
    this.teach = button("Teach this game", "", () => this.#teach());
    this.help = el("p", { class: "muted small control-help" });
    this.pads = el("div", { class: "pads", "aria-hidden": "true" });
    this.node = el("div", { class: "controls", hidden: true }, this.pads);
    this.offer = el("div", { class: "offer", hidden: true }, el("p", { text: "The agent plays." }), button("Take control", "W", () => this.take(), "primary small"));
  }

  /** Build a slider and the help for each control of the game; they do not change while a room is open. */
  #declare(controls) {
    if (this.controls.length === controls.length) return;
    this.controls = controls;
    this.#rest();
    replace(this.pads, controls.map((control, index) => this.#pad(control, index)));
    this.pads.classList.toggle("needed", controls.some(({ keys }) => !keys.flat().length));
    const keys = controls.filter((control) => control.keys.flat().length).flatMap((control) => [`${control.name} `, ...keyCaps(control.keys), ", "]);
    replace(this.help, [...keys, "a gamepad, or your thumbs on a touch screen"]);
  }

  /** A slider for one thumb. */
  #pad({ name, axis }, index) {
    const thumb = el("span", { class: "thumb" });
    const pad = el("div", { class: `pad ${axis}`, "data-control": name }, el("span", { class: "pad-name", text: name }), thumb);
    const move = (event) => pad.hasPointerCapture(event.pointerId) && this.#slide(pad, thumb, index, event);
    const lift = () => this.#slide(pad, thumb, index, null);
    pad.addEventListener("pointerdown", (event) => {
      pad.setPointerCapture(event.pointerId);
      move(event);
    });
    pad.addEventListener("pointermove", move);
    pad.addEventListener("lostpointercapture", lift);
    return pad;
  }

  #slide(pad, thumb, index, event) {
    const upright = this.controls[index].axis === "vertical";
    const box = pad.getBoundingClientRect();
    const length = (upright ? box.height - thumb.offsetHeight : box.width - thumb.offsetWidth) / 2 - EDGE;
    const raw = !event ? 0 : upright ? box.top + box.height / 2 - event.clientY : event.clientX - box.left - box.width / 2;
    this.sliders[index] = clamp(raw / length);
    const shift = this.sliders[index] * length;
    thumb.style.transform = upright ? `translate(0, ${-shift}px)` : `translate(${shift}px, 0)`;
    if (event && !this.holding) this.#suggest();
    this.#wake();
  }

  update(state) {
    const can = Boolean(state.can?.control);
    const holding = can && state.control === "person";
    this.#declare(state.controls ?? []);
    this.node.hidden = !can;
    this.node.classList.toggle("held", holding);
    this.grab.hidden = !can || holding;
    this.back.hidden = !holding;
    this.teach.hidden = !can || !runOf(state);
    this.help.hidden = !can;
    if (holding) this.offer.hidden = true;
    if (holding === this.holding) return;
    this.holding = holding;
    this.#release();
    this.sent = this.controls.map(({ neutral }) => neutral);
    this.#wake();
  }

  take() {
    if (!this.holding) this.room.send({ do: "control", hands: "person" });
    this.offer.hidden = true;
  }

  hand() {
    if (this.holding) this.room.send({ do: "control", hands: "agent" });
  }

  /** Whether a key belongs to the controls. */
  key(event) {
    if (this.node.hidden) return false;
    if (event.key === "Escape" && this.holding) return this.hand() ?? true;
    if (!this.holding && event.code === "KeyW") return this.take() ?? true;
    if (!this.controls.some(({ keys }) => keys.flat().includes(event.code))) return false;
    if (this.holding) this.held.add(event.code);
    else this.#suggest();
    this.#wake();
    return true;
  }

  /** Add the game so far to the demonstrations of the run whose agent plays here. */
  async #teach() {
    try {
      await post(`/api/rooms/${this.room.id}/demonstration`, { run: runOf(this.room.state) });
      toast(`This game was added to the demonstrations of ${runOf(this.room.state)}.`, "good");
    } catch (problem) {
      toast(problem.sentence ?? "The game could not be added as a demonstration.", "bad");
    }
  }

  #suggest() {
    if (this.holding || this.node.hidden) return;
    this.offer.hidden = false;
    clearTimeout(this.hiding);
    this.hiding = setTimeout(() => (this.offer.hidden = true), OFFER_TIME);
  }

  #rest() {
    this.held.clear();
    this.sliders = this.controls.map(() => 0);
    this.keyed = this.controls.map(() => 0);
  }

  /** Back to neutral, also when the page goes to the background, because it gets no key events there. */
  #release() {
    this.#rest();
    if (this.holding) this.#send(this.keyed);
  }

  #wake() {
    if (!this.request) this.request = requestAnimationFrame((now) => this.#turn(now));
  }

  #turn(now) {
    this.request = 0;
    const pad = gamepad(this.controls);
    if (this.holding && now - this.lastSend >= INTERVAL) this.#operate(pad, Math.min(0.1, (now - this.lastSend) / 1000), now);
    if (!this.holding && pad?.some((position) => Math.abs(position) > 0.5)) this.#suggest();
    if (this.holding || pad) this.#wake();
  }

  /** The first of slider, gamepad and keys that is not at rest determines the position. */
  #operate(pad, seconds, now) {
    this.lastSend = now;
    this.keyed = this.controls.map((control, index) => this.#keyPosition(control, this.keyed[index], seconds));
    this.#send(this.controls.map((_, index) => this.sliders[index] || pad?.[index] || this.keyed[index]));
  }

  /** Held keys move the position gradually, at the speed of the control, so that a short press is a small change. */
  #keyPosition({ keys: [lower, raise], seconds: time }, position, seconds) {
    const wanted = Number(raise.some((code) => this.held.has(code))) - Number(lower.some((code) => this.held.has(code)));
    const most = time ? seconds / time : Infinity;
    return position + Math.max(-most, Math.min(most, wanted - position));
  }

  /** Send positions from -1 to 1 as an action. */
  #send(positions) {
    const action = this.controls.map((control, index) => valueAt(control, positions[index]));
    if (action.every((value, index) => value === this.sent[index])) return;
    if (wire.send({ do: "input", room: this.room.id, action })) this.sent = action;
  }

  close() {
    this.hand();
    this.listening.abort();
    clearTimeout(this.hiding);
    cancelAnimationFrame(this.request);
  }
}

/** The run whose agent plays: "name-0001" of "run:name-0001@best". */
function runOf({ seats }) {
  return /^run:([^@]+)/.exec(seats?.[0] ?? "")?.[1];
}

/** The value of a control at a position: -1 is its low bound, 0 its neutral value, 1 its high bound. */
function valueAt({ low, neutral, high }, position) {
  const place = Math.round(STEPS * clamp(position)) / STEPS;
  return neutral + place * (place < 0 ? neutral - low : high - neutral);
}

/** The first keys of a control, lower and raise, then the alternatives. */
function keyCaps([lower, raise]) {
  const pairs = lower.map((code, index) => [code, raise[index]]);
  return pairs.flat().filter(Boolean).map((code) => el("kbd", { text: KEY_NAMES[code] ?? code.replace(/^Key|^Digit/, "") }));
}

/** Positions of the controls on the first gamepad; null without one. The first horizontal and vertical control have
 *  the left stick, the second ones the right stick; the triggers also move the first vertical control. */
function gamepad(controls) {
  const pad = navigator.getGamepads?.().find((one) => one?.connected);
  if (!pad) return null;
  const sticks = { horizontal: [0, 2], vertical: [1, 3] };
  const triggers = (pad.buttons[7]?.value ?? 0) - (pad.buttons[6]?.value ?? 0);
  return controls.map(({ axis }) => {
    const place = sticks[axis]?.shift();
    if (place === undefined) return 0;
    if (place === 1 && triggers) return triggers;
    const position = withoutDrift(pad.axes[place] ?? 0);
    return axis === "vertical" ? -position : position;
  });
}

/** Ignore small deflections, because a stick at rest is not exactly in the middle. */
function withoutDrift(position) {
  return Math.abs(position) < DEAD_ZONE ? 0 : position;
}

function clamp(position) {
  return Math.max(-1, Math.min(1, position));
}
