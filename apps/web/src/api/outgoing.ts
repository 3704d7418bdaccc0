// The outbox as a page sees it. The worker owns it; a person's own changes are shown at once.

import type { ToLink } from "./messages";
import { byAge, type Gone, NO_SESSION, type OutboxItem, type OutboxNews } from "./outbox";
import { Store } from "./store";

export interface OutgoingOptions {
  post: (message: ToLink) => void;
  call: (make: (id: number) => ToLink) => Promise<unknown>;
}

/** Called when an item left the outbox. `here` is true when this tab delivered it to the host. */
export type OnGone = (item: OutboxItem, outcome: Gone["outcome"], here: boolean) => void;

interface Begun {
  promise: Promise<string>;
  resolve: (sessionId: string) => void;
}

export class Outgoing {
  readonly #options: OutgoingOptions;
  /** The items, oldest first, without the discarded ones. */
  readonly items = new Store<OutboxItem[]>([]);
  /** The uploaded part of an item's images, from 0 to 1. */
  readonly progress = new Store<ReadonlyMap<string, number>>(new Map());
  readonly #listeners = new Set<OnGone>();
  #stored = new Map<string, Promise<void>>();
  #begun = new Map<string, Begun>();
  #discarded = new Set<string>();
  #lastCreatedAt = 0;

  constructor(options: OutgoingOptions) {
    this.#options = options;
  }

  /** Adds a prompt and returns its client key. */
  add(fields: Omit<OutboxItem, "clientKey" | "createdAt" | "error">): string {
    // Strictly increasing, so that the order survives a reload.
    this.#lastCreatedAt = Math.max(Date.now(), this.#lastCreatedAt + 1);
    const item = { ...fields, clientKey: crypto.randomUUID(), createdAt: this.#lastCreatedAt, error: null };
    const kept = this.#options.call((id) => ({ t: "put", id, item }));
    const stored = kept.then(
      () => {},
      () => {},
    );
    this.#stored.set(item.clientKey, stored);
    this.#set([...this.items.get(), item]);
    return item.clientKey;
  }

  /** Resolves once this browser has stored the prompt. */
  stored(clientKey: string): Promise<void> {
    return this.#stored.get(clientKey) ?? Promise.resolve();
  }

  /** Resolves with the id of the session that began with the prompt. */
  begun(clientKey: string): Promise<string> {
    return this.#begunOf(clientKey).promise;
  }

  retry(clientKey: string): void {
    this.#set(this.items.get().map((item) => (item.clientKey === clientKey ? { ...item, error: null } : item)));
    this.#options.post({ t: "retry", clientKey });
  }

  discard(clientKey: string): void {
    this.#discarded.add(clientKey);
    this.#set(this.items.get().filter((item) => item.clientKey !== clientKey));
    this.#options.post({ t: "discard", clientKey });
  }

  /** Continues with another worker, which may not know which items were just discarded. */
  again(): void {
    for (const clientKey of this.#discarded) {
      this.#options.post({ t: "discard", clientKey });
    }
  }

  onGone(listener: OnGone): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Applies a change that the worker reports. */
  take({ changed, gone, progress }: OutboxNews, here: boolean): void {
    if (progress) {
      this.progress.set(new Map([...this.progress.get(), [progress.clientKey, progress.done]]));
    }
    if (changed.length === 0 && gone.length === 0) {
      return;
    }
    const items = new Map(this.items.get().map((item) => [item.clientKey, item]));
    for (const item of changed) {
      if (item.discarded || this.#discarded.has(item.clientKey)) {
        items.delete(item.clientKey);
      } else {
        items.set(item.clientKey, item);
      }
    }
    const lost = gone.flatMap(({ clientKey, outcome }) => {
      const item = items.get(clientKey);
      this.#forget(clientKey);
      items.delete(clientKey);
      return item ? [{ item, outcome }] : [];
    });
    // Runs before the list changes, so that a delivered prompt is always in one of the two places.
    for (const { item, outcome } of lost) {
      for (const listener of [...this.#listeners]) {
        listener(item, outcome, here);
      }
    }
    this.#set([...items.values()]);
    for (const { clientKey, sessionId } of changed) {
      if (sessionId !== NO_SESSION) {
        this.#begun.get(clientKey)?.resolve(sessionId);
      }
    }
  }

  #forget(clientKey: string): void {
    this.#stored.delete(clientKey);
    this.#discarded.delete(clientKey);
    if (this.progress.get().has(clientKey)) {
      this.progress.set(new Map([...this.progress.get()].filter(([key]) => key !== clientKey)));
    }
  }

  #set(items: OutboxItem[]): void {
    this.items.set(items.sort(byAge));
  }

  #begunOf(clientKey: string): Begun {
    let begun = this.#begun.get(clientKey);
    if (!begun) {
      let resolve: Begun["resolve"] = () => {};
      const promise = new Promise<string>((done) => {
        resolve = done;
      });
      begun = { promise, resolve };
      this.#begun.set(clientKey, begun);
      const item = this.items.get().find((each) => each.clientKey === clientKey);
      if (item && item.sessionId !== NO_SESSION) {
        resolve(item.sessionId);
      }
    }
    return begun;
  }
}
