// All metrics of one run as columns of equal length, and functions to smooth and sample them.

const MOST = 4000; // maximum number of points per run; beyond this older ones are thinned out
const HIDDEN = new Set(["step", "time", "seconds", "score_low", "score_high", "finite"]);

export class History {
  constructor(run, { step, seconds, columns }) {
    this.run = run;
    this.step = [...step];
    this.seconds = [...seconds];
    this.columns = new Map(Object.entries(columns));
    this.#thin();
  }

  get names() {
    return [...this.columns.keys()].filter((name) => !HIDDEN.has(name));
  }

  append(lines) {
    for (const line of lines) {
      // A resumed run repeats the steps after its checkpoint, so remove them from the curve.
      while (this.step.length && this.step.at(-1) >= line.step) this.#each((values) => values.pop());
      const before = this.step.length;
      for (const name of Object.keys(line)) if (!this.columns.has(name)) this.columns.set(name, Array(before).fill(null));
      for (const [name, values] of this.columns) values.push(line[name] ?? null);
      this.seconds.push(line.seconds ?? this.seconds.at(-1) ?? 0);
      this.step.push(line.step);
    }
    this.#thin();
  }

  /** x and y of one metric, without the steps at which it was not measured. */
  points(column, axis) {
    const values = this.columns.get(column) ?? [];
    const places = [...values.keys()].filter((place) => values[place] !== null);
    return [places.map((place) => this[axis][place]), places.map((place) => values[place])];
  }

  #each(work) {
    for (const values of [this.step, this.seconds, ...this.columns.values()]) work(values);
  }

  #thin() {
    const length = this.step.length;
    if (length <= MOST) return;
    const scores = this.columns.get("score") ?? [];
    // Scores are few, so all of them are kept.
    const stays = (_, place) => place >= length - MOST / 2 || place % 2 === 0 || (scores[place] ?? null) !== null;
    const kept = this.step.map(stays);
    this.#each((values) => values.splice(0, length, ...values.filter((_, place) => kept[place])));
  }
}

/** Exponential moving average with weight 0 (no smoothing) to 0.99, with bias correction at the start. */
export function smoothed(values, weight) {
  let mean = 0;
  let share = 1;
  return values.map((value) => {
    mean = weight * mean + (1 - weight) * value;
    share *= weight;
    return mean / (1 - share);
  });
}

/** The index of the number that is nearest to a value. */
export function nearest(sorted, value) {
  let [low, high] = [0, sorted.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle;
    else high = middle;
  }
  return value - sorted[low] < sorted[high] - value ? low : high;
}

/** At most about `most` of the points, evenly spaced, always with the last. */
export function sampled([x, y], most) {
  const stride = Math.max(1, Math.ceil(x.length / most));
  return x.map((step, place) => [step, y[place]]).filter((_, place) => place % stride === 0 || place === x.length - 1);
}
