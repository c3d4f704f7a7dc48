// The gallery of games.
import { el } from "./dom.js";
export const title = "Gallery";
export function view(root) {
  root.append(el("h1", { text: "Gallery" }));
}
