// The shapes of a room in typed arrays: decodes frame messages and interpolates shapes that move between two ticks.

export const RECT = 1, CIRCLE = 2, LINE = 3, TEXT = 4, AREA = 5;
/** Numbers of a shape in `from` and `to`: x, y, w, h, size, angle. */
export const STRIDE = 6;
const FARTHEST_GLIDE = 60;
const FAMILY = '"Helvetica Neue", Arial, "Liberation Sans", system-ui, sans-serif';
const HEADER = 16, PIXEL_HEADER = 10;
const decoder = new TextDecoder();
const fills = new Map();
const fonts = new Map();

export class Shapes {
  constructor(capacity = 1024) {
    this.count = 0;
    this.capacity = capacity;
    this.kind = new Uint8Array(capacity);
    this.color = new Uint32Array(capacity);
    this.glides = new Uint8Array(capacity);
    this.from = new Float32Array(capacity * STRIDE);
    this.to = new Float32Array(capacity * STRIDE);
    this.words = new Array(capacity).fill("");
    this.fill = new Array(capacity).fill("");
    this.font = new Array(capacity).fill("");
    this.gauges = new Float32Array(0);
    this.tick = 0;
    this.lowest = 0; // the first shape that the last message changed; `count` if none
    this.moving = false;
    this.areasChanged = false;
  }

  /** Decode a message; `progress` is how far (0..1) the picture on the page had moved from `from` to `to`. */
  receive(buffer, progress) {
    const view = new DataView(buffer);
    const count = view.getUint16(8, true), first = view.getUint16(10, true), changed = view.getUint16(12, true);
    this.tick = view.getUint32(4, true);
    this.#reserve(count);
    this.#settle(progress);
    const before = this.count;
    this.lowest = count === before ? count : Math.min(count, before);
    this.areasChanged = this.#hasArea(count, before);
    this.count = count;
    this.#read(view, this.#readGauges(view, HEADER), first, changed, before);
    this.moving = this.#anyGlides();
  }

  /** Decode the header and the gauges of a pixel frame; returns the offset of the picture. */
  receivePixels(buffer) {
    const view = new DataView(buffer);
    this.tick = view.getUint32(4, true);
    return this.#readGauges(view, PIXEL_HEADER);
  }

  /** Gauges are floats after the header, which ends with their number; returns the offset of their end. */
  #readGauges(view, header) {
    const size = view.getUint16(header - 2, true);
    if (this.gauges.length !== size) this.gauges = new Float32Array(size);
    for (let index = 0; index < size; index += 1) this.gauges[index] = view.getFloat32(header + 4 * index, true);
    return header + 4 * size;
  }

  #read(view, offset, first, changed, before) {
    for (let index = first; index < first + changed; index += 1) offset = this.#readShape(view, offset, index, index < before);
  }

  #readShape(view, offset, index, known) {
    const kind = view.getUint8(offset), letters = view.getUint8(offset + 1);
    const color = view.getUint8(offset + 2) | (view.getUint8(offset + 3) << 8) | (view.getUint8(offset + 4) << 16);
    const words = letters ? decoder.decode(new Uint8Array(view.buffer, view.byteOffset + offset + 18, letters)) : "";
    const same = known && this.kind[index] === kind && this.color[index] === color && this.words[index] === words;
    const moved = this.#place(view, offset + 6, index, same);
    if (!same || moved) this.#note(index, kind, known);
    if (!same) this.#dress(index, kind, color, words);
    else if (moved && kind === TEXT) this.font[index] = fontOf(this.to[index * STRIDE + 4]);
    return offset + 18 + letters;
  }

  /** Decode the position of a shape; it glides there if it is the same shape and was near. */
  #place(view, offset, index, same) {
    const base = index * STRIDE;
    let moved = false, near = true;
    for (let part = 0; part < STRIDE; part += 1) {
      const raw = part === 4 ? view.getUint16(offset + 2 * part, true) : view.getInt16(offset + 2 * part, true);
      const value = raw / (part === 5 ? 64 : 16);
      if (this.to[base + part] !== value) moved = true;
      if (part < 4 && Math.abs(this.from[base + part] - value) >= FARTHEST_GLIDE) near = false;
      this.to[base + part] = value;
    }
    if (same && near) this.#turnShortWay(base + 5);
    else for (let part = 0; part < STRIDE; part += 1) this.from[base + part] = this.to[base + part];
    this.glides[index] = same && near && this.#differs(base) ? 1 : 0;
    return moved;
  }

  #turnShortWay(at) {
    while (this.from[at] - this.to[at] > 180) this.from[at] -= 360;
    while (this.from[at] - this.to[at] < -180) this.from[at] += 360;
  }

  #differs(base) {
    for (let part = base; part < base + STRIDE; part += 1) if (this.from[part] !== this.to[part]) return true;
    return false;
  }

  #note(index, kind, known) {
    if (index < this.lowest) this.lowest = index;
    if (kind === AREA || (known && this.kind[index] === AREA)) this.areasChanged = true;
  }

  #dress(index, kind, color, words) {
    this.kind[index] = kind;
    this.color[index] = color;
    this.words[index] = words;
    this.fill[index] = kind === AREA ? "" : fillOf(color);
    this.font[index] = kind === TEXT ? fontOf(this.to[index * STRIDE + 4]) : "";
  }

  /** Moving shapes start from their displayed position, so that an early message causes no jump. */
  #settle(progress) {
    if (!this.moving) return;
    for (let index = 0; index < this.count; index += 1) {
      if (!this.glides[index]) continue;
      const base = index * STRIDE;
      for (let part = base; part < base + STRIDE; part += 1) this.from[part] += (this.to[part] - this.from[part]) * progress;
      if (progress >= 1) this.glides[index] = 0;
    }
  }

  #anyGlides() {
    for (let index = 0; index < this.count; index += 1) if (this.glides[index]) return true;
    return false;
  }

  #hasArea(low, high) {
    for (let index = Math.min(low, high); index < high; index += 1) if (this.kind[index] === AREA) return true;
    return false;
  }

  #reserve(count) {
    if (count <= this.capacity) return;
    const larger = new Shapes(Math.max(count, 2 * this.capacity));
    for (const name of ["kind", "color", "glides", "from", "to"]) larger[name].set(this[name]);
    for (const name of ["words", "fill", "font"]) this[name].forEach((text, index) => (larger[name][index] = text));
    for (const name of ["kind", "color", "glides", "from", "to", "words", "fill", "font", "capacity"]) this[name] = larger[name];
  }

  /** [{action, x, y, w, h}] in the game's pixels. */
  areas() {
    const found = [];
    for (let index = 0; index < this.count; index += 1) {
      if (this.kind[index] !== AREA) continue;
      const [x, y, w, h] = this.to.subarray(index * STRIDE, index * STRIDE + 4);
      found.push({ action: this.color[index], x, y, w, h });
    }
    return found;
  }
}

/** Colours are sent as bytes r, g, b and stored as r | g << 8 | b << 16; their CSS strings are cached. */
function fillOf(color) {
  let text = fills.get(color);
  if (!text) fills.set(color, (text = `rgb(${color & 255} ${(color >> 8) & 255} ${color >> 16})`));
  return text;
}

function fontOf(size) {
  let text = fonts.get(size);
  if (!text) fonts.set(size, (text = `${size}px ${FAMILY}`));
  return text;
}
