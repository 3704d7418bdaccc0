// The page's side of its service worker: keeps it up to date and reports when a new version is ready.
import type { LinkState, Readable } from "./contract";
import { Store } from "./store";

/** How often an open page checks for a new version, in milliseconds. */
const EVERY = 60 * 60 * 1000;

export interface Shell {
  /** True when a new version is stored and the page runs the old one. */
  readonly updated: Readable<boolean>;
  /** Starts the new version in all tabs. */
  update(): void;
}

/** Registers the service worker. The page also works without one. */
export function startShell(
  link: Readable<LinkState>,
  container: ServiceWorkerContainer | undefined = navigator.serviceWorker,
  reload: () => void = () => location.reload(),
): Shell {
  const updated = new Store(false);
  let registered: ServiceWorkerRegistration | null = null;
  let waiting: ServiceWorker | null = null;
  const offer = (worker: ServiceWorker | null) => {
    // The first service worker finds a page of its own version.
    if (worker && container?.controller) {
      waiting = worker;
      updated.set(true);
    }
  };
  const watch = (registration: ServiceWorkerRegistration | undefined) => {
    if (!registration) {
      return; // a browser that is set to have none may report it this way
    }
    registered = registration;
    offer(registration.waiting);
    registration.addEventListener("updatefound", () => {
      const { installing } = registration;
      installing?.addEventListener("statechange", () => installing.state === "installed" && offer(installing));
    });
  };
  container?.register("/sw.js").then(watch, () => {}); // no storage, or no service worker in a private window
  let looked = Date.now();
  let before = link.get().state;
  const look = () => {
    looked = Date.now();
    registered?.update().catch(() => {}); // the server cannot be reached
  };
  // A relay that came back, or that rejects this page, may serve a new version.
  link.subscribe(() => {
    const { state } = link.get();
    if (state !== before && (state === "online" || state === "refused")) {
      look();
    }
    before = state;
  });
  globalThis.document?.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible" && Date.now() - looked > EVERY) {
      look();
    }
  });
  return {
    updated,
    update: () => {
      if (waiting?.state === "activated") {
        reload(); // another tab has started it
        return;
      }
      container?.addEventListener("controllerchange", reload);
      waiting?.postMessage("activate");
    },
  };
}
