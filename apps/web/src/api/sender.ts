// Sends the prompts of one session, in order, each until the host has it.
import { ApiError, type OutgoingPrompt } from "./contract";
import type { OutboxItem, OutboxStore } from "./outbox";
import type { QueuedPrompt } from "./types";

export interface SenderOptions {
  deviceId: string;
  sessionId: string;
  store: OutboxStore;
  /** Sends one prompt to the host; rejects with ApiError when it refuses, with anything else when it cannot be reached. */
  deliver: (item: OutboxItem) => Promise<void>;
  onChange: () => void;
  /** How long an answer may take before the next prompt is sent, in milliseconds. */
  patience?: number;
}

interface Waiting {
  item: OutboxItem;
  /** The host confirmed it on this connection. */
  delivered: boolean;
}

const PATIENCE = 20_000;

export class Sender {
  readonly #options: SenderOptions;
  #waiting: Waiting[] = [];
  #live = false;
  #pumping = false;
  #lastCreatedAt = 0;
  /** Tried since the session came in step with the host. */
  #tried = new Set<string>();
  #writes = new Map<string, Promise<void>>();
  /** Known to be in the store. */
  #kept = new Set<string>();
  readonly #loaded: Promise<void>;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#loaded = this.#load();
  }

  async #load(): Promise<void> {
    const { store, deviceId, sessionId, onChange } = this.#options;
    const items = await store.load(deviceId, sessionId).catch(() => []);
    const known = new Set(this.#waiting.map((w) => w.item.clientKey));
    for (const item of items) {
      this.#kept.add(item.clientKey);
    }
    const old = items.filter((item) => !known.has(item.clientKey)).map((item) => ({ item, delivered: false }));
    this.#waiting = [...old, ...this.#waiting];
    if (old.length > 0) {
      onChange();
      this.#pump();
    }
  }

  /** Takes a prompt of this browser's person. */
  send(text: string, steer = false): void {
    const { deviceId, sessionId, onChange } = this.#options;
    // Strictly increasing, so that the order survives a reload.
    this.#lastCreatedAt = Math.max(Date.now(), this.#lastCreatedAt + 1);
    const item: OutboxItem = {
      clientKey: crypto.randomUUID(),
      deviceId,
      sessionId,
      text,
      createdAt: this.#lastCreatedAt,
      error: null,
      ...(steer ? { steer } : {}),
    };
    this.#waiting = [...this.#waiting, { item, delivered: false }];
    this.#store(item);
    onChange();
    this.#pump();
  }

  retry(clientKey: string): void {
    this.#tried.delete(clientKey);
    this.#update(clientKey, (w) => ({ item: { ...w.item, error: null }, delivered: false }));
    this.#pump();
  }

  discard(clientKey: string): void {
    this.#remove((w) => w.item.clientKey === clientKey);
  }

  /** The session is in step with the host: what the host has not confirmed goes out (again). */
  goLive(): void {
    this.#live = true;
    this.#tried.clear();
    this.#waiting = this.#waiting.map((w) => ({ ...w, delivered: false }));
    void this.#loaded.then(() => this.#pump());
  }

  goOffline(): void {
    this.#live = false;
  }

  /** Prompts whose message is in the log are done. */
  settle(inLog: ReadonlySet<string>): void {
    if (this.#waiting.some((w) => inLog.has(w.item.clientKey))) {
      this.#remove((w) => inLog.has(w.item.clientKey));
    }
  }

  /** What is on its way, merged with the host's queue: the queue first, in its order. */
  outgoing(queue: QueuedPrompt[], inLog: ReadonlySet<string>, me: string | null): OutgoingPrompt[] {
    const mine = new Map(this.#waiting.map((w) => [w.item.clientKey, w.item]));
    const onHost = queue
      .filter((q) => !inLog.has(q.clientKey))
      .map(
        (q): OutgoingPrompt => ({
          clientKey: q.clientKey,
          text: q.text,
          state: "host",
          mine: mine.has(q.clientKey) || q.clientId === me,
          ...(q.mode === "steer" ? { steer: true } : {}),
          createdAt: mine.get(q.clientKey)?.createdAt ?? q.queuedAt,
        }),
      );
    const queued = new Set(queue.map((q) => q.clientKey));
    const here = this.#waiting
      .filter((w) => !queued.has(w.item.clientKey) && !inLog.has(w.item.clientKey))
      .map(
        ({ item, delivered }): OutgoingPrompt => ({
          clientKey: item.clientKey,
          text: item.text,
          state: item.error !== null ? "failed" : delivered ? "host" : "device",
          ...(item.error !== null ? { error: item.error } : {}),
          mine: true,
          ...(item.steer ? { steer: true } : {}),
          createdAt: item.createdAt,
        }),
      );
    return [...onHost, ...here];
  }

  #next(): Waiting | undefined {
    return this.#waiting.find((w) => w.item.error === null && !w.delivered && !this.#tried.has(w.item.clientKey));
  }

  // One at a time, so that the host gets them in order; one that fails or gets no
  // answer does not hold up those behind it.
  async #pump(): Promise<void> {
    if (this.#pumping || !this.#live) {
      return;
    }
    this.#pumping = true;
    for (let next = this.#next(); next && this.#live; next = this.#next()) {
      const { item } = next;
      this.#tried.add(item.clientKey);
      await this.#writes.get(item.clientKey);
      if (await this.#discardedElsewhere(item)) {
        this.#remove((w) => w.item.clientKey === item.clientKey);
      } else {
        await this.#deliver(item);
      }
    }
    this.#pumping = false;
  }

  // Another tab may have discarded it, or seen it in the log.
  async #discardedElsewhere({ clientKey }: OutboxItem): Promise<boolean> {
    return this.#kept.has(clientKey) && !(await this.#options.store.has(clientKey).catch(() => true));
  }

  async #deliver(item: OutboxItem): Promise<void> {
    const { deliver, patience = PATIENCE } = this.#options;
    const sent = deliver(item).then(
      () => this.#update(item.clientKey, (w) => ({ ...w, delivered: true })),
      (err: unknown) => {
        // Unreachable: it stays, and goes out again with the same key.
        if (err instanceof ApiError) {
          this.#update(item.clientKey, (w) => ({ ...w, item: { ...w.item, error: err.message } }));
        }
      },
    );
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patience);
    });
    await Promise.race([sent, late]);
    clearTimeout(timer);
  }

  #update(clientKey: string, change: (w: Waiting) => Waiting): void {
    const before = this.#waiting.find((w) => w.item.clientKey === clientKey);
    if (!before) {
      return;
    }
    const after = change(before);
    this.#waiting = this.#waiting.map((w) => (w === before ? after : w));
    if (after.item.error !== before.item.error) {
      this.#store(after.item);
    }
    this.#options.onChange();
  }

  #remove(which: (w: Waiting) => boolean): void {
    const gone = this.#waiting.filter(which);
    this.#waiting = this.#waiting.filter((w) => !which(w));
    for (const { item } of gone) {
      // Behind a write that is still under way, or the write would bring it back.
      const written = this.#writes.get(item.clientKey) ?? Promise.resolve();
      this.#writes.delete(item.clientKey);
      void written.then(() => this.#options.store.remove(item.clientKey)).catch(() => {});
    }
    this.#options.onChange();
  }

  // A full disk must not keep a prompt from being sent: it is then kept in memory only.
  #store(item: OutboxItem): void {
    const before = this.#writes.get(item.clientKey) ?? Promise.resolve();
    this.#writes.set(
      item.clientKey,
      before
        .then(() => this.#options.store.put(item))
        .then(
          () => void this.#kept.add(item.clientKey),
          () => {},
        ),
    );
  }
}
