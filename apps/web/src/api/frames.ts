/**
 * Runs callbacks before a frame is painted, so that a stream of 200 events a second costs few renderings. After each
 * run the page has frames of its own for keys and scrolling: one, and more where a rendering took longer than its
 * frames. A frame that paints a key has no run either. A hidden page paints no frames, so a timer stands in.
 */
export class Frames {
  #waiting = new Set<() => void>();
  #cancel: (() => void) | null = null;
  #keys = 0;

  /** `keyboard` says when a key goes down. */
  constructor(keyboard?: Pick<EventTarget, "addEventListener">) {
    const count = () => {
      this.#keys++;
    };
    keyboard?.addEventListener("keydown", count, { capture: true, passive: true });
  }

  request(callback: () => void): void {
    this.#waiting.add(callback);
    this.#cancel ??= this.#next(0);
  }

  /** Runs at the next frame without a key. Whoever holds a key down reads on all the same. */
  #next(passed: number): () => void {
    const keys = this.#keys;
    return schedule((at) => {
      if (at === null || keys === this.#keys || passed >= MOST_KEYS) {
        return this.#run(at);
      }
      this.#cancel?.();
      this.#cancel = this.#next(passed + 1);
    });
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
    const keys = this.#keys;
    this.#cancel = schedule((at) => {
      this.#cancel?.();
      if (at !== null && passed < framesToRest(at - since, passed)) {
        this.#rest(since, passed + 1);
      } else if (at !== null && keys !== this.#keys) {
        this.#cancel = this.#next(1);
      } else {
        this.#run(at);
      }
    });
  }
}

const HIDDEN_WAIT = 200;

/** How long a frame is shown, in milliseconds. */
const FRAME = 1000 / 60;

/** A page that is slow is not made slower to read than this. */
const MOST_RESTS = 4;

/** How many frames with keys pass before a run. */
const MOST_KEYS = 3;

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
