// HTTP requests to the studio, with JSON bodies; failures throw an ApiError with a message for the person.

export class ApiError extends Error {
  constructor(sentence, field, status) {
    super(sentence);
    this.sentence = sentence;
    this.field = field;
    this.status = status;
  }
}

export const get = (path) => request("GET", path);
export const post = (path, body = {}) => request("POST", path, body);
export const patch = (path, body) => request("PATCH", path, body);
export const remove = (path) => request("DELETE", path);

/** An ArrayBuffer, such as the frames of a replay. */
export async function bytes(path) {
  const answer = await reach(path, {});
  if (!answer.ok) throw await errorOf(answer);
  return answer.arrayBuffer();
}

async function request(method, path, body) {
  const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  const answer = await reach(path, { method, ...json });
  if (!answer.ok) throw await errorOf(answer);
  return answer.status === 204 ? null : answer.json();
}

async function reach(path, options) {
  try {
    return await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new ApiError("The studio does not answer; is it still running?", null, 0);
  }
}

async function errorOf(answer) {
  let body = {};
  try {
    body = await answer.json();
  } catch {
    // A proxy or a crash responds without JSON; show only the status.
  }
  const sentence = body.sentence ?? `The studio answered this request with status ${answer.status}.`;
  return new ApiError(sentence, body.field ?? null, answer.status);
}
