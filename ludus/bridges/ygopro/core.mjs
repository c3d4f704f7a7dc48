// The real core in WebAssembly, npm's ocgcore-wasm, driven by another process over stdin and stdout.
//
// Frames both ways: u32 length, u8 kind, the rest. Asked: VERSION, OPEN, RUN, CLOSE. Answered: DONE or FAILED; before
// that, as often as the core needs it, WANT_CARD and WANT_SCRIPT, each of which is answered by one frame, and LOG, which is not.
// All numbers are little-endian. Messages and queries pass as the core wrote them; node.py is the other end.
import { readFileSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [VERSION, OPEN, RUN, CLOSE] = [0, 1, 2, 3];
const [DONE, FAILED, WANT_CARD, WANT_SCRIPT, LOG] = [0, 1, 2, 3, 4];
const [ENDED, AWAITING] = [0, 1];
const [WIN, SELECT_CHAIN] = [5, 16];
const PASS = Buffer.from([255, 255, 255, 255]);
const [DECK, EXTRA, FACE_DOWN_DEFENSE] = [1, 64, 8];

function receive(length) {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; ) {
    const count = readSync(0, bytes, at, length - at, null);
    if (count === 0) process.exit(0);
    at += count;
  }
  return bytes;
}

const receiveFrame = () => receive(receive(4).readUInt32LE());

function send(kind, ...parts) {
  const frame = Buffer.concat([Buffer.alloc(5), ...parts]);
  frame.writeUInt32LE(frame.length - 4);
  frame[4] = kind;
  for (let at = 0; at < frame.length; ) at += writeSync(1, frame, at);
}

function number(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

const folder = join(process.argv[2], "node_modules", "ocgcore-wasm");
const factory = (await import(pathToFileURL(join(folder, "lib", "ocgcore.sync.mjs")))).default;
const cards = new Map();
const scripts = new Map();
const core = await factory({
  wasmBinary: readFileSync(join(folder, "lib", "ocgcore.sync.wasm")),
  print: (text) => send(LOG, Buffer.from(text)),
  printErr: (text) => send(LOG, Buffer.from(text)),
  handleLogHandler: (_payload, text) => send(LOG, Buffer.from(text)),
  handleDataReader(_payload, code, pointer) {
    if (!cards.has(code)) {
      send(WANT_CARD, number(code));
      cards.set(code, receiveFrame());
    }
    writeCard(cards.get(code), pointer);
  },
  handleScriptReader(_payload, _duel, name) {
    if (!scripts.has(name)) {
      send(WANT_SCRIPT, Buffer.from(name));
      scripts.set(name, receiveFrame().toString());
    }
    return scripts.get(name);
  },
});

const view = () => new DataView(core.HEAPU8.buffer);

// A card as node.py packs it: 48 bytes of numbers, then the codes of its sets and a zero. The package frees these itself.
function writeCard(card, pointer) {
  if (card.length === 0) return;
  const sets = core._malloc(card.length - 48);
  core.HEAPU8.set(card.subarray(48), sets);
  core.HEAPU8.set(card.subarray(0, 8), pointer);
  view().setUint32(pointer + 8, sets, true);
  core.HEAPU8.set(card.subarray(8, 48), pointer + 12);
}

function onStack(bytes, work) {
  const stack = core.stackSave();
  try {
    const pointer = core.stackAlloc(bytes.length);
    core.HEAPU8.set(bytes, pointer);
    return work(pointer);
  } finally {
    core.stackRestore(stack);
  }
}

function copyOf(give) {
  return onStack(Buffer.alloc(4), (length) => {
    const start = give(length);
    return Buffer.from(core.HEAPU8.slice(start, start + view().getUint32(length, true)));
  });
}

function version() {
  return onStack(Buffer.alloc(8), (pointer) => {
    core._ocgapiGetVersion(pointer, pointer + 4);
    return Buffer.from(core.HEAPU8.slice(pointer, pointer + 8));
  });
}

// seed (4 u64), flags (u64), life, opening hand, draws (u32 each); then names and texts of scripts, then cards.
function open(asked) {
  const options = Buffer.alloc(104);
  asked.copy(options, 0, 0, 52);
  asked.copy(options, 52, 40, 52);
  const duel = onStack(Buffer.alloc(4), (place) => {
    const status = onStack(options, (pointer) => core._ocgapiCreateDuel(place, pointer));
    if (status !== 0) throw new Error(`OCG_CreateDuel says ${status}`);
    return view().getUint32(place, true);
  });
  for (let at = 52; at < asked.length; ) {
    const [kind, length] = [asked[at], asked.readUInt32LE(at + 1)];
    const part = asked.subarray(at + 5, at + 5 + length);
    if (kind === 2) loadScript(duel, part);
    else addCards(duel, kind, part);
    at += 5 + length;
  }
  core._ocgapiStartDuel(duel);
  return number(duel);
}

function loadScript(duel, part) {
  const end = part.indexOf(0) + 1;
  const text = part.subarray(end);
  const pointer = core._malloc(text.length + 1);
  core.HEAPU8.set(text, pointer);
  const right = onStack(part.subarray(0, end), (name) => core._ocgapiLoadScript(duel, pointer, text.length, name));
  core._free(pointer);
  if (!right) throw new Error(`the script ${part.subarray(0, end - 1)} does not load`);
}

// Player, then the main deck from bottom to top and the extra deck: u32 how many, and their codes.
function addCards(duel, player, part) {
  let at = 0;
  for (const place of [DECK, EXTRA]) {
    const end = at + 4 + 4 * part.readUInt32LE(at);
    for (at += 4; at < end; at += 4) {
      const card = Buffer.alloc(24);
      card[0] = card[8] = player;
      card.writeUInt32LE(part.readUInt32LE(at), 4);
      card.writeUInt32LE(place, 12);
      card.writeUInt32LE(FACE_DOWN_DEFENSE, 20);
      onStack(card, (pointer) => core._ocgapiDuelNewCard(duel, pointer));
    }
  }
}

// Answers, processes until there is something to choose (a chain prompt that offers nothing is passed), and looks at all places:
// u8 how many, and for each u8 player, u8 location, u32 what. Gives whether it is over, the messages, what is in the places.
function run(duel, asked) {
  const end = 1 + 6 * asked[0];
  const [over, messages] = proceed(duel, asked.subarray(end));
  const seen = [Buffer.concat(messages)];
  for (let at = 1; at < end; at += 6) seen.push(look(duel, asked[at], asked[at + 1], asked.readUInt32LE(at + 2)));
  return [Buffer.from([over]), ...seen.flatMap((bytes) => [number(bytes.length), bytes])];
}

function proceed(duel, response) {
  const messages = [];
  if (response.length) respond(duel, response);
  for (;;) {
    const status = core._ocgapiDuelProcess(duel);
    messages.push(copyOf((length) => core._ocgapiDuelGetMessage(duel, length)));
    const newest = last(messages.at(-1));
    if (status === ENDED || newest[0] === WIN) return [1, messages];
    if (status !== AWAITING) continue;
    if (!offersNothing(newest)) return [0, messages];
    respond(duel, PASS);
  }
}

const respond = (duel, bytes) => onStack(bytes, (pointer) => core._ocgapiDuelSetResponse(duel, pointer, bytes.length));

function last(messages) {
  let message = messages;
  for (let at = 0; at < messages.length; at += 4 + messages.readUInt32LE(at)) message = messages.subarray(at + 4);
  return message;
}

const offersNothing = (message) => message[0] === SELECT_CHAIN && message[3] === 0 && message.readUInt32LE(12) === 0;

// Location 0 is the field as a whole.
function look(duel, player, location, what) {
  if (location === 0) return copyOf((length) => core._ocgapiDuelQueryField(duel, length));
  const query = Buffer.alloc(20);
  query.writeUInt32LE(what);
  query[4] = player;
  query.writeUInt32LE(location, 8);
  return onStack(query, (pointer) => copyOf((length) => core._ocgapiDuelQueryLocation(duel, length, pointer)));
}

function answer(frame) {
  const asked = frame.subarray(1);
  if (frame[0] === VERSION) return [version()];
  if (frame[0] === OPEN) return [open(asked)];
  const [duel, rest] = [asked.readUInt32LE(), asked.subarray(4)];
  if (frame[0] === RUN) return run(duel, rest);
  if (frame[0] === CLOSE) core._ocgapiDestroyDuel(duel);
  return [];
}

for (;;) {
  const frame = receiveFrame();
  try {
    send(DONE, ...answer(frame));
  } catch (error) {
    send(FAILED, Buffer.from(String(error)));
  }
}
