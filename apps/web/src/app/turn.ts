/** Pages out of sight hold one of these locks while they start. */
const lock = (i: number) => `scorel-start-${i}`;

/**
 * Starts a page: at once if it is in sight. Of the pages out of sight, only as many start at a time as there are
 * processors, so that the one that people look at does not wait for twenty others; one that comes into sight starts at
 * once. The promise of `start` resolves when the page is shown.
 */
export async function startInTurn(start: () => Promise<unknown>): Promise<void> {
  let started: Promise<unknown> | undefined;
  const waiting = new AbortController();
  const begin = () => {
    waiting.abort();
    started ??= start();
    return started;
  };
  // Without https there are no locks.
  if (document.visibilityState === "visible" || !navigator.locks) {
    await begin();
    return;
  }
  document.addEventListener("visibilitychange", begin, { once: true, signal: waiting.signal });
  const processors = navigator.hardwareConcurrency || 1;
  const turns = Array.from({ length: processors }, (_, i) =>
    navigator.locks.request(lock(i), { signal: waiting.signal }, begin),
  );
  await Promise.allSettled(turns); // those that are no longer wanted are rejected
  await begin();
}
