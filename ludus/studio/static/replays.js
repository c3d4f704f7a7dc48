// Saved replays: the list, and a player for one of them, forwards, backwards and at any speed.

import { bytes, get, remove } from "./api.js";
import { attempt } from "./dialogs.js";
import { confirm, count, el, number, replace, select, toast } from "./dom.js";
import { Stage } from "./stage.js";
import { api, button, cell, emptiness, moment, rowHead, section, table, to } from "./parts.js";

export const title = ({ route, name }) => (route === "replay" ? `Replay ${name}` : "Replays");

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const QUICK = 30; // steps per second of games with so many steps that they are not single moves
const CALM = 1.5;
const MANY = 400; // moves; with more, the list of moves is not shown
const ENDINGS = { over: "finished", cut: "cut off", open: "not finished" };

export async function view(root, { route, name, at }) {
  if (route !== "replay" || !name) return list(root);
  const path = api("replays", name);
  const [replay, frames] = await Promise.all([get(path), bytes(`${path}/frames`)]);
  const player = new Player(root, replay, unpacked(frames));
  player.seek(Number(at) || 0);
  return () => player.close();
}

async function list(root) {
  const replays = await get("/api/replays");
  const place = el("div", {});
  root.append(el("h1", { text: "Replays" }), place);
  if (!replays.length) return void replace(place, emptiness("No replays yet", "Play or watch a game, and save it there with “Save replay”.", "#/", "To the gallery"));
  replace(place, el("div", { class: "panel flush" }, table("Replays", ["Replay", "Game", "Agents", "Result", ">Steps", ""], replays.map(row), "stacked")));
}

function row(replay) {
  const gone = async () => (await deleted(replay)) && line.remove();
  const line = el("tr", {}, rowHead(el("a", { href: to("replay", replay.name), text: replay.name }), el("small", { text: moment(replay.created) })),
    cell("Game", replay.game), cell("Agents", replay.agents.join(" against ")), cell("Result", result(replay)), cell(">Steps", number(replay.steps)),
    el("td", {}, button("Delete", gone, "quiet small", { "aria-label": `Delete ${replay.name}` })));
  return line;
}

async function deleted({ name }) {
  if (!(await confirm(`Delete the replay ${name}? This cannot be undone.`, "Delete"))) return false;
  return attempt(() => remove(api("replays", name)));
}

function result({ returns, ending }) {
  const numbers = returns.map((value) => number(value)).join(" : ");
  return ending === "over" ? numbers : `${numbers}, ${ENDINGS[ending] ?? ending}`;
}

/** The messages of a file of frames: a count, then each message preceded by its length. */
export function unpacked(buffer) {
  const numbers = new DataView(buffer);
  const messages = [];
  for (let place = 4; messages.length < numbers.getUint32(0, true); ) {
    const length = numbers.getUint32(place, true);
    messages.push(buffer.slice(place + 4, place + 4 + length));
    place += 4 + length;
  }
  return messages;
}

/** Whether a frame is complete; others contain only changes since the previous one. Pixel frames always are. */
function whole(message) {
  const [version, flags] = new Uint8Array(message, 0, 2);
  return version === 2 || (flags & 1) === 1;
}

class Player {
  constructor(root, replay, frames) {
    Object.assign(this, { replay, frames, at: -1, speed: 1, playing: false });
    this.last = frames.length - 1;
    this.stageplace = el("div", { class: "replay-stage" });
    this.play = button("", () => this.toggle(), "primary play");
    this.scrubber = el("input", { type: "range", min: "0", max: String(this.last), value: "0", "aria-label": "Position in the game", oninput: () => this.#halt(Number(this.scrubber.value)) });
    this.status = el("p", { class: "muted numbers" });
    this.moves = el("ol", { class: "moves" });
    root.append(this.#heading(), el("div", { class: "replay", onkeydown: (event) => this.#key(event) },
      el("div", { class: "panel" }, this.stageplace, this.scrubber, this.#controls(), this.status), this.#list()));
    this.stage = new Stage(this.stageplace, { label: `Replay of ${replay.game}` });
    this.stage.room({ frame: replay.frame, legal: [] });
    this.#mark();
  }

  close() {
    this.#pause();
    this.stage.close();
  }

  toggle() {
    if (this.playing) return this.#pause();
    this.playing = true;
    if (this.at >= this.last) this.seek(0);
    this.started = { time: performance.now(), at: this.at };
    this.#mark();
    this.#tick();
  }

  seek(wanted) {
    const place = Math.max(0, Math.min(this.last, Math.round(wanted)));
    if (place === this.at || this.last < 0) return;
    let from = place;
    while (from > 0 && !whole(this.frames[from])) from -= 1;
    // Going forwards, continue from the frame that is already on the stage.
    if (this.at >= from && this.at < place) from = this.at + 1;
    for (let frame = from; frame <= place; frame += 1) this.stage.message(this.frames[frame]);
    this.at = place;
    this.#show();
  }

  /** Advance by elapsed time, not by calls, so that a slow page skips frames and keeps the pace. */
  #tick() {
    if (!this.playing) return;
    const passed = (performance.now() - this.started.time) / 1000;
    this.seek(Math.floor(this.started.at + passed * this.speed * this.#pace()));
    if (this.at >= this.last) return this.#pause();
    this.timer = requestAnimationFrame(() => this.#tick());
  }

  #pace() {
    return this.replay.pace ?? (this.last > 120 ? QUICK : CALM);
  }

  #pause() {
    this.playing = false;
    cancelAnimationFrame(this.timer);
    this.#mark();
  }

  #halt(place) {
    this.#pause();
    this.seek(place);
  }

  #mark() {
    this.play.textContent = this.playing ? "Pause" : "Play";
    if (!this.playing && this.at >= 0) this.#keepPlace();
  }

  /** Put the position into the address, so that it can be bookmarked and shared. */
  #keepPlace() {
    history.replaceState(null, "", `${to("replay", this.replay.name)}?at=${this.at}`);
  }

  #show() {
    const move = this.replay.moves?.[this.at - 1];
    const words = this.at === 0 ? "the beginning" : move ? `after ${move}` : "";
    this.scrubber.value = String(this.at);
    this.scrubber.setAttribute("aria-valuetext", `${this.at} of ${this.last}${words ? `, ${words}` : ""}`);
    this.status.textContent = `${number(this.at)} of ${number(this.last)}${words ? ` · ${words}` : ""}${this.at === this.last ? ` · ${result(this.replay)}` : ""}`;
    this.moves.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const current = this.moves.children[this.at - 1]?.firstChild;
    current?.setAttribute("aria-current", "step");
    // Only the list itself scrolls; the page stays where it is.
    if (current) this.moves.scrollTop = current.offsetTop - this.moves.clientHeight / 2;
    if (!this.playing) this.#keepPlace();
  }

  #heading() {
    const { name, game, agents } = this.replay;
    return el("div", { class: "run-head" },
      el("div", {}, el("h1", { text: `${game}: ${agents.join(" against ")}` }), el("p", { class: "muted", text: `${name} · ${result(this.replay)}` })),
      el("div", { class: "toolbar" },
        button("Copy link to this position", () => this.#share()),
        button("Delete", async () => (await deleted(this.replay)) && (location.hash = "#/replays"), "quiet")));
  }

  #controls() {
    const step = (text, label, move) => button(text, () => this.#halt(move()), "", { "aria-label": label });
    const speed = select(SPEEDS.map((value) => ({ name: String(value), label: `${value}×` })), "1", { "aria-label": "Speed", onchange: (event) => this.#setSpeed(Number(event.target.value)) });
    return el("div", { class: "toolbar player" },
      step("«", "To the beginning", () => 0), step("−1", "One step back", () => this.at - 1), this.play,
      step("+1", "One step forward", () => this.at + 1), step("»", "To the end", () => this.last), speed);
  }

  #setSpeed(speed) {
    this.speed = speed;
    this.started = { time: performance.now(), at: this.at };
  }

  #list() {
    const { moves } = this.replay;
    if (!moves?.length || moves.length > MANY) return null;
    this.moves.append(...moves.map((move, place) => el("li", {}, el("button", { type: "button", text: move, onclick: () => this.#halt(place + 1) }))));
    return section("moves", count(moves.length, "move"), this.moves);
  }

  /** Keyboard: space plays and pauses, arrows step. */
  #key(event) {
    const inButton = event.target.tagName === "BUTTON" || event.target.tagName === "SELECT";
    const stepped = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === " " && !inButton) this.toggle();
    else if (stepped && event.target !== this.scrubber && event.target.tagName !== "SELECT") this.#halt(this.at + stepped);
    else return;
    event.preventDefault();
  }

  async #share() {
    this.#keepPlace();
    const link = location.href;
    try {
      await navigator.clipboard.writeText(link);
      toast("The link to this position was copied to the clipboard.", "good");
    } catch {
      // Browsers offer the clipboard only on localhost or with TLS.
      toast(`Copy this link: ${link}`);
    }
  }
}
