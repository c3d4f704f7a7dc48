// Work that takes a while on the server: its progress, a way to stop it, and its result.

import { ApiError, get, post } from "./api.js";
import { el, number } from "./dom.js";
import { button } from "./parts.js";

const PAUSE = 400; // milliseconds between two looks

/** Show a job's progress in `place` until it ends; the answer is the job, or a sentence is thrown. */
export async function followJob(place, job, what) {
  const bar = el("progress", { max: "1", value: 0, "aria-label": what });
  const told = el("span", { class: "muted numbers", text: "starting" });
  const stop = button("Stop", () => post(`/api/jobs/${job}/stop`).catch(() => {}), "small");
  const row = el("div", { class: "panel job", role: "status" }, el("strong", { text: what }), bar, told, stop);
  place.append(row);
  try {
    return await ended(job, row, ({ done, total }) => {
      bar.value = total ? done / total : 0;
      told.textContent = total ? `${number(done)} of ${number(total)} games` : "starting";
    });
  } finally {
    row.remove();
  }
}

async function ended(job, row, tell) {
  for (;;) {
    const state = await get(`/api/jobs/${job}`);
    tell(state);
    if (state.status === "failed") throw new ApiError(state.sentence ?? "It failed without a word.", null, 0);
    // Whoever has left the page does not wait any more; the job goes on without being watched.
    if (state.status !== "running" || !row.isConnected) return state;
    await new Promise((wake) => setTimeout(wake, PAUSE));
  }
}
