// The gallery: an introduction, the runs that are training now, and a card for every game.

import { get } from "./api.js";
import { capital, duration, el, number, percent, replace } from "./dom.js";
import { wire } from "./wire.js";

export const title = "Gallery";
const EXPECTED_GAMES = 9;
const BUSY = new Set(["training", "paused"]);

export async function view(root) {
  const bench = el("section", { class: "panel bench", "aria-labelledby": "bench" });
  const cards = el("div", { class: "grid gallery", "aria-busy": "true" }, Array.from({ length: EXPECTED_GAMES }, blank));
  root.append(hero(bench), el("h2", { class: "visually-hidden", text: "Games" }), cards);
  const close = keepBench(bench);
  try {
    const games = await get("/api/games");
    replace(cards, games.map(card));
    cards.removeAttribute("aria-busy");
  } catch (problem) {
    close();
    throw problem;
  }
  return close;
}

function hero(bench) {
  return el("div", { class: "hero" },
    el("div", { class: "hero-words" },
      el("h1", { text: "Play, watch, train." }),
      el("p", { class: "lead", text: "Play against an agent, watch what it thinks, or train one to learn a game from scratch." })),
    bench);
}

function blank() {
  return el("div", { class: "card game", "aria-hidden": "true" }, el("div", { class: "shot" }), el("div", { class: "game-words" }));
}

function card(game) {
  const at = encodeURIComponent(game.name);
  const best = el("p", { class: "game-best" });
  showBest(game, best);
  return el("article", { class: "card game", "aria-labelledby": `game-${game.name}` },
    el("a", { class: "shot", href: game.playable ? `#/play/${at}` : `#/watch/${at}`, tabindex: -1, "aria-hidden": "true" }, picture(game)),
    el("div", { class: "game-words" }, el("h3", { id: `game-${game.name}`, text: game.title }), el("p", { class: "muted", text: capital(game.summary) }), best),
    el("div", { class: "game-links" }, links(game, at)));
}

function links(game, at) {
  const link = (verb, route, kind) => el("a", { class: `button ${kind}`, href: `#/${route}/${at}`, "aria-label": `${verb} ${game.title}`, text: verb });
  return [game.playable ? link("Play", "play", "primary") : null, link("Watch", "watch", ""), link("Train", "train", "quiet")];
}

/** The game's picture, or its first letter if there is none. */
function picture(game) {
  const image = el("img", { src: game.picture, alt: "", loading: "lazy", decoding: "async", width: 480, height: 300 });
  image.addEventListener("error", () => image.replaceWith(el("span", { class: "initial", text: game.title.slice(0, 1) })));
  return image;
}

async function showBest(game, place) {
  try {
    const [best] = await get(`/api/games/${encodeURIComponent(game.name)}/agents`);
    if (best) place.append(el("b", { text: best.label }), ` ${best.note}`);
  } catch {
    // Show the card without its best agent; the room shows the error.
  }
}

/** Show the runs that are training, with live updates; returns a function that stops them. */
function keepBench(bench) {
  const rows = new Map();
  const forget = () => [...rows.values()].forEach((row) => row.stop());
  const fetchRuns = async () => {
    const runs = await get("/api/runs").catch(() => []);
    const busy = runs.filter((run) => BUSY.has(run.status));
    forget();
    rows.clear();
    for (const run of busy) rows.set(run.name, benchRow(run));
    replace(bench, el("h2", { id: "bench", text: "Training now" }), rows.size ? [...rows.values()].map((row) => row.node) : idle());
  };
  const off = wire.on("runs", fetchRuns);
  replace(bench, el("h2", { id: "bench", text: "Training now" }));
  fetchRuns();
  return () => {
    off();
    forget();
  };
}

function idle() {
  return [el("p", { class: "muted", text: "Nothing is training at the moment." }), el("p", {}, el("a", { href: "#/train", text: "Train an agent" }))];
}

function benchRow(run) {
  const fill = el("span");
  const figures = el("small", { class: "numbers" });
  const share = el("span", { class: "numbers" });
  const show = (summary) => {
    const done = Math.min(1, summary.steps / Math.max(1, summary.of));
    fill.style.width = `${100 * done}%`;
    share.textContent = percent(done);
    figures.textContent = benchWords(summary);
  };
  const node = el("a", { class: "bench-row", href: `#/run/${encodeURIComponent(run.name)}` },
    el("span", { class: "bench-name", text: run.title || run.name }), share, el("span", { class: "progress", "aria-hidden": "true" }, fill), figures);
  show(run);
  return { node, stop: wire.follow(run.name, ({ summary }) => summary && show(summary)) };
}

function benchWords({ steps, of, score, left, status }) {
  const parts = [`${number(steps)} of ${number(of)} steps`];
  if (score !== null && score !== undefined) parts.push(`score ${number(score)}`);
  if (status === "paused") parts.push("paused");
  else if (left) parts.push(`${duration(left)} left`);
  return parts.join(" · ");
}
