// Functions for all views to build elements and format numbers. Data enters the page as text only, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element: attributes are class, text, on{event}, dataset, style (an object), properties or plain attributes. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG: svg("svg", {viewBox: "0 0 1 1"}, svg("path", {d: "..."})). */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) attribute(node, name, value);
  node.append(...present(children));
  return node;
}

/** Append children, which may be nested lists; null and false are skipped. */
function present(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** Attributes set as properties, because the attribute has no effect once a person has used the control. */
const LIVE = new Set(["value", "checked", "selected", "indeterminate"]);

function attribute(node, name, value) {
  if (value === undefined || value === null) return;
  if (name === "text") node.textContent = value;
  else if (name === "class") node.setAttribute("class", value);
  else if (name === "dataset") Object.assign(node.dataset, value);
  else if (name === "style") styles(node, value);
  else if (name.startsWith("on")) node.addEventListener(name.slice(2).toLowerCase(), value);
  else if (LIVE.has(name)) node[name] = value;
  else if (name.startsWith("aria-")) node.setAttribute(name, String(value));
  else if (value === true) node.setAttribute(name, "");
  else if (value !== false) node.setAttribute(name, value);
}

function styles(node, rules) {
  for (const [name, value] of Object.entries(rules)) node.style.setProperty(name, value);
}

/** Replace all children. */
export function replace(node, ...children) {
  node.replaceChildren(...present(children));
  return node;
}

/** A select of [{name, label}]; `chosen` is a name. */
export function select(options, chosen, attributes = {}) {
  const items = options.map(({ name, label }) => el("option", { value: name, text: label ?? name }));
  const node = el("select", attributes, items);
  if (chosen !== undefined) node.value = chosen;
  return node;
}

/** A labelled control: the label comes first, help below. */
export function field(label, control, help) {
  const id = control.id || (control.id = unique("field"));
  const note = help ? el("small", { id: `${id}-help`, text: help }) : null;
  if (note) control.setAttribute("aria-describedby", note.id);
  return el("div", { class: "field" }, el("label", { for: id, text: label }), control, note);
}

let last = 0;

export function unique(stem) {
  last += 1;
  return `${stem}-${last}`;
}

/** Load a style sheet once; resolves when it is loaded, or if it fails, because the page still works without it. */
export function stylesheet(href) {
  const known = document.querySelector(`link[rel=stylesheet][href="${href}"]`);
  if (known) return Promise.resolve();
  return new Promise((done) => document.head.append(el("link", { rel: "stylesheet", href, onload: done, onerror: done })));
}

/** Show a message at the edge of the page; kind: "info", "good" or "bad" (stays until it is closed). */
export function toast(sentence, kind = "info") {
  const shelf = document.getElementById("toasts");
  const note = el("div", { class: `toast ${kind}` }, el("p", { text: capital(sentence) }));
  note.append(el("button", { class: "button quiet round", "aria-label": "Close this message", text: "×", onclick: () => note.remove() }));
  shelf.append(note);
  while (shelf.children.length > 3) shelf.firstChild.remove();
  if (kind !== "bad") setTimeout(() => note.remove(), 6000);
}

/** Capitalize the first letter; messages of the package begin in lower case. */
export function capital(words) {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Ask for confirmation before something that cannot be undone; `verb` is the text of the button. */
export function confirm(sentence, verb, kind = "danger") {
  const id = unique("question");
  return new Promise((answer) => {
    const close = (value) => () => dialog.close(value);
    const dialog = el("dialog", { class: "dialog", "aria-labelledby": id, onclose: () => finish(dialog, answer) },
      el("p", { id, text: sentence }),
      el("div", { class: "toolbar end" },
        el("button", { class: "button", type: "button", text: "Cancel", autofocus: true, onclick: close("") }),
        el("button", { class: `button ${kind}`, type: "button", text: verb, onclick: close("yes") })));
    document.body.append(dialog);
    dialog.showModal();
  });
}

function finish(dialog, answer) {
  dialog.remove();
  answer(dialog.returnValue === "yes");
}

/** "48 s", "3 min", "2 h 5 min", "3 d 4 h". */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return join(hours, "h", minutes % 60, "min");
  return join(Math.floor(hours / 24), "d", hours % 24, "h");
}

function join(large, name, small, part) {
  return small ? `${large} ${name} ${small} ${part}` : `${large} ${name}`;
}

/** A number as people read it: 0.042, 3.5, 1,200, 3.4M. */
export function number(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const size = Math.abs(x);
  const words = size >= 1e5 ? COMPACT.format(x) : size >= 100 || Number.isInteger(x) ? WHOLE.format(x) : SMALL.format(x);
  return words.replace("-", "−");
}

const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SMALL = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

/** A fraction 0..1 as a percentage. */
export function percent(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  const share = 100 * x;
  if (share > 0 && share < 1) return "<1%";
  return `${Math.round(share)}%`;
}

/** "3 games", "1 game". */
export function count(n, noun, nouns = `${noun}s`) {
  return `${number(n)} ${n === 1 ? noun : nouns}`;
}
