// Starts the worker before the page's own code is here: it connects meanwhile.
import { chosenLanguage, languageFor } from "../i18n/language";
import { chosenLabel, chosenRelay, storageOf } from "./chosen";
import type { FromLink, PagePort, ToLink } from "./messages";
import { findUnsupported, type Surroundings } from "./support";
import { startWorker } from "./worker";

/** Connects a page to a worker. `onFailure` is called when the worker did not start. */
export type Connect = (onFailure: () => void) => PagePort;

export interface BeginOptions {
  connect: Connect;
  around: Surroundings;
  /** What the worker is told first; null where that needs a translation, which is not here yet. */
  start: (ToLink & { t: "start" }) | null;
  /** The address of the page. */
  pathname: string;
}

/** The options of a real page. */
function pageOptions(): BeginOptions {
  const storage = storageOf();
  const english = languageFor(chosenLanguage(), navigator.languages) === "en";
  const relayUrl = chosenRelay(storage, location.origin);
  const label = chosenLabel(storage, navigator.userAgent);
  return {
    connect: startWorker,
    around: globalThis as unknown as Surroundings,
    start: english ? { t: "start", relayUrl, label } : null,
    pathname: location.pathname,
  };
}

/** Starts a worker. Returns what connects the page to it, and to another worker when it is called again. */
export function beginWorker({ connect, around, start, pathname }: BeginOptions = pageOptions()): Connect {
  if (findUnsupported(around)) {
    return connect;
  }
  let failed = false;
  let report = () => {
    failed = true;
  };
  const begun = connect(() => report());
  const early = keepEarly(begun);
  if (start) {
    begun.postMessage(start);
    const [, deviceId] = /^\/d\/([^/]+)/.exec(pathname) ?? [];
    if (deviceId) {
      begun.postMessage({ t: "use", deviceId });
    }
  }
  let taken = false;
  return (onFailure) => {
    if (taken) {
      return connect(onFailure);
    }
    taken = true;
    report = onFailure;
    if (failed) {
      onFailure();
    }
    return portOf(begun, early, start !== null);
  };
}

/** Keeps what a worker says while nobody listens. */
function keepEarly(port: PagePort): FromLink[][] {
  const early: FromLink[][] = [];
  port.onmessage = ({ data }) => early.push(data);
  return early;
}

/** The port, for a page that does not know what was said on it before. */
function portOf(begun: PagePort, early: FromLink[][], started: boolean): PagePort {
  return {
    postMessage: (message) => {
      if (message.t !== "start" || !started) {
        begun.postMessage(message);
      }
    },
    get onmessage() {
      return begun.onmessage;
    },
    set onmessage(take) {
      begun.onmessage = take;
      for (const data of early.splice(0)) {
        take?.({ data } as MessageEvent<FromLink[]>);
      }
    },
    ...(begun.close ? { close: () => begun.close?.() } : {}),
  };
}
