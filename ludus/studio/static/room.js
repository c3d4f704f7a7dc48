// A room: the stage, and beside it the sections that suit game and players. Also creates rooms (#/play, #/watch).

import { get, post } from "./api.js";
import { confirm, el, toast } from "./dom.js";
import { Finish } from "./finish.js";
import { Live } from "./live.js";
import { Moves } from "./moves.js";
import { Seats } from "./seats.js";
import { Stage } from "./stage.js";
import { Turns } from "./turns.js";
import { wire } from "./wire.js";

const LONG_GAME = 10;
const ANSWER_TIME = 500;
/** Maximum strength of the default opponent of a person, so that it still makes mistakes. */
const KIND_STRENGTH = 4;

export const title = ({ route }) => (route === "watch" ? "Watch" : route === "play" ? "Play" : "Room");

export async function view(root, parameters) {
  if (parameters.route !== "room") return make(root, parameters);
  const state = await get(`/api/rooms/${encodeURIComponent(parameters.name ?? "")}`);
  const room = new Room(root, state, parameters);
  return () => room.close();
}

/** Create a room for a game and go there; the address that created it is replaced in the history. */
async function make(root, { route, name, agent, seed, swarm }) {
  root.append(el("h1", { text: "Opening a room …" }));
  const base = (name ?? "").split("(")[0];
  const [games, agents] = await Promise.all([get("/api/games"), get(`/api/games/${encodeURIComponent(base)}/agents`)]);
  const game = games.find((one) => one.name === base) ?? { seats: 1 };
  const live = route === "play" && game.continuous;
  const seats = route === "play" && !live ? table(game, agent ?? opponent(agents)) : Array(game.seats).fill(agent ?? agents[0]?.name);
  const body = { game: route === "play" ? byHand(name, game) : name, seats, ...(seed ? { seed: Number(seed) } : {}), ...(swarm ? { swarm: Number(swarm) } : {}) };
  const { room } = await post("/api/rooms", body);
  location.replace(`#/room/${room}${live ? "?hands=person" : ""}`);
}

/** The game with the parameters that it declares for play by a person, unless others are given. */
function byHand(name, game) {
  const own = Object.entries(game.parameters ?? {}).filter(([, { by_hand: value }]) => value).map(([key, { by_hand: value }]) => `${key}=${value}`);
  return own.length && !name.includes("(") ? `${name}(${own.join(", ")})` : name;
}

function opponent(agents) {
  const ours = agents.filter(({ name }) => !name.startsWith("run:"));
  return (ours.find(({ strength }) => strength <= KIND_STRENGTH) ?? ours[0] ?? agents[0])?.name;
}

function table(game, other) {
  return Array.from({ length: game.seats }, (_, seat) => (seat === 0 ? "person" : other));
}

/** Sections of the side are {node, update(state)}, some with close() or frame(stage); each hides itself when it is empty. */
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
    if (hands === "person") this.live.controls.take();
  }

  #build(root, state) {
    this.heading = el("h1", { text: state.title });
    this.spoken = el("p", { class: "visually-hidden", "aria-live": "polite" });
    this.turns = new Turns(this);
    this.live = new Live(this);
    this.turns.buttons.prepend(this.live.controls.grab, this.live.controls.back, this.live.controls.teach);
    this.moves = new Moves(this);
    this.finish = new Finish(this);
    this.sections = [this.turns, this.finish, this.live, this.moves, new Seats(this)];
    const board = el("div", { class: "room-board" });
    root.append(el("div", { class: "room" },
      el("div", { class: "room-main" },
        el("div", { class: "room-head" }, this.heading, this.turns.line, this.turns.preparation),
        el("div", { class: "room-table" }, this.turns.bar, board), this.live.controls.node, this.turns.buttons, this.live.controls.help),
      el("aside", { class: "room-side", "aria-label": "About this room" }, this.sections.map((section) => section.node)), this.spoken));
    this.stage = new Stage(board, { label: state.title, onAction: (action) => this.act(action) });
    board.append(this.live.controls.offer);
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
    this.live.frame(this.stage);
    if (this.state.waiting) this.moves.refresh();
  }

  /** Announce moves to screen readers; not in rooms where only agents play, which would never stop. */
  #say(before, state) {
    if (state.continuous || (!state.you?.length && !state.over)) return;
    if (state.move === before.move && state.over === before.over && this.spoken.textContent) return;
    this.spoken.textContent = [this.turns.lastMove(state), this.turns.headline(state)].filter(Boolean).join(". ");
  }

  send(command) {
    if (!wire.send({ room: this.id, ...command })) toast("The command was not sent, because there is no connection to the studio.", "bad");
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
    if (losing && !(await confirm("This game is not over. Start a new one?", "New game"))) return;
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
    if (this.live.key(event) || this.turns.key(event)) event.preventDefault();
  }

  close() {
    // Give control back before the page leaves the room.
    for (const section of this.sections) section.close?.();
    this.stop();
    document.removeEventListener("keydown", this.keys);
    this.stage.close();
  }
}
