// The page's end of the link: the object that all other parts start from.

import { t } from "../i18n/api";
import { type Translation, translation } from "../i18n/i18n";
import type { Connect } from "./begin";
import { Calls } from "./calls";
import { chooseLabel, chooseRelay, chosenLabel, chosenRelay, storageOf } from "./chosen";
import type {
  Device,
  DevicePath,
  Diagnosis,
  Host,
  LinkState,
  PageDiagnosisOptions,
  PageParts,
  Pairing,
  PairingState,
  Readable,
  RunningDiagnosis,
  Scorel,
  WaitingPrompt,
} from "./contract";
import { Frames } from "./frames";
import { HostClient } from "./host";
import { labelFrom, labelFromUserAgent } from "./label";
import type { FromLink, PagePort, ToLink } from "./messages";
import { Outgoing } from "./outgoing";
import { parseRelayUrl, type RelayAddress, RelayUrlError } from "./relay-url";
import { Store } from "./store";
import { findUnsupported, type Surroundings, type Unsupported } from "./support";
import { Waiting } from "./waiting";

export interface ScorelOptions {
  /** Starts the link, in a worker except in tests. */
  connect: Connect;
  /** Reports when a worker that another page started has ended. */
  locks?: Pick<LockManager, "request">;
  storage: Pick<Storage, "getItem" | "setItem" | "removeItem"> | null;
  /** The relay to dial unless another one was chosen. */
  origin: string;
  userAgent: string;
  around: Surroundings;
  page: PageParts;
}

/** Returns the options of a real page. */
function pageOptions(connect: Connect): ScorelOptions {
  return {
    connect,
    locks: navigator.locks,
    storage: storageOf(),
    origin: location.origin,
    userAgent: navigator.userAgent,
    around: globalThis as unknown as Surroundings,
    page: realPage(),
  };
}

/** Returns the parts of a real page. */
function realPage(): PageParts {
  return {
    origin: location.origin,
    fetch: (path, signal) => fetch(path, { cache: "no-store", redirect: "manual", signal }),
    script: () => document.querySelector("script[type=module][src]")?.getAttribute("src") ?? null,
  };
}

/** Starts scorel in this page. Call it once. */
export function createScorel(connect: Connect): Scorel {
  return startScorel(pageOptions(connect));
}

/** Starts scorel with the given parts. */
export function startScorel(options: ScorelOptions): Scorel {
  const scorel = new PageScorel(options);
  scorel.listenToPage();
  return scorel;
}

class PageScorel implements Scorel {
  readonly #options: ScorelOptions;
  readonly #link = new Store<LinkState>({ state: "connecting", attempt: 0, retryAt: null, lastError: null });
  readonly #me = new Store<{ id: string; label: string } | null>(null);
  readonly #devices = new Store<Device[] | null>(null);
  readonly #paths = new Store<Record<string, DevicePath[]>>({});
  readonly #relayUrl: Store<string>;
  readonly #hosts = new Map<string, HostClient>();
  readonly #pairings = new Map<number, Store<PairingState>>();
  readonly #diagnoses = new Map<number, RunningDiagnosis>();
  readonly #frames = new Frames(globalThis.document);
  readonly #calls: Calls;
  readonly #outgoing: Outgoing;
  #port: PagePort | null = null;
  /** The worker's lock, when several pages share the worker. */
  #worker = "";

  readonly link = this.#link;
  readonly me = this.#me;
  readonly devices = this.#devices;
  readonly paths = this.#paths;
  readonly waiting: Readable<WaitingPrompt[]>;
  readonly drafts = { current: null };

  constructor(options: ScorelOptions) {
    this.#options = options;
    this.#calls = new Calls((message) => this.#post(message));
    this.#outgoing = new Outgoing({
      post: (message) => this.#post(message),
      call: (make) => this.#calls.call(make),
    });
    this.waiting = new Waiting(this.#outgoing).state;
    this.#relayUrl = new Store(chosenRelay(options.storage, options.origin));
    const unsupported = findUnsupported(options.around);
    if (unsupported) {
      this.#link.set({ state: "unsupported", ...unsupported });
      return;
    }
    this.#connect();
  }

  #connect(): void {
    const port = this.#options.connect(() => this.#failed());
    this.#port = port;
    port.onmessage = ({ data }) => {
      for (const message of data) {
        this.#take(message);
      }
    };
    const label = chosenLabel(this.#options.storage, this.#options.userAgent);
    this.#post({ t: "start", relayUrl: this.#relayUrl.get(), label, ...workerTranslation() });
  }

  /** The lock becomes free when the worker ends, which a port does not report. */
  #followWorker(lock: string): void {
    this.#worker = lock;
    const free = () => this.#worker === lock && this.#reconnect();
    void this.#options.locks?.request(lock, { mode: "shared" }, free);
  }

  /** Starts over with another worker: the tab whose process ran this one may have crashed. */
  #reconnect(): void {
    const lost = t("api.scorel.interrupted");
    this.#worker = "";
    this.#port?.close?.();
    this.#connect();
    this.#calls.again(lost);
    this.#outgoing.again();
    for (const [deviceId, host] of this.#hosts) {
      host.setStatus("connecting", 0);
      this.#post({ t: "use", deviceId });
    }
    for (const id of this.#pairings.keys()) {
      this.#takePairing(id, { step: "failed", message: lost });
    }
    for (const id of this.#diagnoses.keys()) {
      this.#post({ t: "diagnose", id });
    }
    this.#postVisibility();
  }

  get relayUrl(): Store<string> {
    return this.#relayUrl;
  }

  async setRelayUrl(text: string): Promise<void> {
    const { http, loopback } = typedRelay(text);
    const { storage, origin } = this.#options;
    if (origin.startsWith("https:") && http.startsWith("http:") && !loopback) {
      throw new Error(t("api.scorel.needsHttps"));
    }
    chooseRelay(storage, http, origin);
    this.#relayUrl.set(http);
    this.#post({ t: "relay", relayUrl: http });
  }

  setLabel(typed: string): void {
    const label = labelFrom(typed);
    chooseLabel(this.#options.storage, label);
    this.#post({ t: "label", label: label || labelFromUserAgent(this.#options.userAgent) });
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
        outgoing: this.#outgoing,
        frames: this.#frames,
        me: this.#me,
      });
      this.#hosts.set(deviceId, host);
    }
    return host;
  }

  retryPrompt(clientKey: string): void {
    this.#outgoing.retry(clientKey);
  }

  discardPrompt(clientKey: string): void {
    this.#outgoing.discard(clientKey);
  }

  reconnectNow(): void {
    this.#post({ t: "wake", force: true });
  }

  diagnose(make: new (options: PageDiagnosisOptions) => RunningDiagnosis): Diagnosis {
    const id = this.#calls.nextId();
    const diagnosis = new make({
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

  /** Notifies the link when the network or the person is back. */
  listenToPage(): void {
    const wake = (): void => this.#post({ t: "wake", force: false });
    globalThis.addEventListener?.("online", wake);
    globalThis.addEventListener?.("pageshow", ({ persisted }) => {
      if (persisted && this.#port?.close) {
        this.#reconnect(); // a page that was suspended may have lost its lock
      }
      wake();
    });
    globalThis.document?.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") {
        this.#post({ t: "visible", visible: true });
        wake();
      }
      this.#postVisibility();
    });
    this.#postVisibility();
  }

  #postVisibility(): void {
    if (globalThis.document?.visibilityState === "hidden") {
      this.#post({ t: "visible", visible: false });
    }
  }

  #pair(code: string | null): Pairing {
    const id = this.#calls.nextId();
    const state = new Store<PairingState>({ step: "requesting" });
    this.#pairings.set(id, state);
    if (this.#port) {
      this.#post({ t: "pair", id, code });
    } else {
      state.set({ step: "failed", message: t("api.scorel.cannotPair") });
    }
    return { state, cancel: () => this.#post({ t: "cancel_pair", id }) };
  }

  // Ignores errors of a worker that is already running.
  #failed(): void {
    if (!this.#me.get()) {
      this.#link.set({ state: "unsupported", ...workerFailed() });
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
      case "relay":
        this.#relayUrl.set(message.relayUrl);
        return;
      case "worker":
        this.#followWorker(message.lock);
        return;
      case "mark":
        this.#post(message);
        return;
      case "fault":
        reportError(new Error(message.message));
        this.#failed();
        return;
      case "devices":
        this.#devices.set(message.devices);
        return;
      case "paths":
        this.#paths.set(message.paths);
        return;
      case "host":
        this.#hosts.get(message.deviceId)?.setStatus(message.status, message.opening);
        return;
      case "event":
        this.#hosts.get(message.deviceId)?.take(message.event);
        return;
      case "outbox":
        this.#outgoing.take(message.news, message.here);
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

/** The worker has no translations of its own. */
function workerTranslation(): { translation?: Translation } {
  const { locale, parts } = translation();
  const { link, pairing, doctor } = parts;
  return link && pairing && doctor ? { translation: { locale, parts: { link, pairing, doctor } } } : {};
}

function workerFailed(): Unsupported {
  return { reason: t("api.scorel.workerFailed"), advice: t("api.scorel.workerFailedAdvice") };
}

/** Parses a typed address; throws an error with a sentence for people. */
function typedRelay(text: string): RelayAddress {
  try {
    return parseRelayUrl(text);
  } catch (err) {
    const user = err instanceof RelayUrlError && err.why === "user";
    throw new Error(user ? t("api.scorel.noUserName") : t("api.scorel.notARelayAddress"));
  }
}
