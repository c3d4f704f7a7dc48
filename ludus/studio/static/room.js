// A room: the stage, and beside it what this game and these players call for. Also makes rooms (#/play, #/watch).

import { get, post } from "./api.js";
import { confirm, el, toast } from "./dom.js";
import { Drive } from "./drive.js";
import { Finish } from "./finish.js";
import { Moves } from "./moves.js";
import { Seats } from "./seats.js";
import { Stage } from "./stage.js";
import { Turns } from "./turns.js";
import { wire } from "./wire.js";

const LONG_GAME = 10;
const ANSWER_TIME = 500;
/** Whom a person meets first: the strongest who still makes mistakes. */
const KIND_STRENGTH = 4;

export const title = ({ route }) => (route === "watch" ? "Watch" : route === "play" ? "Play" : "Room");

export async function view(root, parameters) {
  if (parameters.route !== "room") return make(root, parameters);
  const state = await get(`/api/rooms/${encodeURIComponent(parameters.name ?? "")}`);
  const room = new Room(root, state, parameters);
  return () => room.close();
}

/** Make a room for a game and go there; the address that made it does not stay in the history. */
async function make(root, { route, name, agent, seed, cars }) {
  root.append(el("h1", { text: "Setting the table …" }));
  const base = (name ?? "").split("(")[0];
  const [games, agents] = await Promise.all([get("/api/games"), get(`/api/games/${encodeURIComponent(base)}/agents`)]);
  const game = games.find((one) => one.name === base) ?? { seats: 1 };
  const drives = route === "play" && game.continuous;
  const seats = route === "play" && !drives ? table(game, agent ?? opponent(agents)) : Array(game.seats).fill(agent ?? agents[0]?.name);
  const body = { game: route === "play" ? byHand(name, game) : name, seats, ...(seed ? { seed: Number(seed) } : {}), ...(cars ? { cars: Number(cars) } : {}) };
  const { room } = await post("/api/rooms", body);
  location.replace(`#/room/${room}${drives ? "?hands=person" : ""}`);
}

/** Where whole plays are one action each (poker hands), a person would rather pick card by card. */
function byHand(name, game) {
  const choosable = game.parameters?.actions?.meaning.includes("elementary");
  return choosable && !name.includes("(") ? `${name}(actions=all)` : name;
}

function opponent(agents) {
  const ours = agents.filter(({ name }) => !name.startsWith("run:"));
  return (ours.find(({ strength }) => strength <= KIND_STRENGTH) ?? ours[0] ?? agents[0])?.name;
}

function table(game, other) {
  return Array.from({ length: game.seats }, (_, seat) => (seat === 0 ? "person" : other));
}

/** Sections of the side are {node, update(state)}, some with close() or frame(stage); each hides itself when it has nothing to say. */
export class Room {
  constructor(root, state, { hands }) {
    this.id = state.room;
    this.state = state;
    this.thoughts = localStorage.getItem("thoughts") !== "hidden";
    this.#build(root, state);
    this.stop = wire.watch(this.id, { state: (next) => this.update(next), frame: (buffer) => this.#frame(buffer) });
    this.keys = (event) => this.#key(event);
    document.addEventListener("keydown", this.keys);
    this.update(state);
    if (hands === "person") this.drive.wheel.take();
  }

  #build(root, state) {
    this.heading = el("h1", { text: state.title });
    this.spoken = el("p", { class: "hushed", "aria-live": "polite" });
    this.turns = new Turns(this);
    this.drive = new Drive(this);
    this.turns.buttons.prepend(this.drive.wheel.grab, this.drive.wheel.back, this.drive.wheel.teach);
    this.moves = new Moves(this);
    this.finish = new Finish(this);
    this.sections = [this.turns, this.finish, this.drive, this.moves, new Seats(this)];
    const board = el("div", { class: "room-board" });
    root.append(el("div", { class: "room" },
      el("div", { class: "room-main" },
        el("div", { class: "room-head" }, this.heading, this.turns.line),
        el("div", { class: "room-table" }, this.turns.bar, board), this.drive.wheel.node, this.turns.buttons, this.drive.wheel.help),
      el("aside", { class: "room-side", "aria-label": "About this room" }, this.sections.map((section) => section.node)), this.spoken));
    this.stage = new Stage(board, { label: state.title, onAction: (action) => this.act(action) });
    board.append(this.drive.wheel.offer);
  }

  update(state) {
    const before = this.state;
    this.state = state;
    document.title = `${state.title} · Ludus`;
    const hadFocus = this.stage.areas.holdsFocus();
    this.stage.room(this.thoughts ? state : { ...state, thoughts: null });
    for (const section of this.sections) section.update(state);
    this.#say(before, state);
    if (state.over && hadFocus) this.turns.again.focus();
  }

  #frame(buffer) {
    this.stage.message(buffer);
    this.drive.frame(this.stage);
    if (this.state.waiting) this.moves.refresh();
  }

  /** Tell who cannot see the board what happened; a room that runs by itself would never stop talking. */
  #say(before, state) {
    if (state.continuous || (!state.you?.length && !state.over)) return;
    if (state.move === before.move && state.over === before.over && this.spoken.textContent) return;
    this.spoken.textContent = [this.turns.lastMove(state), this.turns.headline(state)].filter(Boolean).join(". ");
  }

  send(command) {
    if (!wire.send({ room: this.id, ...command })) toast("There is no connection to the studio; this was not sent.", "bad");
  }

  /** Play a move, once: a key that is held down must not send it again before the room has answered. */
  act(action) {
    const now = performance.now();
    if (this.acted?.move === this.state.move && now < this.acted.at + ANSWER_TIME) return;
    this.acted = { move: this.state.move, at: now };
    this.send({ do: "act", action, move: this.state.move });
  }

  async again() {
    const { over, move, you, continuous } = this.state;
    const losing = !over && !continuous && you?.length && move > LONG_GAME;
    if (losing && !(await confirm("This game is not over. Begin a new one?", "New game"))) return;
    this.send({ do: "again" });
  }

  showThoughts(shown) {
    this.thoughts = shown;
    localStorage.setItem("thoughts", shown ? "shown" : "hidden");
    this.update(this.state);
  }

  #key(event) {
    const typing = event.target.closest?.("input, select, textarea, dialog");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.drive.key(event) || this.turns.key(event)) event.preventDefault();
  }

  close() {
    // The wheel is handed back while the room still listens to this page.
    for (const section of this.sections) section.close?.();
    this.stop();
    document.removeEventListener("keydown", this.keys);
    this.stage.close();
  }
}
