// The wheel: keys, thumbs and gamepads become [steering, throttle], sent only when they change and 30 times a second at most.

import { post } from "./api.js";
import { el, toast } from "./dom.js";
import { button } from "./turns.js";
import { wire } from "./wire.js";

const KEYS = {
  ArrowLeft: "left", KeyA: "left", ArrowRight: "right", KeyD: "right",
  ArrowUp: "up", KeyW: "up", ArrowDown: "down", KeyS: "down",
};
const PAUSE = 1000 / 30;
/** A key is all or nothing; the wheel follows it this fast (full locks a second), so that a tap is a small turn. */
const TURN_SPEED = 6;
const EDGE = 6;
const DEAD_ZONE = 0.12;
const OFFER_TIME = 5000;

export class Wheel {
  constructor(room) {
    this.room = room;
    this.held = new Set();
    this.pads = [0, 0];
    this.steering = 0;
    this.sent = [0, 0];
    this.lastSend = 0;
    this.holding = false;
    this.#build();
    this.listening = new AbortController();
    const { signal } = this.listening;
    document.addEventListener("keyup", (event) => this.held.delete(KEYS[event.code]), { signal });
    window.addEventListener("blur", () => this.#letGo(), { signal });
    document.addEventListener("visibilitychange", () => document.hidden && this.#letGo(), { signal });
    window.addEventListener("gamepadconnected", () => this.#wake(), { signal });
    this.#wake(); // a gamepad that the page knows already is not told of again
  }

  #build() {
    this.grab = button("Take the wheel", "W", () => this.take(), "primary");
    this.back = button("Hand back", "Esc", () => this.hand());
    this.teach = button("Teach this drive", "", () => this.#show());
    this.help = el("p", { class: "muted small wheel-help" }, "Steer with the arrow keys or ", el("kbd", { text: "W" }), el("kbd", { text: "A" }), el("kbd", { text: "S" }), el("kbd", { text: "D" }), ", a gamepad, or your thumbs on a touch screen.");
    this.zones = el("div", { class: "pads", "aria-hidden": "true" }, this.#pad(0, "steer"), this.#pad(1, "throttle"));
    this.node = el("div", { class: "wheel", hidden: true }, this.zones);
    this.offer = el("div", { class: "offer", hidden: true }, el("p", { text: "The agent drives." }), button("Take the wheel", "W", () => this.take(), "primary small"));
  }

  /** A zone for one thumb: axis 0 is steering (across), 1 is throttle (up). */
  #pad(axis, name) {
    const thumb = el("span", { class: "thumb" });
    const pad = el("div", { class: `pad ${name}` }, el("span", { class: "pad-name", text: name }), thumb);
    const move = (event) => pad.hasPointerCapture(event.pointerId) && this.#slide(pad, thumb, axis, event);
    const lift = () => this.#slide(pad, thumb, axis, null);
    pad.addEventListener("pointerdown", (event) => {
      pad.setPointerCapture(event.pointerId);
      move(event);
    });
    pad.addEventListener("pointermove", move);
    pad.addEventListener("lostpointercapture", lift);
    return pad;
  }

  #slide(pad, thumb, axis, event) {
    const box = pad.getBoundingClientRect();
    const length = (axis ? box.height - thumb.offsetHeight : box.width - thumb.offsetWidth) / 2 - EDGE;
    const raw = !event ? 0 : axis ? box.top + box.height / 2 - event.clientY : event.clientX - box.left - box.width / 2;
    this.pads[axis] = Math.max(-1, Math.min(1, raw / length));
    const shift = this.pads[axis] * length;
    thumb.style.transform = axis ? `translate(0, ${-shift}px)` : `translate(${shift}px, 0)`;
    if (event && !this.holding) this.#suggest();
    this.#wake();
  }

  update(state) {
    const can = Boolean(state.can?.wheel);
    const holding = can && state.wheel === "person";
    this.node.hidden = !can;
    this.node.classList.toggle("held", holding);
    this.grab.hidden = !can || holding;
    this.back.hidden = !holding;
    this.teach.hidden = !can || !runOf(state);
    this.help.hidden = !can;
    if (holding) this.offer.hidden = true;
    if (holding === this.holding) return;
    this.holding = holding;
    this.#letGo();
    this.sent = [0, 0];
    this.#wake();
  }

  take() {
    if (!this.holding) this.room.send({ do: "wheel", hands: "person" });
    this.offer.hidden = true;
  }

  hand() {
    if (this.holding) this.room.send({ do: "wheel", hands: "agent" });
  }

  /** Whether a key was meant for the wheel. */
  key(event) {
    if (this.node.hidden) return false;
    if (event.key === "Escape" && this.holding) return this.hand() ?? true;
    const direction = KEYS[event.code];
    if (!direction) return false;
    if (this.holding) this.held.add(direction);
    else if (event.code === "KeyW") this.take();
    else if (event.code !== "KeyS") this.#suggest();
    else return false;
    this.#wake();
    return true;
  }

  /** Hand the drive so far to the run whose agent sits here; it learns from it while it trains. */
  async #show() {
    try {
      await post(`/api/rooms/${this.room.id}/demonstration`, { run: runOf(this.room.state) });
      toast(`${runOf(this.room.state)} learns from this drive while it trains.`, "good");
    } catch (problem) {
      toast(problem.sentence ?? "The drive could not be handed over.", "bad");
    }
  }

  #suggest() {
    if (this.holding || this.node.hidden) return;
    this.offer.hidden = false;
    clearTimeout(this.hiding);
    this.hiding = setTimeout(() => (this.offer.hidden = true), OFFER_TIME);
  }

  /** Nobody at the keys: neutral, so that a page in the background does not drive into the wall at full speed. */
  #letGo() {
    this.held.clear();
    this.pads.fill(0);
    this.steering = 0;
    if (this.holding) this.#send(0, 0);
  }

  #wake() {
    if (!this.request) this.request = requestAnimationFrame((now) => this.#turn(now));
  }

  #turn(now) {
    this.request = 0;
    const pad = gamepad();
    if (this.holding && now - this.lastSend >= PAUSE) this.#drive(pad, Math.min(0.1, (now - this.lastSend) / 1000), now);
    if (!this.holding && pad && (Math.abs(pad[0]) > 0.5 || Math.abs(pad[1]) > 0.5)) this.#suggest();
    if (this.holding || pad) this.#wake();
  }

  #drive(pad, seconds, now) {
    this.lastSend = now;
    const wanted = Number(this.held.has("right")) - Number(this.held.has("left"));
    const most = TURN_SPEED * seconds;
    this.steering += Math.max(-most, Math.min(most, wanted - this.steering));
    const throttle = Number(this.held.has("up")) - Number(this.held.has("down"));
    this.#send(this.pads[0] || pad?.[0] || this.steering, this.pads[1] || pad?.[1] || throttle);
  }

  #send(steering, throttle) {
    const action = [round(steering), round(throttle)];
    if (action[0] === this.sent[0] && action[1] === this.sent[1]) return;
    if (wire.send({ do: "steer", room: this.room.id, action })) this.sent = action;
  }

  close() {
    this.hand();
    this.listening.abort();
    clearTimeout(this.hiding);
    cancelAnimationFrame(this.request);
  }
}

/** The run whose agent drives: "car-0001" of "run:car-0001@best". */
function runOf({ seats }) {
  return /^run:([^@]+)/.exec(seats?.[0] ?? "")?.[1];
}

/** [steering, throttle] of the first gamepad: left stick and triggers; null without one. */
function gamepad() {
  const pad = navigator.getGamepads?.().find((one) => one?.connected);
  if (!pad) return null;
  const triggers = (pad.buttons[7]?.value ?? 0) - (pad.buttons[6]?.value ?? 0);
  return [still(pad.axes[0] ?? 0), triggers || -still(pad.axes[1] ?? 0)];
}

function still(x) {
  return Math.abs(x) < DEAD_ZONE ? 0 : x;
}

function round(x) {
  return Math.round(50 * Math.max(-1, Math.min(1, x))) / 50;
}
