// npm's ocgcore-wasm alone: plays recorded duels by their answers, and looks at nothing. Tells the seconds of processor that took.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = join(process.argv[2], "node_modules", "ocgcore-wasm", "lib");
const factory = (await import(pathToFileURL(join(folder, "ocgcore.sync.mjs")))).default;
const { cards, duels, scripts, first, laps } = JSON.parse(readFileSync(process.argv[3]));
const packed = new Map(Object.entries(cards).map(([code, bytes]) => [Number(code), Buffer.from(bytes, "hex")]));
const core = await factory({
  wasmBinary: readFileSync(join(folder, "ocgcore.sync.wasm")),
  handleDataReader(_payload, code, pointer) {
    const card = packed.get(code);
    const sets = core._malloc(card.length - 48);
    core.HEAPU8.set(card.subarray(48), sets);
    core.HEAPU8.set(card.subarray(0, 8), pointer);
    view().setUint32(pointer + 8, sets, true);
    core.HEAPU8.set(card.subarray(8, 48), pointer + 12);
  },
  handleScriptReader: (_payload, _duel, name) => scripts[name] ?? "",
});
const view = () => new DataView(core.HEAPU8.buffer);
const scratch = core._malloc(4096);
const PASS = Buffer.from([255, 255, 255, 255]);

function put(bytes) {
  core.HEAPU8.set(bytes, scratch);
  return scratch;
}

function load(duel, name) {
  const text = Buffer.from(scripts[name]);
  const pointer = core._malloc(text.length + 1);
  core.HEAPU8.set(text, pointer);
  core._ocgapiLoadScript(duel, pointer, text.length, put(Buffer.from(`${name}\0`)));
  core._free(pointer);
}

function open({ seed, decks }) {
  const options = Buffer.alloc(104);
  options.writeUInt32LE(seed, 0);
  options.writeUInt32LE(0x2e800, 32);
  for (const at of [40, 52]) [8000, 5, 1].forEach((number, place) => options.writeUInt32LE(number, at + 4 * place));
  core._ocgapiCreateDuel(scratch + 200, put(options));
  const duel = view().getUint32(scratch + 200, true);
  for (const name of first) load(duel, name);
  decks.forEach((parts, player) => {
    for (const [k, place] of [1, 64].entries()) {
      for (const code of parts[k]) {
        const card = Buffer.alloc(24);
        card[0] = card[8] = player;
        card.writeUInt32LE(code, 4);
        card.writeUInt32LE(place, 12);
        card.writeUInt32LE(8, 20);
        core._ocgapiDuelNewCard(duel, put(card));
      }
    }
  });
  core._ocgapiStartDuel(duel);
  return duel;
}

function play(recorded) {
  const duel = open(recorded);
  let given = 0;
  for (;;) {
    const status = core._ocgapiDuelProcess(duel);
    const start = core._ocgapiDuelGetMessage(duel, scratch);
    const heap = view();
    const end = start + heap.getUint32(scratch, true);
    let newest = start;
    for (let at = start; at < end; at += 4 + heap.getUint32(at, true)) newest = at + 4;
    const kind = heap.getUint8(newest);
    if (status === 0 || kind === 5) break;
    if (status !== 1) continue;
    const nothing = kind === 16 && heap.getUint8(newest + 3) === 0 && heap.getUint32(newest + 12, true) === 0;
    const answer = nothing ? PASS : recorded.bytes[given++];
    core._ocgapiDuelSetResponse(duel, put(answer), answer.length);
  }
  if (given !== recorded.bytes.length) throw new Error(`took ${given} of ${recorded.bytes.length} answers`);
  core._ocgapiDestroyDuel(duel);
}

for (const duel of duels) duel.bytes = duel.answers.map((answer) => Buffer.from(answer, "hex"));
let spent;
for (let lap = 0; lap < laps; lap++) {
  const begun = process.cpuUsage();
  for (const duel of duels) play(duel);
  spent = process.cpuUsage(begun);
}
console.log((spent.user + spent.system) / 1e6);
