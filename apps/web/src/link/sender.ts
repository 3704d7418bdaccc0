// Sends the prompts of all sessions: each as soon as its device can be reached, those of one session in order. Every
// tab has a sender. A lock keeps two of them from working on one session at the same time; if the lock fails, the
// prompt's key still keeps the host from accepting it twice.
import { ApiError, type Host, OfflineError } from "../api/contract";
import type { OutboxItem } from "../api/outbox";
import { ApiKind } from "../api/types";
import { beginSession, beginsSession, sendPrompt } from "./delivery";
import type { Outbox } from "./outbox";

export interface SenderOptions {
  outbox: Outbox;
  ask: (deviceId: string) => Host["request"];
  /** Keeps a channel to a device open from now on. */
  want: (deviceId: string) => void;
  locks: Pick<LockManager, "request"> | undefined;
  /** The timeout for an answer or for another tab, in milliseconds. */
  patience?: number;
  /** The pause before a prompt is sent again to a session that is being moved, in milliseconds. */
  movePause?: number;
}

const PATIENCE = 20_000;
const MOVE_PAUSE = 1_000;

/** The session is being moved to another device. It accepts prompts again once the move is canceled. */
export class MovingError extends Error {}

export class Sender {
  readonly #options: SenderOptions;
  /** The reachable devices, each with an id of its channel: no two channels have the same. */
  #openings = new Map<string, string>();
  /** The opening on which a prompt was last sent and not answered yet. */
  #tried = new Map<string, string>();
  /** The opening on which the prompts of a lane could not be sent. */
  #stalled = new Map<string, string>();
  #running = new Set<string>();
  #later: ReturnType<typeof setTimeout> | undefined;
  /** The timers of lanes whose session is being moved. */
  #moving = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Handles a new channel to a device, or the loss of one: `opening` is 0 then. */
  reachable(deviceId: string, opening: number): void {
    const now = opening ? `${deviceId} ${opening}` : "";
    if (now === (this.#openings.get(deviceId) ?? "")) {
      return;
    }
    this.#openings.set(deviceId, now);
    this.#pump();
  }

  /** Sends waiting prompts. A prompt written in another tab is left to that tab, unless it fails to send it. */
  changed(elsewhere: boolean): void {
    if (elsewhere) {
      this.#later ??= setTimeout(() => this.#wantAll(), this.#patience);
    } else {
      this.#wantAll();
    }
    this.#pump();
  }

  stop(): void {
    clearTimeout(this.#later);
    for (const timer of this.#moving.values()) {
      clearTimeout(timer);
    }
    this.#openings.clear();
  }

  get #patience(): number {
    return this.#options.patience ?? PATIENCE;
  }

  #wantAll(): void {
    this.#later = undefined;
    for (const deviceId of new Set(this.#options.outbox.items.filter(waits).map((item) => item.deviceId))) {
      this.#options.want(deviceId);
    }
  }

  #pump(): void {
    for (const lane of new Set(this.#options.outbox.items.map(laneOf))) {
      void this.#run(lane);
    }
  }

  /** Sends the prompts of a lane, one after the other. */
  async #run(lane: string): Promise<void> {
    if (this.#running.has(lane)) {
      return;
    }
    this.#running.add(lane);
    for (let next = this.#next(lane); next; next = this.#next(lane)) {
      const { clientKey } = next;
      await this.#alone(lane, () => this.#step(lane, clientKey));
    }
    this.#running.delete(lane);
  }

  #next(lane: string): OutboxItem | undefined {
    return this.#options.outbox.items.find((item) => {
      const opening = this.#openings.get(item.deviceId);
      const blocked = this.#stalled.get(lane) === opening || this.#tried.get(item.clientKey) === opening;
      return opening && laneOf(item) === lane && waits(item) && !blocked;
    });
  }

  async #alone(lane: string, work: () => Promise<void>): Promise<void> {
    const { locks } = this.#options;
    if (!locks) {
      return work();
    }
    let begun = false;
    const run = () => {
      begun = true;
      return work();
    };
    try {
      await locks.request(`scorel.send ${lane}`, { signal: AbortSignal.timeout(this.#patience) }, run);
    } catch {
      if (!begun) {
        await work(); // the tab that holds the lock may be frozen
      }
    }
  }

  async #step(lane: string, clientKey: string): Promise<void> {
    const { outbox } = this.#options;
    const item = await outbox.current(clientKey);
    const opening = item && this.#openings.get(item.deviceId);
    if (!item || !opening || !waits(item) || laneOf(item) !== lane) {
      return;
    }
    this.#tried.set(clientKey, opening);
    try {
      await this.#deliver(item);
    } catch (err) {
      await this.#failed(lane, item, opening, err);
    }
  }

  async #deliver(item: OutboxItem): Promise<void> {
    const { outbox } = this.#options;
    const { clientKey } = item;
    const ask = this.#options.ask(item.deviceId);
    if (beginsSession(item)) {
      const outcome = await beginSession(outbox, ask, clientKey, (done) => outbox.progress(clientKey, done));
      if (outcome) {
        await outbox.remove(clientKey, outcome);
      }
      this.#tried.delete(clientKey);
      this.#pump();
      return;
    }
    // The host may answer late, but it must have the prompt before the next one is sent.
    await new Promise<void>((resolve, reject) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const asked = () => {
        timer = setTimeout(resolve, this.#patience);
      };
      sendPrompt(ask, item, (done) => outbox.progress(clientKey, done), asked)
        .then((outcome) => outbox.remove(clientKey, outcome))
        .then(resolve, (err) => this.#late(item, err, reject))
        .finally(() => clearTimeout(timer));
    });
  }

  // Handles an error answer that arrives after the next prompt was sent.
  #late(item: OutboxItem, err: unknown, reject: (err: unknown) => void): void {
    reject(err);
    if (err instanceof MovingError) {
      this.#sendLater(item);
    } else if (err instanceof ApiError && err.kind !== ApiKind.moved) {
      void this.#refused(item.clientKey, err);
    }
  }

  async #failed(lane: string, item: OutboxItem, opening: string, err: unknown): Promise<void> {
    const { outbox } = this.#options;
    // A prompt of a moved session follows it as soon as this browser may use the other device.
    if (err instanceof OfflineError || (err instanceof ApiError && err.kind === ApiKind.moved)) {
      this.#tried.delete(item.clientKey);
      this.#stalled.set(lane, opening);
      return;
    }
    if (err instanceof MovingError) {
      this.#sendLater(item);
      return;
    }
    // An item that cannot be read any more, such as an image that the browser has evicted, is final like an error
    // answer.
    const current = await outbox.current(item.clientKey);
    if (current?.discarded) {
      await outbox.remove(item.clientKey, "discarded"); // there is nothing to delete, or deleting it is not permitted
    } else {
      await this.#refused(item.clientKey, err);
    }
  }

  /** Sends the prompts of a session that is being moved again after a pause: the move may be canceled. */
  #sendLater(item: OutboxItem): void {
    const lane = laneOf(item);
    this.#tried.delete(item.clientKey);
    this.#stalled.set(lane, this.#openings.get(item.deviceId) ?? "");
    clearTimeout(this.#moving.get(lane));
    const again = () => {
      this.#moving.delete(lane);
      this.#stalled.delete(lane);
      this.#pump();
    };
    this.#moving.set(lane, setTimeout(again, this.#options.movePause ?? MOVE_PAUSE));
  }

  async #refused(clientKey: string, err: unknown): Promise<void> {
    const error = err instanceof Error ? err.message : String(err);
    const kind = err instanceof ApiError ? { kind: err.kind } : {};
    this.#tried.delete(clientKey);
    await this.#options.outbox.update(clientKey, (item) => (item.error === error ? item : { ...item, error, ...kind }));
  }
}

function waits(item: OutboxItem): boolean {
  return item.error === null;
}

/**
 * Returns the lane of an item, in which prompts are sent in order: its session, or the item itself if it begins one.
 */
function laneOf(item: OutboxItem): string {
  return `${item.deviceId} ${beginsSession(item) ? item.clientKey : item.sessionId}`;
}
