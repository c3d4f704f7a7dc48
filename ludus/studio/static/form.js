// A form for settings described by the server: a labelled field for each, with its preset value and its error.

import { el } from "./dom.js";
import { label } from "./labels.js";
import { button } from "./parts.js";

let forms = 0;

/** "mlp.learning_rate" as "Learning rate"; the heading of the group names the rest. */
export function fieldLabel(name) {
  return label(name.split(".").at(-1));
}

/** A value as text for an input. */
export function typed(value) {
  if (Array.isArray(value)) return value.join(" ");
  return value === null || value === undefined ? "" : String(value);
}

export class Form {
  /** `groups` as in GET /api/forms; `onChange` is called when a value changes. */
  constructor(groups, onChange) {
    this.prefix = `form${++forms}`;
    this.onChange = onChange;
    this.fields = new Map();
    this.root = el("div", { class: "form" }, ...groups.map((group) => this.#group(group)));
  }

  /** The values that differ from the preset, as they were typed. */
  changes() {
    const changed = [...this.fields.values()].filter((field) => field.differs());
    return Object.fromEntries(changed.map((field) => [field.name, field.value()]));
  }

  /** Set these values, ignoring names without a field. */
  fill(values) {
    for (const [name, value] of Object.entries(values)) this.fields.get(name)?.set(value);
  }

  reset() {
    for (const field of this.fields.values()) field.reset();
    this.onChange();
  }

  /** Show errors at their fields; returns the errors of fields that are not in the form. */
  showErrors(errors) {
    for (const field of this.fields.values()) field.showError(errors[field.name] ?? "");
    return Object.entries(errors).filter(([name]) => !this.fields.has(name)).map(([, sentence]) => sentence);
  }

  /** Scroll to the first field with an error and focus it. */
  showFirstError() {
    const wrong = [...this.fields.values()].find((field) => field.wrong);
    wrong?.show();
    return Boolean(wrong);
  }

  #group({ title, fields }) {
    const made = fields.map((field) => [field, this.#field(field)]);
    const plain = made.filter(([field]) => !field.advanced).map(([, element]) => element);
    const rare = made.filter(([field]) => field.advanced).map(([, element]) => element);
    const parts = [el("legend", { text: title })];
    if (plain.length) parts.push(el("div", { class: "settings" }, ...plain));
    if (rare.length) parts.push(el("details", {}, el("summary", { text: `Advanced: ${rare.length} more` }), el("div", { class: "settings" }, ...rare)));
    return el("fieldset", { class: "panel form-group" }, ...parts);
  }

  #field(description) {
    const field = new Field(description, `${this.prefix}-${description.name.replaceAll(/[^A-Za-z0-9]/g, "-")}`, () => this.onChange());
    this.fields.set(field.name, field);
    return field.root;
  }
}

class Field {
  constructor({ name, kind, value, choices, help }, id, onChange) {
    Object.assign(this, { name, kind, preset: kind === "switch" ? Boolean(value) : typed(value), onChange, wrong: false });
    this.input = control(kind, choices, { id, "aria-describedby": `${id}-help ${id}-problem`, oninput: () => this.#changed() });
    this.back = button(`Preset: ${shown(this.preset)}`, () => this.#back(), "quiet small", { hidden: true, "aria-label": `${fieldLabel(name)}: back to ${shown(this.preset)}` });
    this.problem = el("p", { class: "problem", id: `${id}-problem`, "aria-live": "polite" });
    const title = el("label", { for: id, text: fieldLabel(name) });
    const line = kind === "switch" ? [el("span", { class: "switch-line" }, this.input, title), this.back] : [title, this.back];
    this.root = el("div", { class: "field setting" }, el("div", { class: "setting-head" }, ...line),
      ...(kind === "switch" ? [] : [this.input]), el("p", { class: "help", id: `${id}-help`, text: help ?? "" }), this.problem);
    this.set(value);
  }

  value() {
    return this.kind === "switch" ? this.input.checked : this.input.value.trim();
  }

  set(value) {
    if (this.kind === "switch") this.input.checked = Boolean(value);
    else this.input.value = typed(value);
    this.#mark();
  }

  reset() {
    this.set(this.preset);
  }

  differs() {
    return this.value() !== this.preset;
  }

  showError(sentence) {
    this.wrong = sentence !== "";
    this.problem.textContent = sentence;
    if (this.wrong) this.input.setAttribute("aria-invalid", "true");
    else this.input.removeAttribute("aria-invalid");
  }

  show() {
    for (let parent = this.root.parentElement; parent; parent = parent.parentElement) if (parent.tagName === "DETAILS") parent.open = true;
    this.input.focus();
    this.root.scrollIntoView({ block: "center" });
  }

  #back() {
    this.reset();
    this.onChange();
    this.input.focus();
  }

  #changed() {
    this.#mark();
    this.onChange();
  }

  #mark() {
    this.back.hidden = !this.differs();
    this.root.classList.toggle("changed", this.differs());
  }
}

function shown(value) {
  if (typeof value === "boolean") return value ? "on" : "off";
  return value === "" ? "empty" : value;
}

function control(kind, choices, attributes) {
  if (kind === "choice") return el("select", attributes, ...choices.map((choice) => el("option", { value: typed(choice), text: typed(choice) })));
  if (kind === "switch") return el("input", { ...attributes, type: "checkbox" });
  // Numbers are typed as text, so that the server can explain invalid input, which number inputs discard.
  const keys = { integer: "numeric", number: "decimal" }[kind] ?? "text";
  return el("input", { ...attributes, type: "text", inputmode: keys, autocomplete: "off", spellcheck: "false" });
}

/** Debounce: calls `work` when it was not called again for a moment. */
export function debounced(work, milliseconds = 350) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), milliseconds);
  };
}
