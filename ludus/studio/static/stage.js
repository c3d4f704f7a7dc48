// The stage: a canvas that draws a room's shapes smoothly, and clickable areas over it.
// Shapes that do not move are painted once into a layer; a frame is that layer and the shapes above it.

import { Areas } from "./areas.js";
import { el } from "./dom.js";
import { paint } from "./paint.js";
import { Shapes } from "./shapes.js";

/** Number of messages in which a shape must be unchanged before it is added to the layer. */
const PATIENCE = 20;
const SLOW_FRAME = 11;
const REST = 400; // ms without a message after which the next one is a single move, not one of many ticks
const MOVE_TIME = 140;
const PIXELS = 2;

export class Stage {
  #frame = [4, 3];
  #shapes = new Shapes();
  #picture = null;
  #layer = document.createElement("canvas");
  #layerCount = 0;
  #layerStale = true;
  #windowLowest = Infinity;
  #windowSize = 0;
  #arrived = 0;
  #interval = 33;
  #duration = 1;
  #request = 0;
  #ratio = Math.min(2, window.devicePixelRatio || 1);
  #cost = 0;
  #drawn = new Float64Array(240);
  #draws = 0;

  /** `onAction(action)` is called when a person clicks an area; `label` describes the picture. */
  constructor(container, { onAction, label }) {
    this.canvas = el("canvas", { role: "img", "aria-label": label ?? "The game" });
    // A game may have to be compiled first; show text until there is a picture.
    this.note = el("p", { class: "stage-note" });
    this.node = el("div", { class: "stage" }, this.canvas, this.note);
    this.areas = new Areas(this.node, onAction);
    this.container = container;
    container.append(this.node);
    this.pen = this.canvas.getContext("2d", { alpha: false });
    this.observer = new ResizeObserver(() => this.#fit());
    this.observer.observe(this.node);
    window.ludus = { stage: this };
  }

  /** Show a frame message from the socket. */
  message(buffer) {
    const version = new Uint8Array(buffer, 0, 1)[0];
    if (version === PIXELS) return void this.#receivePixels(buffer);
    this.note.hidden = true;
    const now = performance.now();
    this.#shapes.receive(buffer, this.#progress(now));
    this.#pace(now);
    this.#stack();
    if (this.#shapes.areasChanged) this.areas.place(this.#shapes.areas(), this.#frame);
    this.#wake();
  }

  /** Update from the state of the room: size, legal moves, thoughts, hint, and the position as text. */
  room(state) {
    const [width, height] = state.frame ?? this.#frame;
    if (width !== this.#frame[0] || height !== this.#frame[1]) this.#resize(width, height);
    if (state.words) this.canvas.setAttribute("aria-label", state.title ? `${state.title}: ${state.words}` : state.words);
    if (!this.note.hidden) this.note.textContent = state.words ?? "";
    if (state.move !== undefined) this.node.dataset.move = state.move; // for scripts: which position the page shows
    this.areas.room(state);
  }

  close() {
    this.observer.disconnect();
    cancelAnimationFrame(this.#request);
    this.node.remove();
    this.#picture?.close();
    if (window.ludus?.stage === this) delete window.ludus.stage;
  }

  /** Whether there is a picture yet. */
  get pictured() {
    return this.note.hidden;
  }

  get gauges() {
    return this.#shapes.gauges;
  }

  get tick() {
    return this.#shapes.tick;
  }

  /** Frames drawn in the last second. */
  get fps() {
    const since = performance.now() - 1000;
    let count = 0;
    for (const time of this.#drawn) if (time > since) count += 1;
    return count;
  }

  /** For tests and debugging: all shapes, shapes in the layer, milliseconds per frame, pixels per CSS pixel. */
  get figures() {
    return { shapes: this.#shapes.count, still: this.#layerCount, cost: this.#cost, ratio: this.#ratio };
  }

  #resize(width, height) {
    this.#frame = [width, height];
    this.container.style.setProperty("--ratio", String(width / height));
    this.areas.place(this.#shapes.areas(), this.#frame);
    this.#fit();
  }

  #fit() {
    const width = Math.max(1, Math.round(this.node.clientWidth * this.#ratio));
    const height = Math.max(1, Math.round((width * this.#frame[1]) / this.#frame[0]));
    if (this.canvas.width !== width || this.canvas.height !== height) {
      for (const canvas of [this.canvas, this.#layer]) Object.assign(canvas, { width, height });
      this.#layerStale = true;
      // Resizing clears a canvas, so paint at once and not at the next frame.
      this.#draw(performance.now());
    }
  }

  /** The duration of a glide: a little more than the time between messages, so that motion is continuous. */
  #pace(now) {
    const gap = now - this.#arrived;
    this.#arrived = now;
    if (gap < REST) this.#interval += (gap - this.#interval) * 0.1;
    this.#duration = gap < REST ? 1.1 * this.#interval : MOVE_TIME;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches && gap >= REST) this.#duration = 1;
  }

  /** Decide which shapes belong to the layer: remove changed ones at once, add still ones after some messages. */
  #stack() {
    const lowest = this.#shapes.lowest;
    this.#windowLowest = Math.min(this.#windowLowest, lowest);
    this.#windowSize += 1;
    if (lowest < this.#layerCount) this.#setLayer(lowest);
    else if (this.#windowSize >= PATIENCE && this.#windowLowest > this.#layerCount) this.#setLayer(this.#windowLowest);
    else if (this.#windowSize < PATIENCE) return;
    this.#windowLowest = Infinity;
    this.#windowSize = 0;
  }

  #setLayer(count) {
    this.#layerCount = count;
    this.#layerStale = true;
  }

  #progress(now) {
    return Math.min(1, (now - this.#arrived) / this.#duration);
  }

  #wake() {
    if (!this.#request) this.#request = requestAnimationFrame((now) => this.#turn(now));
  }

  #turn(now) {
    this.#request = 0;
    this.#draw(now);
    if (this.#shapes.moving && this.#progress(now) < 1) this.#wake();
  }

  #draw(now) {
    const start = performance.now();
    this.pen.setTransform(1, 0, 0, 1, 0, 0);
    if (this.#picture) this.pen.drawImage(this.#picture, 0, 0, this.canvas.width, this.canvas.height);
    else this.#drawShapes(Math.max(0, this.#progress(now)));
    this.#measure(start);
  }

  #drawShapes(progress) {
    const scale = this.canvas.width / this.#frame[0];
    const still = Math.min(this.#layerCount, this.#shapes.count);
    if (still) this.pen.drawImage(this.#paintLayer(still, scale), 0, 0);
    else this.pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    paint(this.pen, this.#shapes, still, this.#shapes.count, progress, scale);
  }

  #paintLayer(still, scale) {
    if (!this.#layerStale) return this.#layer;
    const pen = this.#layer.getContext("2d", { alpha: false });
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.#layer.width, this.#layer.height);
    paint(pen, this.#shapes, 0, still, 1, scale);
    this.#layerStale = false;
    return this.#layer;
  }

  /** Count the frame; if drawing is slow, reduce the resolution. */
  #measure(start) {
    const end = performance.now();
    this.#drawn[this.#draws % this.#drawn.length] = end;
    this.#draws += 1;
    this.#cost += (end - start - this.#cost) * 0.05;
    if (this.#cost < SLOW_FRAME || this.#ratio <= 1) return;
    this.#ratio = Math.max(1, this.#ratio - 0.5);
    this.#cost = 0;
    this.#fit();
  }

  /** Show the WebP of a game that draws pixels; if several are being decoded, only the newest is shown. */
  async #receivePixels(buffer) {
    const picture = await createImageBitmap(new Blob([new Uint8Array(buffer, this.#shapes.receivePixels(buffer))], { type: "image/webp" }));
    this.#picture?.close();
    this.#picture = picture;
    this.note.hidden = true;
    this.#wake();
  }
}
