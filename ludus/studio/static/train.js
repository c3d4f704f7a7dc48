// Start a run: choose a game, an algorithm and its settings, which are checked while they are typed.

import { get, post } from "./api.js";
import { count, el, field, replace, select, toast } from "./dom.js";
import { debounced, Form, typed } from "./form.js";
import { api, button, to } from "./parts.js";

export const title = ({ name }) => (name ? `Train ${name}` : "Train");

export async function view(root, { name, algorithm, from }) {
  const games = (await get("/api/games")).filter((game) => game.algorithms.length);
  if (!name) return void root.append(...chooser(games));
  const game = games.find((one) => one.name === name) ?? { name, title: name, summary: "", parameters: {}, algorithms: [] };
  const desk = new Desk(root, games, game);
  const source = from ? (await get(api("runs", from))).settings : {};
  await desk.open(algorithm ?? source.algorithm, source);
}

function chooser(games) {
  const cards = games.map((game) =>
    el("a", { class: "card game-card", href: to("train", game.name) },
      el("img", { src: game.picture, alt: "", width: 320, height: 240, loading: "lazy" }),
      el("span", { class: "card-text" }, el("strong", { text: game.title }), el("span", { class: "muted", text: game.summary }),
        el("small", { text: game.algorithms.length > 3 ? count(game.algorithms.length, "algorithm") : game.algorithms.map((name) => name.replaceAll("_", " ")).join(", ") }))));
  return [
    el("h1", { text: "Train an agent" }),
    el("p", { class: "muted", text: "Choose a game to learn. Every game comes with settings that are known to work." }),
    el("div", { class: "grid game-grid" }, ...cards),
  ];
}

/** The form for a new run. */
class Desk {
  constructor(root, games, game) {
    this.game = game;
    this.check = debounced(() => this.#check());
    this.place = el("div", { class: "form-place" });
    this.status = el("p", { class: "muted", role: "status" });
    this.problem = el("p", { class: "problem", role: "alert" });
    this.start = el("button", { class: "button primary", type: "submit", text: "Start training" });
    this.undo = button("Reset all", () => this.#reset(), "quiet", { hidden: true });
    this.algorithm = select([], undefined, { onchange: () => this.open(this.algorithm.value, {}) });
    const other = select(games.map((one) => ({ name: one.name, label: one.title })), game.name, {
      onchange: (event) => (location.hash = to("train", event.target.value)),
    });
    const send = (event) => {
      event.preventDefault();
      this.#send();
    };
    root.append(
      el("h1", { text: `Train ${game.title}` }),
      el("div", { class: "panel train-head" },
        game.picture ? el("img", { src: game.picture, alt: "", width: 160, height: 120 }) : null,
        el("div", {}, el("p", { text: game.summary }), el("div", { class: "pair" }, field("Game", other), field("Algorithm", this.algorithm)))),
      el("form", { class: "train-form", novalidate: true, onsubmit: send },
        this.place,
        el("div", { class: "panel train-foot" }, el("div", {}, this.status, this.problem), el("div", { class: "toolbar" }, this.undo, this.start))));
  }

  /** Show the settings of an algorithm; `values` replace those of its preset. */
  async open(algorithm, values) {
    const query = algorithm ? `?algorithm=${encodeURIComponent(algorithm)}` : "";
    const form = await get(api("forms", this.game.name) + query);
    replace(this.algorithm, form.algorithms.map((name) => el("option", { value: name, text: name.replaceAll("_", " ") })));
    this.algorithm.value = form.algorithm;
    const changed = () => {
      this.#count();
      this.check();
    };
    this.settings = new Form(form.groups, changed);
    this.parameters = new Form(parameterGroups(this.game), changed);
    replace(this.place, this.parameters.root, this.settings.root);
    this.settings.fill(values);
    this.parameters.fill(parametersOf(values.game ?? ""));
    this.#count();
  }

  #reset() {
    this.settings.reset();
    this.parameters.reset();
  }

  #count() {
    const changes = Object.keys(this.settings.changes()).length + Object.keys(this.parameters.changes()).length;
    this.status.textContent = changes ? `${count(changes, "setting")} changed from the preset` : "All settings as in the preset";
    this.undo.hidden = changes === 0;
  }

  #body() {
    const own = Object.entries(this.parameters.changes());
    const game = own.length ? `${this.game.name}(${own.map(([key, value]) => `${key}=${value}`).join(", ")})` : this.game.name;
    return { game, algorithm: this.algorithm.value, values: this.settings.changes() };
  }

  /** Whether all settings are valid; errors are shown at their fields. */
  async #check() {
    const body = this.#body();
    try {
      const { errors } = await post(api("forms", body.game, "check"), body);
      this.#showErrors(errors);
      return Object.keys(errors).length === 0;
    } catch (error) {
      if (!error.sentence) throw error;
      this.#showErrors({ [this.#about(error)]: error.sentence });
      return false;
    }
  }

  #showErrors(errors) {
    this.parameters.showErrors(errors);
    const elsewhere = this.settings.showErrors(errors).filter((sentence) => !this.#isShown(sentence));
    this.problem.textContent = elsewhere.join(" ");
  }

  /** The field that an error is about; for parameters of the game the server sends only the message. */
  #about({ field: name, sentence = "" }) {
    return Object.keys(this.parameters.changes()).find((key) => sentence.includes(key)) ?? name ?? "";
  }

  #isShown(sentence) {
    return [...this.parameters.fields.values()].some((one) => one.problem.textContent === sentence);
  }

  async #send() {
    this.start.disabled = true;
    try {
      if (!(await this.#check())) return void (this.settings.showFirstError() || this.parameters.showFirstError());
      const { run } = await post("/api/runs", this.#body());
      location.hash = `#/run/${encodeURIComponent(run)}`;
    } catch (error) {
      this.#showErrors({ [this.#about(error)]: error.sentence ?? "The run could not be started." });
      toast(error.sentence ?? "The run could not be started.", "bad");
    } finally {
      this.start.disabled = false;
    }
  }
}

function parameterGroups(game) {
  const fields = Object.entries(game.parameters).map(([name, { default: value, meaning, options }]) =>
    ({ name, kind: options?.length ? "choice" : "text", choices: options, value: typed(value), help: meaning }));
  return fields.length ? [{ title: "The game", fields }] : [];
}

/** {key: "7"} of "game(key=7)". */
function parametersOf(game) {
  const inside = game.match(/\((.*)\)$/)?.[1] ?? "";
  return Object.fromEntries(inside.split(",").map((part) => part.split("=").map((word) => word.trim())).filter((pair) => pair.length === 2));
}
