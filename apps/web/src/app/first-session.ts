import type { Scorel, SessionView } from "../api/contract";

/** The longest delay of the first frame, in milliseconds. */
const PATIENCE = 200;

/**
 * Opens the session that the address names, before the first rendering, and loads its page. Resolves when both are
 * loaded or take too long: a slow phone then renders the page once, and not a second time with the rows.
 */
export async function openFirst(scorel: Scorel, pathname: string, loadPage: () => Promise<unknown>): Promise<void> {
  const [, deviceId, sessionId] = /^\/d\/([^/]+)\/s\/([^/]+)$/.exec(pathname) ?? [];
  if (!deviceId || !sessionId || scorel.link.get().state === "unsupported") {
    return;
  }
  const view = scorel.host(deviceId).session(sessionId);
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, PATIENCE);
    void Promise.allSettled([known(view), loadPage()]).then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
  view.release(); // it stays open for a while, until the page holds it
}

/** Resolves when the state of a session is known. */
function known({ state }: SessionView): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (state.get().status !== "loading") {
        unsubscribe();
        resolve();
      }
    };
    const unsubscribe = state.subscribe(look);
    look();
  });
}
