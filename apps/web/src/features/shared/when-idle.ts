/** Runs something once the browser has nothing better to do. Returns what calls it off. */
export function whenIdle(run: () => void): () => void {
  if (typeof requestIdleCallback === "function") {
    const id = requestIdleCallback(() => run());
    return () => cancelIdleCallback(id);
  }
  const timer = setTimeout(run, 2000); // Safari
  return () => clearTimeout(timer);
}
