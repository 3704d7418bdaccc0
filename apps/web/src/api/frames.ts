/**
 * Runs callbacks before a frame is painted, so that a stream of 200 events a second costs few renderings. After each
 * run the page has frames of its own for keys and scrolling: one, and more where a rendering took longer than its
 * frames. A hidden page paints no frames, so a timer stands in.
 */
export class Frames {
  #waiting = new Set<() => void>();
  #cancel: (() => void) | null = null;

  request(callback: () => void): void {
    this.#waiting.add(callback);
    this.#cancel ??= schedule((at) => this.#run(at));
  }

  #run(at: number | null): void {
    this.#cancel?.();
    this.#cancel = null;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    if (waiting.length > 0 && at !== null) {
      this.#rest(at, 0);
    }
    for (const callback of waiting) {
      callback();
    }
  }

  /** Lets frames pass: what a run changed is drawn by the second one after it. */
  #rest(since: number, passed: number): void {
    this.#cancel = schedule((at) => {
      this.#cancel?.();
      if (at === null || passed >= framesToRest(at - since, passed)) {
        this.#run(at);
      } else {
        this.#rest(since, passed + 1);
      }
    });
  }
}

const HIDDEN_WAIT = 200;

/** How long a frame is shown, in milliseconds. */
const FRAME = 1000 / 60;

/** A page that is slow is not made slower to read than this. */
const MOST_RESTS = 4;

/** How many frames pass between two runs, by how long the ones that passed took. */
export function framesToRest(took: number, passed: number): number {
  const missed = Math.max(0, Math.round(took / FRAME) - passed - 1);
  return Math.min(MOST_RESTS, 1 + Math.ceil(missed / 2));
}

/** Runs at the next frame, with its time; with null where the page paints none. */
function schedule(run: (at: number | null) => void): () => void {
  const timer = setTimeout(() => run(null), HIDDEN_WAIT);
  const frame = typeof requestAnimationFrame === "function" ? requestAnimationFrame(run) : 0;
  return () => {
    clearTimeout(timer);
    if (frame) {
      cancelAnimationFrame(frame);
    }
  };
}
