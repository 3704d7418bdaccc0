/** The pending changes with their ranks, the lowest first. */
const waiting = new Map<() => void, number>();
let asked = false;

/**
 * Runs one of many changes before each frame: laying out all of them at once takes too long. Returns a function that
 * cancels the change.
 */
export function inTurn(change: () => void, rank = 0): () => void {
  waiting.set(change, rank);
  ask();
  return () => void waiting.delete(change);
}

function ask(): void {
  if (!asked && waiting.size > 0) {
    asked = true;
    requestAnimationFrame(next);
  }
}

function next(): void {
  asked = false;
  let [first] = waiting;
  for (const each of waiting) {
    first = first && first[1] <= each[1] ? first : each;
  }
  if (first) {
    waiting.delete(first[0]);
    ask();
    first[0]();
  }
}
