/**
 * Runs callbacks before a frame is painted, so that a stream of 200 events a second causes few renderings. After each
 * run it leaves one frame free for keys and scrolling, and more when a rendering took longer than a frame. It also
 * skips a frame that paints a key press. A hidden page paints no frames and uses a timer instead.
 */
export class Frames {
  #waiting = new Set<() => void>();
  #cancel: (() => void) | null = null;
  #keys = 0;

  /** `keyboard` reports key presses. */
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

  /** Runs at the next frame without a key press. A key that is held down does not stop the runs. */
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

  /** Skips frames: the second frame after a run paints what it changed. */
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

/** The duration of one frame, in milliseconds. */
const FRAME = 1000 / 60;

/** The most frames to skip: a slow page must still show new text. */
const MOST_RESTS = 4;

/** The most frames with key presses to skip before a run. */
const MOST_KEYS = 3;

/** Returns the number of frames to skip between two runs, given how long the passed frames took. */
export function framesToRest(took: number, passed: number): number {
  const missed = Math.max(0, Math.round(took / FRAME) - passed - 1);
  return Math.min(MOST_RESTS, 1 + Math.ceil(missed / 2));
}

/** Runs at the next frame with its time, or with null when the page paints no frames. */
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
