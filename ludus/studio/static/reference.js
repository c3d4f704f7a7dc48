// The API reference: all routes by tag, from the server's OpenAPI description, and the WebSocket messages.

import { get } from "./api.js";
import { el, replace } from "./dom.js";
import { rowHead, table } from "./parts.js";

const METHODS = ["get", "post", "patch", "put", "delete"];

const SENT = [
  ["watch, leave", '{"do": "watch", "room": id}', "frames and state of a room"],
  ["follow, unfollow", '{"do": "follow", "run": name}', "the metrics that a run writes"],
  ["list", '{"do": "list"}', "whenever the list of runs changes"],
  ["act", '{"do": "act", "room": id, "action": 4, "move": 7}', "play a move; \"move\" is the number of moves played before it"],
  ["undo, hint, tick", '{"do": "hint", "room": id}', "undo a move, request a hint, make one step while paused"],
  ["again", '{"do": "again", "room": id, "seed": 3}', "start a new game; the seed is optional"],
  ["set", '{"do": "set", "room": id, "speed": 2}', "speed, paused, swarm, ghost, imagine, seats"],
  ["control, input", '{"do": "input", "room": id, "action": [0.2, 1]}', "who controls a continuous game, and the action of a person in control"],
];
const RECEIVED = [
  ["hello", "boot and version of the server"],
  ["room", "the state of a room without its picture: whose turn, legal moves, thoughts, result"],
  ["run", "the summary of a run and its new lines of metrics, at most four times per second"],
  ["runs", "the list of runs has changed"],
  ["error", "an error message"],
  ["binary", "a frame: all shapes of the picture, or those that changed"],
];
const DASHBOARD = [
  ["/video_feed", "the game as a stream of pictures (multipart)"],
  ["/start, /stop, /reset", "start training, stop and pause, start a new game"],
  ["/toggle_control, /control", "change who has control, and set the action of a person by the names of the controls"],
  ["/stats", "rewards, losses and the state of the game"],
  ["/save_model, /load_model?file=, /list_models", "save a checkpoint, let a saved one play, list all"],
];

function operations(api) {
  return Object.entries(api.paths).flatMap(([path, item]) => METHODS.filter((method) => item[method]).map((method) => ({ path, method, ...item[method] })));
}

function byTag(found) {
  const groups = new Map();
  for (const one of found) {
    const tag = one.tags?.[0] ?? "other";
    groups.set(tag, [...(groups.get(tag) ?? []), one]);
  }
  return groups;
}

/** Resolve a $ref to the schema itself. */
function resolved(api, schema) {
  const name = schema?.$ref?.split("/").at(-1);
  return name ? api.components.schemas[name] : (schema ?? {});
}

function kind(api, schema) {
  const found = resolved(api, schema);
  if (found.anyOf) return found.anyOf.map((one) => kind(api, one)).join(" or ");
  if (found.enum) return found.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (found.type === "array") return `list of ${kind(api, found.items)}`;
  return found.title && found.type === "object" ? found.title : (found.type ?? "anything");
}

function inputs(api, operation) {
  const parameters = (operation.parameters ?? []).map((one) => ({ name: one.name, where: one.in, required: one.required, schema: one.schema, help: one.description }));
  const [content] = Object.values(operation.requestBody?.content ?? {});
  const body = resolved(api, content?.schema);
  const fields = Object.entries(body.properties ?? {}).map(([name, schema]) => ({ name, where: "body", required: (body.required ?? []).includes(name), schema, help: schema.description }));
  return [...parameters, ...fields];
}

function facts(heads, rows) {
  return table(heads.join(", "), heads, rows.map(([first, ...rest]) => el("tr", {}, rowHead(el("code", { text: first })), rest.map((part) => el("td", {}, part)))));
}

function shown(api, operation) {
  const rows = inputs(api, operation).map(({ name, where, required, schema, help }) => {
    const preset = schema?.default === undefined || schema.default === null ? "" : ` (${JSON.stringify(schema.default)})`;
    return [name, `${where}${required ? "" : ", optional"}`, `${kind(api, schema)}${preset}`, help ?? ""];
  });
  const answers = Object.keys(operation.responses ?? {}).filter((code) => code < "400").join(", ");
  return el("details", { class: "panel operation" },
    el("summary", {}, el("span", { class: `method ${operation.method}`, text: operation.method.toUpperCase() }), el("code", { text: operation.path }), el("span", { class: "muted", text: operation.summary ?? "" })),
    operation.description ? el("p", { text: operation.description }) : null,
    rows.length ? facts(["Name", "Where", "Kind", "Meaning"], rows) : el("p", { class: "muted", text: "No parameters." }),
    el("p", { class: "muted", text: `Responds with ${answers}; errors are {"sentence": "…", "field": "…"}.` }));
}

function section(id, heading, ...parts) {
  return el("section", { class: "view", "aria-labelledby": id }, el("h2", { id, text: heading }), ...parts);
}

function page(api) {
  const groups = [...byTag(operations(api))];
  const links = [...groups.map(([tag]) => [`tag-${tag}`, tag]), ["socket", "WebSocket"], ["dashboard", "Dashboard"]];
  const code = (text) => el("code", { text });
  return el("div", { class: "view" },
    el("h1", { text: "API reference" }),
    el("p", { class: "muted", text: `${api.info.title} ${api.info.version}. JSON over HTTP, and one WebSocket for live updates.` }),
    el("nav", { class: "toolbar", "aria-label": "Contents" }, links.map(([id, text]) => el("a", { class: "button small", href: `#${id}`, text }))),
    groups.map(([tag, found]) => section(`tag-${tag}`, tag.charAt(0).toUpperCase() + tag.slice(1), el("div", { class: "operations" }, found.map((one) => shown(api, one))))),
    section("socket", "WebSocket /ws", el("div", { class: "panel" }, el("h3", { text: "To the server" }), facts(["Command", "Message", "Meaning"], SENT.map(([command, example, meaning]) => [command, code(example), meaning]))),
      el("div", { class: "panel" }, el("h3", { text: "To the page" }), facts(["Kind", "Meaning"], RECEIVED))),
    section("dashboard", "Dashboard for one game", el("div", { class: "panel" }, facts(["Path", "Meaning"], DASHBOARD))));
}

const kept = localStorage.getItem("theme");
if (kept) document.documentElement.dataset.theme = kept;
const main = document.getElementById("main");
try {
  replace(main, page(await get("/api/openapi.json")));
} catch (error) {
  replace(main, el("p", { class: "empty", role: "alert", text: error.sentence ?? "The reference could not be shown." }));
}
