// Dialogs for runs: title, tags, more steps, evaluation, deletion.

import { patch, post, remove } from "./api.js";
import { confirm, count, el, field, number, toast, unique } from "./dom.js";
import { followJob } from "./jobs.js";
import { api, button } from "./parts.js";

const path = (run) => api("runs", run);

/** A dialog with named controls; resolves to the typed values, or null if cancelled. */
export function ask(heading, controls, verb) {
  const id = unique("dialog");
  return new Promise((answer) => {
    const submit = (event) => {
      event.preventDefault();
      dialog.close("yes");
    };
    const closed = () => {
      dialog.remove();
      const typed = Object.fromEntries(Object.entries(controls).map(([name, { control }]) => [name, control.value.trim()]));
      answer(dialog.returnValue === "yes" ? typed : null);
    };
    const dialog = el("dialog", { class: "dialog", "aria-labelledby": id, onclose: closed },
      el("form", { class: "dialog-form", onsubmit: submit },
        el("h2", { id, text: heading }),
        ...Object.values(controls).map(({ label, control, help }) => field(label, control, help)),
        el("div", { class: "toolbar end" },
          button("Cancel", () => dialog.close("")),
          el("button", { class: "button primary", type: "submit", text: verb }))));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Do something with the studio and show an error if it fails; resolves to whether it succeeded. */
export async function attempt(work) {
  try {
    await work();
    return true;
  } catch (error) {
    if (!error.sentence) throw error;
    toast(error.sentence, "bad");
    return false;
  }
}

export async function rename(run) {
  const typed = await ask(`Name ${run.name}`, {
    title: { label: "Title", control: el("input", { value: run.title ?? "", maxlength: "80" }), help: `If empty, the run is shown as ${run.name}.` },
    tags: { label: "Tags", control: el("input", { value: (run.tags ?? []).join(", ") }), help: "Separated by commas, such as: baseline, wide network" },
  }, "Save");
  if (!typed) return false;
  return attempt(() => patch(path(run.name), { title: typed.title, tags: words(typed.tags) }));
}

export async function addTag(runs) {
  const typed = await ask(`Tag ${count(runs.length, "run")}`, { tags: { label: "Tags to add", control: el("input", { required: true }), help: "Separated by commas" } }, "Add");
  if (!typed) return false;
  return attempt(() => Promise.all(runs.map((run) => patch(path(run.name), { tags: [...new Set([...run.tags, ...words(typed.tags)])] }))));
}

export async function moreSteps(run) {
  const control = el("input", { value: String(2 * run.of), inputmode: "numeric", required: true });
  const typed = await ask(`Continue ${run.name}`, { steps: { label: "Total steps", control, help: `The run has made ${number(run.steps)} steps; give a larger number.` } }, "Continue");
  if (!typed) return false;
  return attempt(() => post(`${path(run.name)}/continue`, { steps: Number(typed.steps.replaceAll(/[\s_,]/g, "")) }));
}

export async function deleteRuns(runs) {
  const names = runs.map((run) => run.name).join(", ");
  const what = runs.length === 1 ? `the run ${names}` : `${runs.length} runs (${names})`;
  const verb = runs.length === 1 ? `Delete ${names}` : `Delete ${runs.length} runs`;
  if (!(await confirm(`Delete ${what} with all checkpoints, metrics and logs? This cannot be undone.`, verb))) return false;
  const done = await attempt(async () => {
    for (const { name } of runs) await remove(`${path(name)}?confirm=${encodeURIComponent(name)}`);
  });
  if (done) toast(`Deleted: ${names}.`, "good");
  return done;
}

/** Evaluate the newest checkpoint and show the score. */
export async function evaluate(run, place) {
  const typed = await ask(`Evaluate ${run.name}`, {
    games: { label: "Games", control: el("input", { value: "400", inputmode: "numeric", required: true }) },
    against: { label: "Against", control: el("input", { value: "random" }), help: "An agent such as random or perfect; ignored in games with one seat." },
  }, "Evaluate");
  if (!typed) return;
  await attempt(async () => {
    const { job } = await post(`${path(run.name)}/evaluate`, { games: Number(typed.games), against: typed.against });
    const { result } = await followJob(place, job, `Evaluating ${run.name}`);
    if (!result) return;
    const { estimate, low, high } = result.score;
    toast(`${run.name} scores ${number(estimate)} (${number(low)} to ${number(high)}, 95%) in ${count(Number(typed.games), "game")}.`, "good");
  });
}

function words(text) {
  return text.split(",").map((word) => word.trim()).filter(Boolean);
}
