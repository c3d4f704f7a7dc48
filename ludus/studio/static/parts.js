// Pieces that several views are made of: addresses, buttons, sections, tables that narrow pages can hold.

import { el, replace } from "./dom.js";

/** "#/run/car-0001", and "/api/runs/car-0001". */
export const to = (...parts) => `#/${parts.map(encodeURIComponent).join("/")}`;
export const api = (...parts) => `/api/${parts.map(encodeURIComponent).join("/")}`;

export function button(text, onclick, kind = "", more = {}) {
  return el("button", { class: `button ${kind}`, type: "button", text, onclick, ...more });
}

export function section(id, heading, ...parts) {
  return el("section", { class: "panel", "aria-labelledby": id }, el("h2", { id, text: heading }), parts);
}

export function emptiness(heading, text, href, verb) {
  return el("div", { class: "empty" }, el("h2", { text: heading }), el("p", { text }), el("a", { class: "button primary", href, text: verb }));
}

/** `heads` are words (">Score" stands at the right, "" above what needs no word) or elements, `rows` are tr elements. */
export function table(label, heads, rows, kind = "") {
  const head = heads.map((word) => (typeof word !== "string" ? word : word ? el("th", { scope: "col", class: side(word), text: bare(word) }) : el("td")));
  return scrolled(label, el("table", { class: `table ${kind}` }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)));
}

/** What may be wider than the page scrolls by itself, also by keyboard. */
export function scrolled(label, content) {
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": label }, content);
}

/** A cell that says by itself what it is, for narrow pages, where rows become blocks. */
export function cell(label, ...parts) {
  return el("td", { class: side(label), dataset: { label: bare(label) } }, el("span", { class: "cell" }, parts));
}

export const rowHead = (...parts) => el("th", { scope: "row" }, parts);
const side = (label) => (label.startsWith(">") ? "number" : "");
const bare = (label) => label.replace(/^>/, "");

/** Draw a part anew without taking the keyboard away: the focus stays with the control of the same name, or near it. */
export function redraw(place, ...children) {
  const held = place.contains(document.activeElement) ? nameOf(document.activeElement) : null;
  replace(place, ...children);
  if (held === null) return;
  const controls = [...place.querySelectorAll("a, button:enabled, input, select")];
  (controls.find((node) => nameOf(node) === held) ?? controls[0])?.focus();
}

const nameOf = (node) => node.getAttribute("aria-label") ?? node.textContent;

/** A moment as the server tells it, in seconds since 1970 or as an ISO date, in the words of the reader's place. */
export function moment(created) {
  const date = new Date(typeof created === "number" ? created * 1000 : created ?? NaN);
  return Number.isNaN(date.getTime()) ? "–" : date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
