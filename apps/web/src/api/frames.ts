/**
 * Runs callbacks once before the next frame is painted, so that a stream of 200
 * events a second costs at most one rendering per frame. A hidden page paints no
 * frames, so a timer stands in.
 */
export class Frames {
  #waiting = new Set<() => void>();
  #cancel: (() => void) | null = null;

  request(callback: () => void): void {
    this.#waiting.add(callback);
    this.#cancel ??= schedule(() => this.#run());
  }

  #run(): void {
    this.#cancel?.();
    this.#cancel = null;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const callback of waiting) {
      callback();
    }
  }
}

const HIDDEN_WAIT = 200;

function schedule(run: () => void): () => void {
  const timer = setTimeout(run, HIDDEN_WAIT);
  const frame = typeof requestAnimationFrame === "function" ? requestAnimationFrame(run) : 0;
  return () => {
    clearTimeout(timer);
    if (frame) {
      cancelAnimationFrame(frame);
    }
  };
}
