// One run: its status, live charts, checkpoints, settings and log, and buttons to control it.

import { get, post } from "./api.js";
import { Board } from "./charts.js";
import { checkpointTable } from "./checkpoints.js";
import { attempt, deleteRuns, evaluate, moreSteps, rename } from "./dialogs.js";
import { count, duration, el, number, percent, replace, toast } from "./dom.js";
import { fieldLabel, typed } from "./form.js";
import { History } from "./history.js";
import { api, button, redraw, to } from "./parts.js";
import { Preview } from "./preview.js";
import { wire } from "./wire.js";

export const title = ({ name }) => name ?? "Run";

const KINDS = { training: "accent", paused: "accent", finished: "good", failed: "bad" };
const ALIVE = ["training", "paused"];
const CONTROLS = [
  { verb: "resume", text: ({ status }) => (status === "new" ? "Start" : "Resume"), when: ["new", "paused", "stopped", "failed"], hint: "Continue training" },
  { verb: "pause", text: () => "Pause", when: ["training"], hint: "Pause after this update" },
  { verb: "step", text: () => "One update", when: ["paused"], hint: "Make one update, then pause again" },
  { verb: "save", text: () => "Save", when: ALIVE, hint: "Write a checkpoint now" },
  { verb: "stop", text: () => "Stop", when: ALIVE, hint: "Save and end the trainer; it can be resumed" },
  { verb: "continue", text: () => "Continue …", when: ["finished", "stopped"], hint: "Train for more steps" },
];

/** The status of a run, as a badge. */
export function badge(status) {
  return el("span", { class: `badge ${KINDS[status] ?? ""}`, text: status });
}

export async function view(root, { name }) {
  const page = new RunPage(root, name);
  await page.open();
  return () => page.close();
}

class RunPage {
  constructor(root, name) {
    this.name = name;
    this.path = api("runs", name);
    this.head = el("header", { class: "run-head" });
    this.alert = el("div", { role: "alert" });
    this.facts = el("div");
    this.controls = el("div", { class: "toolbar", role: "group", "aria-label": "Training" });
    this.jobs = el("div");
    this.charts = el("div");
    this.side = el("aside", { class: "run-side", "aria-label": "The agent" });
    this.checkpoints = el("section", { class: "panel", "aria-labelledby": "checkpoints" });
    this.settings = el("details", { class: "panel fold" });
    this.elsewhere = el("details", { class: "panel fold" });
    this.log = el("pre", { class: "log", tabindex: "0", role: "log", "aria-label": "Log" });
    this.logFold = el("details", { class: "panel fold", ontoggle: () => this.#readLog() }, el("summary", {}, el("h2", { text: "Log" })), this.log);
    root.append(this.head, this.alert, el("section", { class: "panel", "aria-label": "Progress" }, this.facts, this.controls), this.jobs,
      el("div", { class: "run-body" }, this.charts, this.side), this.checkpoints, this.elsewhere, this.settings, this.logFold);
  }

  async open() {
    const [run, metrics] = await Promise.all([get(this.path), get(`${this.path}/metrics?points=2000`)]);
    this.#take(run);
    this.#showSettings();
    this.#showCommands();
    this.preview = new Preview(this.side, this.run.game, `run:${this.name}`);
    this.board = new Board(this.charts, [new History(this.name, metrics)]);
    this.board.tools.append(el("a", { class: "button quiet small", href: `${this.path}/metrics.csv`, download: `${this.name}.csv`, text: "CSV" }));
    this.stop = wire.follow(this.name, (message) => this.#received(message));
    this.clock = setInterval(() => this.#look(), 3000);
    await this.board.open();
  }

  close() {
    clearInterval(this.clock);
    this.stop?.();
    this.board?.close();
    this.preview?.close();
  }

  #received({ summary, lines }) {
    this.board.append(this.name, lines);
    const more = summary.checkpoints !== this.run.checkpoints.length;
    this.#take({ ...this.run, ...summary, checkpoints: this.run.checkpoints });
    if (more || !ALIVE.includes(summary.status)) this.#refresh();
  }

  /** Old checkpoints are deleted when new ones are saved, so an equal number does not mean that none is new. */
  #look() {
    this.#readLog();
    if (ALIVE.includes(this.run.status)) this.#refresh();
  }

  async #refresh() {
    this.#take(await get(this.path).catch(() => this.run));
  }

  /** Show the present state of a run; redraws only what has changed. */
  #take(run) {
    const before = this.run;
    this.run = run;
    const changed = (facts) => !before || JSON.stringify(facts(before)) !== JSON.stringify(facts(run));
    if (changed(({ title: name, tags, status, sentence }) => [name, tags, status, sentence])) this.#showStatus();
    if (changed(({ checkpoints }) => checkpoints)) redraw(this.checkpoints, el("h2", { id: "checkpoints", text: "Checkpoints" }), checkpointTable(run));
    this.#showFacts();
  }

  #showStatus() {
    this.#showHead();
    this.#showFailure();
    this.#showControls();
    this.#readLog();
  }

  #showHead() {
    const { run } = this;
    const again = `${to("train", run.game.split("(")[0])}?from=${encodeURIComponent(run.name)}`;
    redraw(this.head,
      el("div", {}, el("h1", {}, run.title || run.name, " ", badge(run.status)),
        el("p", { class: "muted" }, el("span", { text: [run.title && run.name, run.game, run.algorithm].filter(Boolean).join(" · ") }), run.tags.map((tag) => el("span", { class: "badge plain tag", text: tag })))),
      el("div", { class: "toolbar" },
        button("Title and tags", async () => (await rename(run)) && this.#refresh(), "quiet small"),
        button("Evaluate", () => evaluate(run, this.jobs), "quiet small", { disabled: !run.checkpoints.length }),
        el("a", { class: "button quiet small", href: again, text: "Train again with these settings" }),
        button("Delete", async () => (await deleteRuns([run])) && (location.hash = "#/runs"), "quiet small")));
  }

  #showFailure() {
    const { status, sentence, checkpoints } = this.run;
    if (status !== "failed") return void replace(this.alert);
    const advice = `${checkpoints.length ? "Resume continues from the newest checkpoint" : "No checkpoint was saved; fix the problem and resume"}, or train again with other settings. The log below has the full output.`;
    replace(this.alert, el("div", { class: "panel failure" }, el("h2", { text: "Training failed" }), el("p", { text: sentence ?? "The trainer ended without an error message." }), el("p", { class: "muted", text: advice })));
    this.logFold.open = true;
  }

  #showFacts() {
    const { steps, of, score, low, high, steps_per_second: speed, seconds, left, status } = this.run;
    const share = of ? Math.min(1, steps / of) : 0;
    const spread = low == null || high == null ? "" : `${number(low)} to ${number(high)} at 95%`;
    const facts = [
      ["Steps", number(steps), `of ${number(of)}`],
      ["Score", number(score), spread],
      ["Speed", status === "training" ? number(speed) : "–", "steps per second"],
      ["Trained", duration(seconds), ""],
      ["Left", status === "training" ? duration(left) : "–", ""],
    ];
    const bar = el("progress", { max: "1", value: share, "aria-label": `Progress: ${percent(share)}` });
    replace(this.facts, bar, el("div", { class: "stats" }, facts.map(([label, value, note]) =>
      el("div", { class: "stat" }, el("span", { text: label }), el("span", { text: value }), note ? el("small", { text: note }) : null))));
  }

  #showControls() {
    redraw(this.controls, CONTROLS.map(({ verb, text, when, hint }) => {
      const fits = when.includes(this.run.status);
      const kind = fits && ["resume", "pause"].includes(verb) ? "primary" : "";
      return button(text(this.run), () => this.#command(verb), kind, { title: hint, disabled: !fits });
    }));
  }

  async #command(verb) {
    if (verb === "continue") return void ((await moreSteps(this.run)) && this.#refresh());
    const done = await attempt(() => post(`${this.path}/${verb}`));
    if (done && verb === "save") toast("A checkpoint will be saved after this update.");
    if (done) this.#refresh();
  }

  #showSettings() {
    const rows = Object.entries(this.run.settings).map(([name, value]) => el("div", {}, el("dt", { text: name.includes(".") ? name.replaceAll("_", " ") : fieldLabel(name) }), el("dd", { text: typed(value) || "–" })));
    replace(this.settings, el("summary", {}, el("h2", { text: "Settings" }), el("span", { class: "muted", text: count(rows.length, "value") })), el("dl", { class: "settings-list" }, rows));
  }

  #showCommands() {
    const rows = this.run.commands.map(({ what, command }) => [el("p", { text: what }), el("pre", { class: "command", tabindex: "0", text: command })]);
    replace(this.elsewhere, el("summary", {}, el("h2", { text: "Use elsewhere" }), el("span", { class: "muted", text: "over HTTP, in other programs" })), rows.flat());
  }

  async #readLog() {
    if (!this.logFold.open || (this.read && !ALIVE.includes(this.run?.status) && this.read === this.run?.status)) return;
    const atEnd = this.log.scrollTop + this.log.clientHeight >= this.log.scrollHeight - 20;
    const { lines } = await get(`${this.path}/log?lines=200`).catch(() => ({ lines: ["The log could not be read."] }));
    this.read = this.run?.status;
    this.log.textContent = lines.join("\n") || "The log is empty.";
    if (atEnd) this.log.scrollTop = this.log.scrollHeight;
  }
}
