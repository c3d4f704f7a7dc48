// Elements that several views share: addresses, buttons, sections, and tables that fit narrow pages.

import { el, replace } from "./dom.js";

/** "#/run/name-0001", and "/api/runs/name-0001". */
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

/** `heads` are texts (">Score" is right-aligned, "" is an empty head) or elements, `rows` are tr elements. */
export function table(label, heads, rows, kind = "") {
  const head = heads.map((word) => (typeof word !== "string" ? word : word ? el("th", { scope: "col", class: side(word), text: bare(word) }) : el("td")));
  return scrolled(label, el("table", { class: `table ${kind}` }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)));
}

/** A container that scrolls content wider than the page, also by keyboard. */
export function scrolled(label, content) {
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": label }, content);
}

/** A cell with its label, which narrow pages show, because rows become blocks there. */
export function cell(label, ...parts) {
  return el("td", { class: side(label), dataset: { label: bare(label) } }, el("span", { class: "cell" }, parts));
}

export const rowHead = (...parts) => el("th", { scope: "row" }, parts);
const side = (label) => (label.startsWith(">") ? "number" : "");
const bare = (label) => label.replace(/^>/, "");

/** Redraw a part and keep the keyboard focus on the control of the same name, or on the first one. */
export function redraw(place, ...children) {
  const held = place.contains(document.activeElement) ? nameOf(document.activeElement) : null;
  replace(place, ...children);
  if (held === null) return;
  const controls = [...place.querySelectorAll("a, button:enabled, input, select")];
  (controls.find((node) => nameOf(node) === held) ?? controls[0])?.focus();
}

const nameOf = (node) => node.getAttribute("aria-label") ?? node.textContent;

/** A time from the server, in seconds since 1970 or as an ISO date, in the format of the reader's locale. */
export function moment(created) {
  const date = new Date(typeof created === "number" ? created * 1000 : created ?? NaN);
  return Number.isNaN(date.getTime()) ? "–" : date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
