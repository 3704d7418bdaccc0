// This browser's copies of data from its hosts: the lists, the ends of opened sessions, and the images shown in them.
// It observes the requests of pages and the answers of hosts, stores them, and returns them when a page opens the same
// data again.
import type { Saved, SessionCopy } from "../../api/copies";
import { RefusedError, type WireEvent } from "../../api/messages";
import { ApiKind, type Requests, type ResyncEventsResponse, type SessionSummary } from "../../api/types";
import type { Outbox } from "../outbox";
import { deletedSessions } from "./deleted";
import { ImageParts, imageCopy, imageId, imagesOf, sessionOf } from "./images";
import { keyOf, partsOf } from "./keys";
import { listAfter, listId } from "./lists";
import { carryCopies, carryPrompts, type Move } from "./moved";
import { type Asked, afterEvent, afterResync, checkedCopy, type Followed, fitting, renewedCopy } from "./session-copy";
import { CopyStore, LIMITS } from "./store";
import { UnseenImages } from "./unseen-images";

export interface CopiesOptions {
  store: CopyStore;
  /** Reports whether this browser may use a device. */
  isBound: (deviceId: string) => Promise<boolean>;
  /** Sends a request to a host that can be reached. */
  ask: (deviceId: string, name: string, fields: object) => Promise<unknown>;
  /** The prompts that wait in this browser. */
  outbox: () => Pick<Outbox, "items" | "update">;
  /** The longest time before a change is written while more changes follow, in milliseconds. */
  delay: number;
}

/** Returns the copies on this browser's disk, and begins to delete those that it may no longer have. */
export function makeCopies({ clientId, ...options }: Omit<CopiesOptions, "store"> & { clientId: string }): Copies {
  const copies = new Copies({ ...options, store: new CopyStore({ clientId }) });
  copies.sweep().catch(() => {});
  return copies;
}

type AskedOf = Asked & { sessionId: string };

type BlobAsked = Requests["get_blob"]["request"];

/** The delay before the first change after a pause is written, in milliseconds. */
const SOON = 300;

export class Copies {
  readonly #options: CopiesOptions;
  /** The followed sessions, by device and session. */
  #sessions = new Map<string, Followed>();
  /** The answers to list requests, by device and id. */
  #lists = new Map<string, unknown>();
  #dirty = new Map<string, () => Promise<void>>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #flushedAt = 0;
  #writing: Promise<void> = Promise.resolve();
  #checked = new Set<string>();
  #parts = new ImageParts();
  readonly #unseen: UnseenImages;
  /** The sessions known to have moved to other devices, by device and session. */
  #moved = new Map<string, Move>();

  constructor(options: CopiesOptions) {
    this.#options = options;
    this.#unseen = new UnseenImages({
      stored: async (deviceId) => (await options.store.all()).get(deviceId) ?? [],
      part: async (deviceId, fields) => {
        const answer = (await options.ask(deviceId, "get_blob", fields)) as Requests["get_blob"]["response"];
        this.answered(deviceId, "get_blob", fields, answer);
        return answer;
      },
      bytes: LIMITS.sessionImageBytes,
      delay: options.delay,
    });
  }

  /** Returns the stored copy of a session. */
  async session(deviceId: string, sessionId: string): Promise<Saved<SessionCopy> | null> {
    const followed = this.#followed(deviceId, sessionId);
    if (followed.live && followed.copy) {
      return { savedAt: Date.now(), value: followed.copy }; // another page opens the same session
    }
    await this.flush();
    const read = await this.#read(deviceId, sessionId);
    const value = read && checkedCopy(read.value, sessionId, read.projectId);
    if (!read || !value) {
      if (read) {
        await this.#options.store.delete(deviceId, sessionId);
      }
      return null;
    }
    if (!followed.asking && !followed.live) {
      followed.copy = value;
    }
    return { savedAt: read.savedAt, value };
  }

  /** Returns the stored answer to a request. */
  async list(deviceId: string, name: string, fields: object): Promise<Saved<unknown> | null> {
    const id = name === "get_blob" ? imageId(fields as BlobAsked) : listId(name, fields);
    return id === null ? null : this.#read(deviceId, id);
  }

  /** Records a page's request to a host. */
  asked(deviceId: string, name: string, fields: object): void {
    const { sessionId = "" } = fields as { sessionId?: string };
    if (name === "resync_events") {
      const followed = this.#followed(deviceId, sessionId);
      if (!followed.live) {
        followed.asking ??= fields;
      }
    } else if (name === "unsubscribe") {
      this.#sessions.delete(keyOf(deviceId, sessionId));
      void this.flush();
    }
  }

  /** Records a host's answer. */
  answered(deviceId: string, name: string, fields: object, result: unknown): void {
    if (name === "resync_events") {
      this.#resynced(deviceId, fields, result as ResyncEventsResponse);
    }
    if (name === "get_blob") {
      this.#keepImage(deviceId, fields as BlobAsked, result as Requests["get_blob"]["response"]);
    }
    const id = listId(name, fields);
    if (id !== null) {
      this.#keepList(deviceId, id, result);
    }
  }

  /** Records that a host rejected a request or could not be reached. */
  failed(deviceId: string, name: string, fields: object, err: unknown): void {
    const { sessionId = "" } = fields as { sessionId?: string };
    const followed = this.#sessions.get(keyOf(deviceId, sessionId));
    if (name !== "resync_events" || followed?.asking !== fields) {
      return;
    }
    followed.asking = null;
    followed.pending = [];
    if (err instanceof RefusedError && err.kind === ApiKind.not_found) {
      this.#forget(deviceId, sessionId);
    }
  }

  /** Applies an event of a host. */
  heard(deviceId: string, event: WireEvent): void {
    const sessionId = event.sessionId ?? "";
    const followed = this.#sessions.get(keyOf(deviceId, sessionId));
    if (followed?.asking) {
      followed.pending.push(event);
    } else if (followed?.copy) {
      this.#follow(deviceId, sessionId, followed, afterEvent(followed.copy, event));
    }
    if (event.type === "session_updated") {
      this.#summarized(deviceId, event.session as SessionSummary);
    } else if (event.type === "session_deleted") {
      this.#forget(deviceId, event.id as string);
    } else if (event.type === "session_moved") {
      this.#move({ from: deviceId, sessionId: event.id as string, to: event.deviceId as string });
    }
    for (const [key, answer] of this.#lists) {
      const [of, id] = partsOf(key);
      const after = of === deviceId ? listAfter(id, answer, event) : answer;
      if (after !== answer) {
        this.#keepList(deviceId, id, after);
      }
    }
  }

  /** Handles a new channel to a device, or the loss of one: the copies no longer follow its events. */
  interrupted(deviceId: string): void {
    for (const [key, followed] of this.#sessions) {
      if (partsOf(key)[0] === deviceId) {
        followed.live = false;
      }
    }
  }

  /**
   * Deletes the copies of sessions that were deleted on a host while this browser was not connected. Runs once per
   * device.
   */
  async check(deviceId: string): Promise<void> {
    for (const move of this.#moved.values()) {
      if (move.to === deviceId) {
        void carryPrompts(this.#options.outbox(), move); // this browser was paired with it after the move
      }
    }
    if (this.#checked.has(deviceId)) {
      return;
    }
    this.#checked.add(deviceId);
    const { store, ask } = this.#options;
    const kept = ((await store.all()).get(deviceId) ?? []).flatMap((id) => sessionOf(id) ?? []);
    for (const sessionId of await deletedSessions(kept, (name, fields) => ask(deviceId, name, fields))) {
      this.#forget(deviceId, sessionId);
    }
  }

  /** Deletes the copies of devices that this browser may no longer use. */
  async sweep(): Promise<void> {
    for (const deviceId of (await this.#options.store.all()).keys()) {
      if (!(await this.#options.isBound(deviceId))) {
        await this.#options.store.wipe(deviceId);
      }
    }
  }

  /** Deletes all copies of a device. */
  async wipe(deviceId: string): Promise<void> {
    for (const map of [this.#sessions, this.#lists, this.#dirty]) {
      for (const key of map.keys()) {
        if (partsOf(key)[0] === deviceId) {
          map.delete(key);
        }
      }
    }
    await this.#options.store.wipe(deviceId);
  }

  /** Writes all changes. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const due = [...this.#dirty.values()];
    this.#flushedAt = due.length > 0 ? Date.now() : this.#flushedAt;
    this.#dirty.clear();
    this.#writing = this.#writing.then(async () => {
      for (const write of due) {
        await write().catch(() => {}); // storage is full or unavailable: there is no copy then
      }
    });
    return this.#writing;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#unseen.stop();
    this.#dirty.clear();
    this.#options.store.close();
  }

  #resynced(deviceId: string, fields: object, answer: ResyncEventsResponse): void {
    const { sessionId } = fields as { sessionId: string };
    const followed = this.#sessions.get(keyOf(deviceId, sessionId));
    if (followed?.asking !== fields) {
      return;
    }
    followed.live = true;
    const begun = afterResync(followed.copy, fields as Asked, answer);
    if (begun) {
      this.#begin(deviceId, sessionId, followed, begun, answer.anchors.streamLastSeq);
    } else {
      void this.#renew(deviceId, followed, fields as AskedOf, answer);
    }
  }

  /**
   * Follows a session whose page has more than this worker, as after a crash of the worker: from the stored copy if the
   * answer continues it, otherwise from the end of the session, which is requested.
   */
  async #renew(deviceId: string, followed: Followed, asked: AskedOf, answer: ResyncEventsResponse): Promise<void> {
    const { sessionId } = asked;
    try {
      const read = await this.#read(deviceId, sessionId);
      const stored = read && checkedCopy(read.value, sessionId, read.projectId);
      const ask = (fields: object) => this.#options.ask(deviceId, "get_entries", fields);
      const { copy, seq } = await renewedCopy(stored, asked, answer, ask);
      if (followed.asking === asked) {
        this.#begin(deviceId, sessionId, followed, copy, seq);
      }
    } catch {
      if (followed.asking === asked) {
        followed.asking = null;
        followed.pending = [];
      }
    }
  }

  /** Follows a session from a copy, to which the pending events after `seq` are applied. */
  #begin(deviceId: string, sessionId: string, followed: Followed, copy: SessionCopy, seq: number): void {
    const later = followed.pending.filter((event) => (event.seq ?? 0) > seq);
    followed.asking = null;
    followed.pending = [];
    this.#follow(deviceId, sessionId, followed, later.reduce(afterEvent, copy));
  }

  #follow(deviceId: string, sessionId: string, followed: Followed, copy: SessionCopy | null): void {
    if (copy === followed.copy) {
      return;
    }
    followed.copy = copy;
    if (copy) {
      const entries = () => (followed.live ? (followed.copy?.entries ?? null) : null);
      this.#unseen.want({ deviceId, sessionId, entries });
      this.#later(deviceId, sessionId, async () => {
        const kept = followed.copy && fitting(followed.copy, LIMITS.copyBytes);
        if (kept) {
          await this.#write(deviceId, kept.summary.projectId, sessionId, kept);
        }
      });
    }
  }

  #summarized(deviceId: string, summary: SessionSummary): void {
    const followed = this.#sessions.get(keyOf(deviceId, summary.id));
    if (followed?.copy) {
      this.#follow(deviceId, summary.id, followed, { ...followed.copy, summary });
    }
  }

  #keepList(deviceId: string, id: string, answer: unknown): void {
    this.#lists.set(keyOf(deviceId, id), answer);
    const { projectId = "" } = JSON.parse(id.split(" ").slice(2).join(" ")) as { projectId?: string };
    this.#later(deviceId, id, () => this.#write(deviceId, projectId, id, this.#lists.get(keyOf(deviceId, id))));
  }

  #keepImage(deviceId: string, fields: BlobAsked, answer: Requests["get_blob"]["response"]): void {
    const { sessionId, sha256 } = fields;
    const id = imageId(fields);
    const parts = this.#parts.take(keyOf(deviceId, id), fields, answer);
    if (!parts) {
      return;
    }
    const projectId = this.#sessions.get(keyOf(deviceId, sessionId))?.copy?.summary.projectId ?? "";
    this.#later(deviceId, id, async () => {
      const image = await imageCopy(parts, sha256, answer.mimeType);
      if (image) {
        await this.#write(deviceId, projectId, id, image);
      }
    });
  }

  /** Moves this browser's data of a session to the session's new device, if it may use that device. */
  #move(move: Move): void {
    const { from, sessionId, to } = move;
    const { store, isBound, outbox } = this.#options;
    this.#moved.set(keyOf(from, sessionId), move);
    this.#moved.delete(keyOf(to, sessionId));
    void this.flush();
    this.#writing = this.#writing
      .then(async () => {
        if (await isBound(to)) {
          await carryPrompts(outbox(), move);
          await carryCopies(store, move);
        }
      })
      .catch(() => {}); // storage is full or unavailable: there is no copy then
    this.#forget(from, sessionId);
  }

  #forget(deviceId: string, sessionId: string): void {
    const { store } = this.#options;
    this.#sessions.delete(keyOf(deviceId, sessionId));
    for (const key of this.#dirty.keys()) {
      const [of, id] = partsOf(key);
      if (of === deviceId && sessionOf(id) === sessionId) {
        this.#dirty.delete(key);
      }
    }
    this.#writing = this.#writing
      .then(() => Promise.all([store.delete(deviceId, sessionId), store.deleteAll(deviceId, imagesOf(sessionId))]))
      .then(
        () => {},
        () => {},
      );
  }

  #later(deviceId: string, id: string, write: () => Promise<void>): void {
    this.#dirty.set(keyOf(deviceId, id), write);
    // The first change after a pause is written soon, since the page may be closed. A session that changes continuously
    // is written from time to time.
    const rested = Date.now() - this.#flushedAt;
    const wait = Math.max(Math.min(SOON, this.#options.delay), this.#options.delay - rested);
    this.#timer ??= setTimeout(() => void this.flush(), wait);
  }

  async #write(deviceId: string, projectId: string, id: string, value: unknown): Promise<void> {
    const { store, isBound } = this.#options;
    if (value === undefined || !(await isBound(deviceId))) {
      return;
    }
    await store.write({ deviceId, projectId, id }, value);
    if (!(await isBound(deviceId))) {
      await store.wipe(deviceId); // the device was removed meanwhile
    }
  }

  async #read(deviceId: string, id: string) {
    const { store, isBound } = this.#options;
    return (await isBound(deviceId)) ? store.read(deviceId, id) : null;
  }

  #followed(deviceId: string, sessionId: string): Followed {
    const key = keyOf(deviceId, sessionId);
    const followed = this.#sessions.get(key) ?? { copy: null, live: false, asking: null, pending: [] };
    this.#sessions.set(key, followed);
    return followed;
  }
}
