// Painting shapes on a canvas: one function per kind, no allocation, all lengths in the game's own pixels.

import { AREA, CIRCLE, LINE, RECT, STRIDE, TEXT } from "./shapes.js";

const RADIANS = Math.PI / 180;
const now = new Float64Array(STRIDE);

/** Paint shapes [low, high), interpolated by `progress` (0..1) between two ticks. */
export function paint(pen, shapes, low, high, progress, scale) {
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.lineCap = "round";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (let index = low; index < high; index += 1) {
    const kind = shapes.kind[index];
    if (kind === AREA) continue;
    locate(shapes, index, progress);
    if (kind === RECT) rect(pen, shapes.fill[index], scale);
    else if (kind === CIRCLE) circle(pen, shapes.fill[index]);
    else if (kind === LINE) line(pen, shapes.fill[index]);
    else if (kind === TEXT) text(pen, shapes, index);
  }
}

function locate(shapes, index, progress) {
  const base = index * STRIDE;
  const share = shapes.glides[index] ? progress : 1;
  for (let part = 0; part < STRIDE; part += 1) {
    const start = shapes.from[base + part];
    now[part] = start + (shapes.to[base + part] - start) * share;
  }
}

function rect(pen, fill, scale) {
  pen.fillStyle = fill;
  if (now[5]) turnedRect(pen, scale);
  else if (now[4] < 0.5) pen.fillRect(now[0], now[1], now[2], now[3]);
  else round(pen, now[0], now[1]);
}

function turnedRect(pen, scale) {
  const cosine = Math.cos(now[5] * RADIANS) * scale, sine = Math.sin(now[5] * RADIANS) * scale;
  pen.setTransform(cosine, sine, -sine, cosine, (now[0] + now[2] / 2) * scale, (now[1] + now[3] / 2) * scale);
  round(pen, -now[2] / 2, -now[3] / 2);
  pen.setTransform(scale, 0, 0, scale, 0, 0);
}

function round(pen, x, y) {
  pen.beginPath();
  pen.roundRect(x, y, now[2], now[3], now[4]);
  pen.fill();
}

function circle(pen, fill) {
  pen.fillStyle = fill;
  pen.beginPath();
  pen.arc(now[0], now[1], now[2], 0, 2 * Math.PI);
  pen.fill();
}

function line(pen, fill) {
  pen.strokeStyle = fill;
  pen.lineWidth = now[4];
  pen.beginPath();
  pen.moveTo(now[0], now[1]);
  pen.lineTo(now[2], now[3]);
  pen.stroke();
}

function text(pen, shapes, index) {
  pen.fillStyle = shapes.fill[index];
  if (pen.font !== shapes.font[index]) pen.font = shapes.font[index];
  pen.fillText(shapes.words[index], now[0], now[1]);
}
