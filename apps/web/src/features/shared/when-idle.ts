/** Runs a callback once the browser is idle. Returns a function that cancels it. */
export function whenIdle(run: () => void): () => void {
  if (typeof requestIdleCallback === "function") {
    const id = requestIdleCallback(() => run());
    return () => cancelIdleCallback(id);
  }
  const timer = setTimeout(run, 2000); // Safari
  return () => clearTimeout(timer);
}
