// The core in WebAssembly, npm's ocgcore-wasm, driven by another process over stdin and stdout.
//
// Frames in both directions: u32 length, u8 kind, content. Requests: HELLO, OPEN, RUN, CLOSE. Replies: DONE or FAILED; before that
// any number of PART (partial results), WANT_CARD and WANT_SCRIPT (each is answered with one frame) and LOG (not answered). All
// numbers are little-endian. Messages and query results are passed on unchanged. node.py is the other end; stale_zones.py explains
// which locations are queried.
import { readFileSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [HELLO, OPEN, RUN, CLOSE] = [0, 1, 2, 3];
const [DONE, FAILED, WANT_CARD, WANT_SCRIPT, LOG, PART] = [0, 1, 2, 3, 4, 5];
const [ENDED, AWAITING] = [0, 1];
const [WIN, SELECT_CHAIN, CONFIRM_CARDS, MOVE, CHAIN_SOLVING, CHAIN_SOLVED, CHAIN_END] = [5, 16, 31, 50, 72, 73, 74];
const [POSITION_CHANGE, SET, SUMMONING, SPECIAL_SUMMONING, FLIP_SUMMONING, DRAW] = [53, 54, 60, 62, 64, 90];
const [VISIBLE, SHOW_HIDDEN, ALL_RESULTS] = [0, 1, 2];
const QUERY_ONLY = 0xffff;
const PASS = Buffer.from([255, 255, 255, 255]);
const [DECK, HAND, EXTRA, FACE_DOWN_DEFENSE] = [1, 2, 64, 8];
const [LIFE_POINTS, ALL] = [1 << 14, (1 << 15) - 1];
const VALUE_LOCATIONS = 0b0001110_0001110;
const [PART_SIZE, SCRATCH_SIZE] = [32768, 65536];
// Up to this many bytes are copied faster one by one.
const SHORT = 64;

function receive(length) {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    const count = readSync(0, bytes, at, length - at, null);
    if (count === 0) process.exit(0);
    at += count;
  }
  return bytes;
}

const receiveFrame = () => receive(receive(4).readUInt32LE());

function write(bytes) {
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
}

function send(kind, ...parts) {
  const frame = Buffer.concat([Buffer.alloc(5), ...parts]);
  frame.writeUInt32LE(frame.length - 4);
  frame[4] = kind;
  write(frame);
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
let scriptsLoaded = false;
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
    if (scripts.get(name)) scriptsLoaded = true;
    return scripts.get(name);
  },
});

const view = () => new DataView(core.HEAPU8.buffer);
const scratch = core._malloc(SCRATCH_SIZE);
// Arguments of a query: u32 flags, u8 player, u32 location, and two numbers that stay 0.
const info = core._malloc(20);
core.HEAPU8.fill(0, info, info + 20);

// The number that the core has just written to the start of the scratch memory, usually a length.
const written = () => u32(core.HEAPU8, scratch);
const u32 = (bytes, at) => bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);


// A card in the format of node.py: 48 bytes of numbers, then the codes of its sets and a zero. The package frees the sets itself.
function writeCard(card, pointer) {
  if (card.length === 0) return;
  const sets = core._malloc(card.length - 48);
  core.HEAPU8.set(card.subarray(48), sets);
  core.HEAPU8.set(card.subarray(0, 8), pointer);
  view().setUint32(pointer + 8, sets, true);
  core.HEAPU8.set(card.subarray(8, 48), pointer + 12);
}

// Copies bytes to the scratch memory, where the core can read them until the next call.
function put(bytes, offset = 0) {
  core.HEAPU8.set(bytes, scratch + offset);
  return scratch + offset;
}

// The tables of stale_zones.py, and all queries: u8 count, and for each u8 player, u8 location, u32 flags.
let changes, eventsRead, flagsWithEffects, flagsPlain, queries;
function hello(request) {
  changes = request.subarray(0, 256);
  eventsRead = request.subarray(256, 512);
  const words = Array.from({ length: 28 }, (_, place) => request.readUInt32LE(512 + 4 * place));
  flagsWithEffects = { own: words.slice(0, 7), opponent: words.slice(7, 14) };
  flagsPlain = { own: words.slice(14, 21), opponent: words.slice(21) };
  queries = Array.from({ length: request[624] }, (_, k) => 625 + 6 * k);
  queries = queries.map((at) => ({ player: request[at], location: request[at + 1], flags: request.readUInt32LE(at + 2) }));
  core._ocgapiGetVersion(scratch, scratch + 4);
  return Buffer.from(core.HEAPU8.slice(scratch, scratch + 8));
}

// For each duel: its address in the core, its query flags, and bits of the locations that may have changed: `stale` for full
// queries, `uncounted` for locations of which only the cards are counted.
const duels = new Map();
let lastDuel = 0;

// Seed (4 u64), flags (u64), life points, opening hand, draws (u32 each); then names and texts of scripts, then cards.
function open(request) {
  const options = Buffer.alloc(104);
  request.copy(options, 0, 0, 52);
  request.copy(options, 52, 40, 52);
  const status = core._ocgapiCreateDuel(scratch + 200, put(options));
  if (status !== 0) throw new Error(`OCG_CreateDuel returned ${status}`);
  const duel = view().getUint32(scratch + 200, true);
  for (let at = 52; at < request.length; ) {
    const [kind, length] = [request[at], request.readUInt32LE(at + 1)];
    const part = request.subarray(at + 5, at + 5 + length);
    if (kind === 2) loadScript(duel, part);
    else addCards(duel, kind, part);
    at += 5 + length;
  }
  core._ocgapiStartDuel(duel);
  const byEffects = scriptsLoaded ? VALUE_LOCATIONS : 0;
  const changed = [0, byEffects, byEffects | LIFE_POINTS, ALL];
  const queryFlags = scriptsLoaded ? flagsWithEffects : flagsPlain;
  duels.set(++lastDuel, { duel, changed, queryFlags, stale: ALL, uncounted: ALL, player: 0, resolving: false, shown: false });
  return number(lastDuel);
}

function loadScript(duel, part) {
  const end = part.indexOf(0) + 1;
  const text = part.subarray(end);
  const pointer = core._malloc(text.length + 1);
  core.HEAPU8.set(text, pointer);
  const loaded = core._ocgapiLoadScript(duel, pointer, text.length, put(part.subarray(0, end)));
  core._free(pointer);
  scriptsLoaded = true;
  if (!loaded) throw new Error(`the script ${part.subarray(0, end - 1)} cannot be loaded`);
}

// The main deck from bottom to top, then the extra deck: u32 count and the codes.
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
      core._ocgapiDuelNewCard(duel, put(card));
    }
  }
}

// Output buffer, with room for the header of the frame at the start.
let out = Buffer.alloc(1 << 20);
let end = 5;

function copy(start, length) {
  if (end + length + 4096 > out.length) out = Buffer.concat([out, Buffer.alloc(out.length + length)]);
  const heap = core.HEAPU8;
  if (length > SHORT) out.set(heap.subarray(start, start + length), end);
  else for (let k = 0; k < length; k++) out[end + k] = heap[start + k];
  end += length;
}

function flush(kind) {
  out.writeUInt32LE(end - 4);
  out[4] = kind;
  write(out.subarray(0, end));
  end = 5;
}

// Request: u8 mode; for each duel u32 number, u16 length and the answer. Reply for each duel: u8 over, u32 length and the messages
// (those that node.py reads, or all in mode ALL_RESULTS), u8 number of query results, and for each u8 player, u8 location,
// u32 length and the query result.
function run(request) {
  end = 5;
  for (let at = 1; at < request.length; ) {
    const state = duels.get(u32(request, at));
    const length = request[at + 4] | (request[at + 5] << 8);
    const answer = length === QUERY_ONLY ? null : request.subarray(at + 6, at + 6 + length);
    at += 6 + (answer ? length : 0);
    processUntilChoice(state, answer, request[0] === ALL_RESULTS);
    const count = end++;
    out[count] = request[0] === ALL_RESULTS ? queryAll(state.duel) : queryStale(state, request[0] === SHOW_HIDDEN || state.shown);
    if (end > PART_SIZE && at < request.length) flush(PART);
  }
}

// Sends the answer and runs the duel until a player has a choice; chain prompts without options are passed.
function processUntilChoice(state, answer, everything) {
  const start = end;
  end += 5;
  out[start] = 0;
  state.shown = false;
  if (answer?.length) core._ocgapiDuelSetResponse(state.duel, put(answer), answer.length);
  while (answer) {
    const status = core._ocgapiDuelProcess(state.duel);
    const pointer = core._ocgapiDuelGetMessage(state.duel, scratch);
    const length = written();
    const newest = readMessages(state, pointer, pointer + length, everything);
    if (everything) copy(pointer, length);
    const heap = core.HEAPU8;
    if (status === ENDED || (length > 0 && heap[newest] === WIN)) {
      out[start] = 1;
      break;
    }
    if (status === AWAITING && !offersNothing(heap, newest)) {
      state.player = heap[newest + 1];
      if (!everything) copy(newest - 4, pointer + length - newest + 4);
      break;
    }
    if (status === AWAITING) core._ocgapiDuelSetResponse(state.duel, put(PASS), PASS.length);
  }
  out.writeUInt32LE(end - start - 5, start + 1);
}

// Marks the locations that new messages may have changed; returns the offset of the last message.
function readMessages(state, at, last, everything) {
  const heap = core.HEAPU8;
  let newest = last;
  while (at < last) {
    const length = u32(heap, at);
    newest = at + 4;
    const kind = heap[newest];
    let bits = state.changed[changes[kind]];
    switch (kind) {
      case MOVE:
        bits |= bit(heap[newest + 5], heap[newest + 6]) | bit(heap[newest + 15], heap[newest + 16]);
        break;
      case POSITION_CHANGE:
      case SET:
      case SUMMONING:
      case SPECIAL_SUMMONING:
      case FLIP_SUMMONING:
        bits |= bit(heap[newest + 5], heap[newest + 6]);
        break;
      case DRAW:
        bits |= bit(heap[newest + 1], HAND);
        break;
      case CONFIRM_CARDS:
        state.shown = true;
        break;
      case CHAIN_SOLVING:
        state.resolving = true;
        break;
      case CHAIN_SOLVED:
      case CHAIN_END:
        state.resolving = false;
    }
    state.stale |= bits;
    state.uncounted |= bits;
    if (eventsRead[kind] && !everything) copy(at, length + 4);
    at = newest + length;
  }
  if (state.resolving) {
    state.stale |= VALUE_LOCATIONS;
    state.uncounted |= VALUE_LOCATIONS;
  }
  return newest;
}

const bit = (player, location) => (location & 127 ? 1 << (7 * player + 31 - Math.clz32(location & 127)) : 0);

const offersNothing = (heap, at) => heap[at] === SELECT_CHAIN && heap[at + 3] === 0 && u32(heap, at + 12) === 0;

// Queries the locations that may have changed, as far as the player to act may see them; returns their number.
function queryStale(state, showAll) {
  const { duel, queryFlags } = state;
  const counted = showAll ? 0 : bit(1 - state.player, DECK) | bit(1 - state.player, HAND);
  let due = (state.stale & ~counted) | (state.uncounted & counted);
  let count = 0;
  for (; due; due &= due - 1) {
    const which = due & -due;
    const place = 31 - Math.clz32(which);
    const [player, location] = which === LIFE_POINTS ? [0, 0] : [place < 7 ? 0 : 1, 1 << place % 7];
    const countOnly = which & counted;
    const start = end;
    query(duel, player, location, (countOnly ? queryFlags.opponent : queryFlags.own)[place % 7]);
    if (!countOnly) state.stale &= ~which;
    if (countOnly && location === HAND && queryFlags === flagsWithEffects && anyPublic(start)) {
      end = start;
      query(duel, player, location, queryFlags.own[place % 7]);
      state.stale &= ~which;
    }
    state.uncounted &= ~which;
    count++;
  }
  return count;
}

// Whether a hand queried only for PUBLIC has a public card: 13 bytes per card, the seventh is the flag.
function anyPublic(start) {
  for (let at = start + 10; at < end; at += 13) if (out[at + 6]) return true;
  return false;
}

function queryAll(duel) {
  for (const { player, location, flags } of queries) query(duel, player, location, flags);
  return queries.length;
}

// Location 0 is the whole field.
function query(duel, player, location, flags) {
  const heap = core.HEAPU8;
  heap[info] = flags;
  heap[info + 1] = flags >> 8;
  heap[info + 2] = flags >> 16;
  heap[info + 4] = player;
  heap[info + 8] = location;
  const pointer = location ? core._ocgapiDuelQueryLocation(duel, scratch, info) : core._ocgapiDuelQueryField(duel, scratch);
  const length = written();
  out[end] = player;
  out[end + 1] = location;
  out.writeUInt32LE(length, end + 2);
  end += 6;
  copy(pointer, length);
}

function answer(frame) {
  const request = frame.subarray(1);
  if (frame[0] === RUN) {
    run(request);
    return flush(DONE);
  }
  if (frame[0] === HELLO) return send(DONE, hello(request));
  if (frame[0] === OPEN) return send(DONE, open(request));
  if (frame[0] === CLOSE) {
    core._ocgapiDestroyDuel(duels.get(request.readUInt32LE()).duel);
    duels.delete(request.readUInt32LE());
  }
  send(DONE);
}

for (;;) {
  const frame = receiveFrame();
  try {
    answer(frame);
  } catch (error) {
    send(FAILED, Buffer.from(String(error)));
  }
}
