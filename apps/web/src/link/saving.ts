// Connects this browser's copies to the link. Their code is loaded when there is something to store or to read.
import { KEPT } from "../api/copies";
import type { FromLink, Recall, WireEvent } from "../api/messages";
import type { Copies } from "./copies/copies";
import type { Link } from "./link";
import type { Outbox } from "./outbox";
import { isBound } from "./pins";

/** The requests that are observed before anything is stored. */
const asked = new Set(["resync_events", "unsubscribe", "get_blob", ...KEPT]);
const heard = new Set(["entry_appended", "session_updated", "session_deleted", "session_moved", "projects_changed"]);

export interface SavingOptions {
  db: IDBDatabase;
  clientId: string;
  /** The longest time before a change is written, in milliseconds. */
  delay: number;
  link: () => Link;
  /** The prompts in it follow a session that moves. */
  outbox: () => Outbox;
}

export class Saving {
  readonly #options: SavingOptions;
  #copies: Promise<Copies | null> | null = null;

  constructor(options: SavingOptions) {
    this.#options = options;
  }

  /** Returns a stored copy. Resolves with null if there is none, or if this browser stores nothing. */
  async recall(deviceId: string, { sessionId, name, fields }: Recall): Promise<unknown> {
    const copies = await this.#load();
    const kept = sessionId ? copies?.session(deviceId, sessionId) : copies?.list(deviceId, name ?? "", fields ?? {});
    return (await kept?.catch(() => null)) ?? null;
  }

  /** Observes a request of a page and its answer. */
  through(deviceId: string, name: string, fields: object, answer: Promise<unknown>): Promise<unknown> {
    if (asked.has(name)) {
      this.#do((copies) => copies.asked(deviceId, name, fields));
      answer.then(
        (result) => this.#do((copies) => copies.answered(deviceId, name, fields, result)),
        (err: unknown) => this.#do((copies) => copies.failed(deviceId, name, fields, err)),
      );
    }
    return answer;
  }

  /** Observes a message to the page. */
  said(message: FromLink): void {
    if (message.t === "event" && heard.has(message.event.type)) {
      this.#applyEvent(message.deviceId, message.event);
    }
  }

  /** Handles a new channel to a device, or the loss of one. */
  reachable(deviceId: string, open: boolean): void {
    if (open || this.#copies) {
      this.#do((copies) => copies.interrupted(deviceId));
    }
    if (open) {
      this.#do((copies) => copies.check(deviceId).catch(() => {}));
    }
  }

  async wipe(deviceId: string): Promise<void> {
    await (await this.#load())?.wipe(deviceId).catch(() => {});
  }

  /** Writes all changes now, because the hidden page may be closed soon. */
  flush(): void {
    if (this.#copies) {
      this.#do((copies) => copies.flush());
    }
  }

  stop(): void {
    if (this.#copies) {
      this.#do((copies) => copies.stop());
    }
  }

  #applyEvent(deviceId: string, event: WireEvent): void {
    this.#do((copies) => copies.heard(deviceId, event));
  }

  // All wait for the same promise, so they run in order.
  #do(work: (copies: Copies) => unknown): void {
    void this.#load().then((copies) => copies && work(copies));
  }

  #load(): Promise<Copies | null> {
    this.#copies ??= this.#make().catch(() => null); // after an update, the chunk may no longer exist
    return this.#copies;
  }

  async #make(): Promise<Copies> {
    const { db, clientId, delay, link, outbox } = this.#options;
    const { makeCopies } = await import("./copies/copies");
    return makeCopies({
      clientId,
      delay,
      outbox,
      isBound: (deviceId) => isBound(db, deviceId),
      ask: (deviceId, name, fields) => link().request(deviceId, name, fields),
    });
  }
}
