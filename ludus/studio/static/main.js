// The application shell: routes to lazily loaded views, theme, connection banner, focus and title for every route.
// A view module exports view(root, parameters) -> cleanup | undefined (may be async) and title (text or function of
// the parameters). Parameters: {route, name (the part after the route, if any), ...query parameters after "?"}.

import { capital, el, replace, stylesheet, toast } from "./dom.js";
import { wire } from "./wire.js";

const RUNS = "/static/runs.css";
const ROUTES = {
  "": { load: () => import("./gallery.js") },
  room: { load: () => import("./room.js") },
  watch: { load: () => import("./room.js") },
  play: { load: () => import("./room.js") },
  train: { load: () => import("./train.js"), style: RUNS, tab: "train" },
  run: { load: () => import("./run.js"), style: RUNS, tab: "runs" },
  runs: { load: () => import("./runs.js"), style: RUNS, tab: "runs" },
  replays: { load: () => import("./replays.js"), style: RUNS, tab: "replays" },
  replay: { load: () => import("./replays.js"), style: RUNS, tab: "replays" },
  battle: { load: () => import("./battle.js"), style: RUNS, tab: "battle" },
};
const LOST = { load: async () => ({ title: "Nothing here", view: nothingHere }) };

const page = document.getElementById("main");
let cleanup = null;
let turn = 0;

function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [route, ...rest] = path.split("/");
  return { ...Object.fromEntries(new URLSearchParams(query)), route, name: readable(rest.join("/")) };
}

function readable(text) {
  try {
    return decodeURIComponent(text) || undefined;
  } catch {
    return text;
  }
}

/** Show the view of the address; if the address changes while a view loads, that view is cleaned up and not shown. */
async function show(moveFocus) {
  turn += 1;
  const mine = turn;
  const parameters = parse(location.hash);
  const route = ROUTES[parameters.route] ?? LOST;
  markTab(parameters.route === "" ? "" : route.tab);
  try {
    const [module] = await Promise.all([route.load(), route.style ? stylesheet(route.style) : null]);
    if (mine !== turn) return;
    const root = open(module, parameters);
    const done = await module.view(root, parameters);
    if (mine !== turn) return void done?.();
    cleanup = done ?? null;
  } catch (problem) {
    if (mine !== turn) return;
    replace(page, sorry(problem));
  }
  if (moveFocus) focusHeading();
}

function open(module, parameters) {
  cleanup?.();
  cleanup = null;
  const title = typeof module.title === "function" ? module.title(parameters) : module.title;
  document.title = title ? `${title} · Ludus` : "Ludus studio";
  const root = el("div", { class: "view" });
  replace(page, root);
  window.scrollTo(0, 0);
  return root;
}

function markTab(tab) {
  for (const link of document.querySelectorAll("nav [data-route]")) {
    if (link.dataset.route === tab) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function focusHeading() {
  const heading = page.querySelector("h1") ?? page;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

function nothingHere(root) {
  root.append(el("div", { class: "empty" },
    el("h1", { text: "There is nothing at this address" }),
    el("p", { text: "The room or run may have been deleted." }),
    el("a", { class: "button primary", href: "#/", text: "To the gallery" })));
}

function sorry(problem) {
  if (!problem.sentence) console.error(problem);
  const gone = problem.status === 404;
  const again = el("button", { class: "button primary", type: "button", text: "Try again", onclick: () => show(true) });
  return el("div", { class: "empty", role: "alert" },
    el("h1", { text: gone ? "There is nothing at this address" : "This view could not be shown" }),
    el("p", { text: capital(problem.sentence ?? "a part of the page failed to load; reload the page.") }),
    el("div", { class: "toolbar" }, gone ? null : again, el("a", { class: `button ${gone ? "primary" : ""}`, href: "#/", text: "To the gallery" })));
}

function theme() {
  return document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark");
}

function keepTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  const other = theme() === "dark" ? "light" : "dark";
  const button = document.getElementById("theme");
  button.setAttribute("aria-label", `Use the ${other} theme`);
  button.title = `Use the ${other} theme`;
  // Charts redraw in the colours of the new theme.
  if (name) document.dispatchEvent(new CustomEvent("theme", { detail: name }));
}

function switchTheme() {
  const name = theme() === "dark" ? "light" : "dark";
  localStorage.setItem("theme", name);
  keepTheme(name);
}

function connection() {
  const banner = document.getElementById("banner");
  const say = (sentence) => Object.assign(banner, { hidden: !sentence, textContent: sentence });
  let waiting = 0;
  // A restart of the server takes a moment; show the banner only if the connection stays lost.
  wire.on("lost", () => (waiting ||= setTimeout(say, 400, "Connection lost; reconnecting …")));
  wire.on("open", () => {
    clearTimeout(waiting);
    waiting = 0;
    say("");
  });
  wire.on("error", ({ sentence }) => toast(sentence, "bad"));
  wire.on("hello", greet);
  wire.on("restart", () => show(false));
  wire.connect();
}

let version = null;

/** Reload the page if the server has a newer version. */
function greet(message) {
  if (version !== null && version !== message.version) location.reload();
  version = message.version;
  document.getElementById("version").textContent = `Ludus ${version}`;
}

keepTheme(localStorage.getItem("theme"));
document.getElementById("theme").addEventListener("click", switchTheme);
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  page.focus();
});
addEventListener("hashchange", () => show(true));
connection();
show(false);
