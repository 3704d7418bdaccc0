/** Runs something at once in a tab that is in sight, and in any other when it comes there. Returns what calls it off. */
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
