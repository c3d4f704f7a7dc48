// The WebSocket of the page: messages by kind, frames by room, and subscriptions that are renewed after a reconnect.

const FIRST_PAUSE = 300;
const LONGEST_PAUSE = 3000;

const handlers = new Map(); // kind -> set of functions
const rooms = new Map(); // room id -> set of {state, frame}
const runs = new Map(); // run name -> set of functions
const numbers = new Map(); // the number in a frame -> room id
const early = new Map(); // number -> a frame that arrived before the state with the room's number

let socket = null;
let pause = FIRST_PAUSE;
let boot = null;

export const wire = {
  /** Send a message; false if there is no connection (subscriptions are renewed automatically, commands are not). */
  send(message) {
    if (socket?.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify(message));
    return true;
  },

  /** Call `handler` for every message of a kind, or on "open", "lost" and "restart" of the connection itself. */
  on(kind, handler) {
    const off = add(handlers, kind, handler);
    if (kind === "runs") wire.send({ do: "list" });
    return off;
  },

  /** Watch a room: state(message) and frame(arrayBuffer). */
  watch(room, listener) {
    const off = add(rooms, room, listener);
    wire.send({ do: "watch", room });
    return () => {
      off();
      if (!rooms.has(room)) leave(room);
    };
  },

  /** Follow a run's metrics: handler({summary, lines}). */
  follow(run, handler) {
    const off = add(runs, run, handler);
    wire.send({ do: "follow", run });
    return () => {
      off();
      if (!runs.has(run)) wire.send({ do: "unfollow", run });
    };
  },

  /** Open the connection; called once by main.js. */
  connect() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(`${scheme}//${location.host}/ws`);
    socket.binaryType = "arraybuffer";
    socket.onopen = opened;
    socket.onclose = lost;
    socket.onmessage = ({ data }) => (typeof data === "string" ? onMessage(JSON.parse(data)) : onFrame(data));
  },
};

function add(map, key, value) {
  if (!map.has(key)) map.set(key, new Set());
  map.get(key).add(value);
  return () => {
    const set = map.get(key);
    set?.delete(value);
    if (set?.size === 0) map.delete(key);
  };
}

function leave(room) {
  for (const [number, id] of numbers) if (id === room) numbers.delete(number);
  wire.send({ do: "leave", room });
}

function opened() {
  pause = FIRST_PAUSE;
  numbers.clear();
  early.clear();
  for (const room of rooms.keys()) wire.send({ do: "watch", room });
  for (const run of runs.keys()) wire.send({ do: "follow", run });
  if (handlers.has("runs")) wire.send({ do: "list" });
  emit("open", {});
}

function lost(event) {
  emit("lost", { reason: event.reason });
  setTimeout(wire.connect, pause);
  pause = Math.min(LONGEST_PAUSE, pause * 1.7);
}

function onMessage(message) {
  if (message.kind === "hello") greet(message);
  if (message.kind === "room") onState(message);
  if (message.kind === "run") for (const handler of runs.get(message.run) ?? []) handler(message);
  emit(message.kind, message);
}

/** Another boot id means that the server was restarted, so the data of the views may be stale. */
function greet(message) {
  const restarted = boot !== null && boot !== message.boot;
  boot = message.boot;
  if (restarted) emit("restart", message);
}

function onState(state) {
  numbers.set(state.number, state.room);
  for (const listener of rooms.get(state.room) ?? []) listener.state?.(state);
  const frame = early.get(state.number);
  early.delete(state.number);
  if (frame) onFrame(frame);
}

function onFrame(buffer) {
  const number = new DataView(buffer).getUint16(2, true);
  const room = numbers.get(number);
  if (room === undefined) early.set(number, buffer);
  else for (const listener of rooms.get(room) ?? []) listener.frame?.(buffer);
}

function emit(kind, message) {
  for (const handler of handlers.get(kind) ?? []) handler(message);
}
