// Background jobs of the server: shows their progress, a button to stop them, and returns the result.

import { ApiError, get, post } from "./api.js";
import { el, number } from "./dom.js";
import { button } from "./parts.js";

const PAUSE = 400; // milliseconds between two requests for the progress

/** Show a job's progress in `place` until it ends; resolves to the job, rejects with an ApiError if it failed. */
export async function followJob(place, job, what) {
  const bar = el("progress", { max: "1", value: 0, "aria-label": what });
  const progress = el("span", { class: "muted numbers", text: "starting" });
  const stop = button("Stop", () => post(`/api/jobs/${job}/stop`).catch(() => {}), "small");
  const row = el("div", { class: "panel job", role: "status" }, el("strong", { text: what }), bar, progress, stop);
  place.append(row);
  try {
    return await ended(job, row, ({ done, total }) => {
      bar.value = total ? done / total : 0;
      progress.textContent = total ? `${number(done)} of ${number(total)} games` : "starting";
    });
  } finally {
    row.remove();
  }
}

async function ended(job, row, show) {
  for (;;) {
    const state = await get(`/api/jobs/${job}`);
    show(state);
    if (state.status === "failed") throw new ApiError(state.sentence ?? "The job failed without an error message.", null, 0);
    // If the person has left this view, stop polling; the job continues.
    if (state.status !== "running" || !row.isConnected) return state;
    await new Promise((wake) => setTimeout(wake, PAUSE));
  }
}
