/**
 * Runs a callback at once in a visible tab, and in a hidden one when it becomes visible. Returns a function that
 * cancels it.
 */
export function whenSeen(run: () => void): () => void {
  if (!document.hidden) {
    run();
    return () => {};
  }
  const look = () => {
    if (!document.hidden) {
      stop();
      run();
    }
  };
  const stop = () => document.removeEventListener("visibilitychange", look);
  document.addEventListener("visibilitychange", look);
  return stop;
}
