// The page's end of the link: the one object that everything else starts from.

import { Calls } from "./calls";
import type { Device, Diagnosis, Host, LinkState, Pairing, PairingState, Scorel } from "./contract";
import { PageDiagnosis, type PageParts, realPage } from "./doctor";
import { Frames } from "./frames";
import { HostClient } from "./host";
import { labelFromUserAgent } from "./label";
import type { FromLink, PagePort, ToLink } from "./messages";
import { IdbOutbox, type OutboxStore } from "./outbox";
import { parseRelayUrl } from "./relay-url";
import { Store } from "./store";
import { findUnsupported, type Surroundings } from "./support";

const RELAY_KEY = "scorel.relay";

export interface ScorelOptions {
  /** Starts the link; a worker but in tests. */
  /** `onFailure` is called when it did not start. */
  connect: (onFailure: () => void) => PagePort;
  outbox: OutboxStore;
  storage: Pick<Storage, "getItem" | "setItem" | "removeItem"> | null;
  /** The relay that is dialled unless another was chosen. */
  origin: string;
  userAgent: string;
  around: Surroundings;
  page: PageParts;
}

/** The options of a real page. */
function pageOptions(): ScorelOptions {
  return {
    connect: startWorker,
    outbox: new IdbOutbox(),
    storage: storageOf(),
    origin: location.origin,
    userAgent: navigator.userAgent,
    around: globalThis as unknown as Surroundings,
    page: realPage(),
  };
}

/** Starts scorel in this page. Call it once. */
export function createScorel(): Scorel {
  return startScorel(pageOptions());
}

/** Starts scorel with parts of one's own. */
export function startScorel(options: ScorelOptions): Scorel {
  const scorel = new PageScorel(options);
  scorel.listenToPage();
  return scorel;
}

function startWorker(onFailure: () => void): PagePort {
  const worker = new Worker(new URL("../link/worker.ts", import.meta.url), { type: "module" });
  worker.onerror = onFailure;
  return worker;
}

// A browser that forbids storage throws at the mere mention of it.
function storageOf(): Storage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

class PageScorel implements Scorel {
  readonly #options: ScorelOptions;
  readonly #link = new Store<LinkState>({ state: "connecting", attempt: 0, retryAt: null, lastError: null });
  readonly #me = new Store<{ id: string; label: string } | null>(null);
  readonly #devices = new Store<Device[] | null>(null);
  readonly #relayUrl: Store<string>;
  readonly #hosts = new Map<string, HostClient>();
  readonly #pairings = new Map<number, Store<PairingState>>();
  readonly #diagnoses = new Map<number, PageDiagnosis>();
  readonly #frames = new Frames();
  readonly #calls: Calls;
  #port: PagePort | null = null;

  readonly link = this.#link;
  readonly me = this.#me;
  readonly devices = this.#devices;

  constructor(options: ScorelOptions) {
    this.#options = options;
    this.#calls = new Calls((message) => this.#post(message));
    this.#relayUrl = new Store(chosenRelay(options));
    const unsupported = findUnsupported(options.around);
    if (unsupported) {
      this.#link.set({ state: "unsupported", ...unsupported });
      return;
    }
    const port = options.connect(() => this.#failed());
    this.#port = port;
    port.onmessage = ({ data }) => {
      for (const message of data) {
        this.#take(message);
      }
    };
    this.#post({ t: "start", relayUrl: this.#relayUrl.get(), label: labelFromUserAgent(options.userAgent) });
  }

  get relayUrl(): Store<string> {
    return this.#relayUrl;
  }

  async setRelayUrl(text: string): Promise<void> {
    const { http, loopback } = parseRelayUrl(text);
    const { storage, origin } = this.#options;
    if (origin.startsWith("https:") && http.startsWith("http:") && !loopback) {
      throw new Error(
        "This page was opened over https, so it can only reach a relay over https: write https:// in front.",
      );
    }
    if (http === origin) {
      storage?.removeItem(RELAY_KEY);
    } else {
      storage?.setItem(RELAY_KEY, http);
    }
    this.#relayUrl.set(http);
    this.#post({ t: "relay", relayUrl: http });
  }

  setInvite(invite: string): void {
    this.#post({ t: "invite", invite });
  }

  startPairing(): Pairing {
    return this.#pair(null);
  }

  redeemPairing(code: string): Pairing {
    return this.#pair(code);
  }

  async forgetDevice(deviceId: string): Promise<void> {
    await this.#calls.call((id) => ({ t: "forget", id, deviceId }));
  }

  host(deviceId: string): Host {
    let host = this.#hosts.get(deviceId);
    if (!host) {
      host = new HostClient({
        deviceId,
        calls: this.#calls,
        post: (message) => this.#post(message),
        outbox: this.#options.outbox,
        frames: this.#frames,
        me: this.#me,
      });
      this.#hosts.set(deviceId, host);
    }
    return host;
  }

  reconnectNow(): void {
    this.#post({ t: "wake", force: true });
  }

  diagnose(): Diagnosis {
    const id = this.#calls.nextId();
    const diagnosis = new PageDiagnosis({
      page: this.#options.page,
      relayUrl: this.#relayUrl.get(),
      devices: this.#devices.get() ?? [],
      begin: () => this.#post({ t: "diagnose", id }),
      end: () => {
        this.#diagnoses.delete(id);
        this.#post({ t: "cancel_diagnosis", id });
      },
    });
    this.#diagnoses.set(id, diagnosis);
    void diagnosis.run();
    return diagnosis;
  }

  /** Tells the link when the network or the person is back. */
  listenToPage(): void {
    const wake = (): void => this.#post({ t: "wake", force: false });
    globalThis.addEventListener?.("online", wake);
    globalThis.addEventListener?.("pageshow", wake);
    globalThis.document?.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") {
        wake();
      }
    });
  }

  #pair(code: string | null): Pairing {
    const id = this.#calls.nextId();
    const state = new Store<PairingState>({ step: "requesting" });
    this.#pairings.set(id, state);
    if (this.#port) {
      this.#post({ t: "pair", id, code });
    } else {
      state.set({ step: "failed", message: "This page cannot pair: see what it says about this browser." });
    }
    return { state, cancel: () => this.#post({ t: "cancel_pair", id }) };
  }

  // An error of a worker that has long been at work is not the end of the page.
  #failed(): void {
    if (!this.#me.get()) {
      this.#link.set({ state: "unsupported", ...WORKER_FAILED });
    }
  }

  #post(message: ToLink): void {
    this.#port?.postMessage(message);
  }

  #take(message: FromLink): void {
    switch (message.t) {
      case "link":
        this.#link.set(message.state);
        return;
      case "me":
        this.#me.set({ id: message.id, label: message.label });
        return;
      case "devices":
        this.#devices.set(message.devices);
        return;
      case "host":
        this.#hosts.get(message.deviceId)?.setStatus(message.status, message.opening);
        return;
      case "event":
        this.#hosts.get(message.deviceId)?.take(message.event);
        return;
      case "answer":
        this.#calls.resolve(message.id, message.result);
        return;
      case "failure":
        this.#calls.reject(message.id, message.failure);
        return;
      case "pairing":
        this.#takePairing(message.id, message.state);
        return;
      case "diagnosis":
        this.#diagnoses.get(message.id)?.take(message.state);
    }
  }

  #takePairing(id: number, state: PairingState): void {
    this.#pairings.get(id)?.set(state);
    if (state.step === "done" || state.step === "failed") {
      this.#pairings.delete(id);
    }
    if (state.step === "done") {
      // Asks the browser not to evict the keys when the disk runs full.
      void globalThis.navigator?.storage?.persist?.();
    }
  }
}

const WORKER_FAILED = {
  reason: "The part of this page that holds the keys and the connection did not start.",
  advice: "Reload the page. If that does not help, use a current Chrome, Edge, Firefox or Safari.",
};

function chosenRelay({ storage, origin }: ScorelOptions): string {
  try {
    return parseRelayUrl(storage?.getItem(RELAY_KEY) ?? "").http;
  } catch {
    return origin;
  }
}
