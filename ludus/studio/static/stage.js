// The stage: a canvas that draws a room's shapes smoothly, and over it the areas one can click.
// What stands still is painted once into a layer; a frame is that layer and the shapes above it.

import { Areas } from "./areas.js";
import { el } from "./dom.js";
import { paint } from "./paint.js";
import { Shapes } from "./shapes.js";

/** Messages that must agree on what stands still before the layer grows: a new track is not worth a layer at once. */
const PATIENCE = 20;
const SLOW_FRAME = 11;
const REST = 400; // ms without a message: whatever comes next is a move and not the next of many ticks
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

  /** `onAction(action)` is called when somebody clicks an area; `label` says what the picture shows. */
  constructor(container, { onAction, label }) {
    this.canvas = el("canvas", { role: "img", "aria-label": label ?? "The game" });
    // A game may have to be compiled first; until there is a picture, words stand in its place.
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

  /** A frame message of the wire. */
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

  /** What the room says of itself: size, legal moves, thoughts, hint, and the position in words. */
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

  /** For tests and the curious: shapes in all, shapes in the layer, milliseconds of a frame, pixels a CSS pixel. */
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
      // A canvas is black after a change of its size: paint at once, not at the next frame.
      this.#draw(performance.now());
    }
  }

  /** How long a glide lasts: the usual time between messages, a little more so that motion never waits for the next. */
  #pace(now) {
    const gap = now - this.#arrived;
    this.#arrived = now;
    if (gap < REST) this.#interval += (gap - this.#interval) * 0.1;
    this.#duration = gap < REST ? 1.1 * this.#interval : MOVE_TIME;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches && gap >= REST) this.#duration = 1;
  }

  /** Decide which shapes belong to the layer: fewer at once if one of them changed, more after some patience. */
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
    if (this.#picture) this.pen.drawImage(this.#picture, 0, 0, this.canvas.width, this.canvas.height);
    else this.#drawShapes(Math.max(0, this.#progress(now)));
    this.#measure(start);
  }

  #drawShapes(progress) {
    const scale = this.canvas.width / this.#frame[0];
    const still = Math.min(this.#layerCount, this.#shapes.count);
    this.pen.setTransform(1, 0, 0, 1, 0, 0);
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

  /** Count the frame; where drawing is slow, draw fewer pixels. */
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

  /** Games that draw pixels send a WebP; the newest one wins. */
  async #receivePixels(buffer) {
    const picture = await createImageBitmap(new Blob([new Uint8Array(buffer, 8)], { type: "image/webp" }));
    this.#picture?.close();
    this.#picture = picture;
    this.note.hidden = true;
    this.#wake();
  }
}
