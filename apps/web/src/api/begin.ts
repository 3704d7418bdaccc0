// Starts the worker before the page's own code is loaded, so that it connects meanwhile.
import { chosenLanguage, languageFor } from "../i18n/language";
import { chosenLabel, chosenRelay, storageOf } from "./chosen";
import type { FromLink, PagePort, ToLink } from "./messages";
import { findUnsupported, type Surroundings } from "./support";
import { startWorker } from "./worker";

/** Connects a page to a worker. `onFailure` is called when the worker fails to start. */
export type Connect = (onFailure: () => void) => PagePort;

export interface BeginOptions {
  connect: Connect;
  around: Surroundings;
  /** The first message to the worker; null when it needs a translation, which is not loaded yet. */
  start: (ToLink & { t: "start" }) | null;
  /** The address of the page. */
  pathname: string;
}

/** Returns the options of a real page. */
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

/** Starts a worker. Returns a function that connects the page to it, and to another worker on each later call. */
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

/** Buffers the worker's messages until a listener is attached. */
function keepEarly(port: PagePort): FromLink[][] {
  const early: FromLink[][] = [];
  port.onmessage = ({ data }) => early.push(data);
  return early;
}

/** Returns the port for a page, with the messages that arrived before it listened. */
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
