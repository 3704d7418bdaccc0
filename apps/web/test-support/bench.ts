// One page over one relay, with short timeouts.
import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import type { PageParts, Readable, Scorel } from "../src/api/contract";
import { openDb } from "../src/api/db";
import type { PagePort } from "../src/api/messages";
import type { OutboxItem } from "../src/api/outbox";
import { type ScorelOptions, startScorel } from "../src/api/scorel";
import { IdbOutbox } from "../src/link/outbox-store";
import { serveLink } from "../src/link/service";
import type { Timing } from "../src/link/timing";
import type { FakeDevice } from "./device";
import type { FakeRelay } from "./relay";
import { portPair } from "./sockets";

export const SHORT: Timing = {
  login: 3_000,
  backoffBase: 4,
  backoffMax: 30,
  settled: 5_000,
  handshake: 3_000,
  channelWait: 1_500,
  offlineWait: 30,
  probeAfter: 60_000,
  probeWait: 100,
  hiddenProbeAfter: 60_000,
  hiddenProbeWait: 100,
  awayAfter: 20,
  copyDelay: 5,
};

const open: (() => void)[] = [];

/** Opens a page. Pages that are open at once share the browser's database. */
export function openPage(
  relay: FakeRelay,
  timing: Partial<Timing> = {},
  parts?: PageParts,
  makeSocket: (url: string) => WebSocket = relay.makeSocket,
): Scorel {
  const { page, worker } = portPair();
  const stop = serveLink(worker, { timing: { ...SHORT, ...timing }, makeSocket });
  atEnd(() => {
    page.onmessage = null;
    stop();
  });
  return pageOn(relay, () => page, parts ? { page: parts } : {});
}

/** Returns a dialer for several relays, selected by the address. */
export function dialOneOf(...relays: FakeRelay[]): (url: string) => WebSocket {
  return (url) => {
    const relay = relays.find(({ authority }) => new URL(url).host === authority);
    if (!relay) {
      throw new Error(`no relay at ${url}`);
    }
    return relay.makeSocket();
  };
}

/** Opens a page that is already connected to a worker. */
export function pageOn(relay: FakeRelay, connect: () => PagePort, more: Partial<ScorelOptions> = {}): Scorel {
  return startScorel({
    connect,
    storage: null,
    origin: relay.url,
    userAgent: "Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0 Safari/537.36",
    page: {
      origin: relay.url,
      fetch: async () => Response.json({ status: "ok", version: "test" }),
      script: () => null,
    },
    around: { isSecureContext: true, crypto, indexedDB, Worker: 1, WebSocket: 1, CompressionStream },
    ...more,
  });
}

/** Registers a function that is called when the pages are closed. */
export function atEnd(close: () => void): void {
  open.push(close);
}

const deriveBits = crypto.subtle.deriveBits.bind(crypto.subtle);

/** How many pages are being paired. */
let pairing = 0;

crypto.subtle.deriveBits = (algorithm, key, length) =>
  deriveBits(pairing > 0 ? { ...(algorithm as Pbkdf2Params), iterations: 1 } : algorithm, key, length);

/**
 * Pairs a page with a device by a code that the page shows, and returns the device's id. Both derive the key of the
 * code in one round: a hundred tests begin with a pairing, and would spend most of their time on the others.
 */
export async function pairPage(page: Scorel, device: FakeDevice): Promise<string> {
  pairing++;
  try {
    const { state } = page.startPairing();
    const { code } = await untilStep(state, "showing");
    await device.redeem(code);
    return (await untilStep(state, "done")).deviceId;
  } finally {
    pairing--;
  }
}

/** Closes every page; the browser's database remains. */
export function closePages(): void {
  for (const close of open.splice(0)) {
    close();
  }
}

/** Resets the browser to an unused one. */
export function freshBrowser(): void {
  closePages();
  globalThis.indexedDB = new IDBFactory();
}

/** Returns the prompts on the browser's disk. */
export async function keptPrompts(): Promise<OutboxItem[]> {
  const db = await openDb();
  const items = await new IdbOutbox(db).all();
  db.close();
  return items;
}

/** Waits until the store's value matches; the test's own timeout ends the wait. */
export function until<T>(store: Readable<T>, want: (value: T) => boolean): Promise<T> {
  return new Promise((resolve) => {
    const check = (): void => {
      const value = store.get();
      if (want(value)) {
        unsubscribe();
        resolve(value);
      }
    };
    const unsubscribe = store.subscribe(check);
    check();
  });
}

export async function untilStep<T extends { step: string }, S extends T["step"]>(
  store: Readable<T>,
  step: S,
): Promise<T & { step: S }> {
  return (await until(store, (value) => value.step === step)) as T & { step: S };
}
