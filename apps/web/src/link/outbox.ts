// The prompts that wait in this browser, the same in every tab: each tab's worker holds them in memory, changes them on
// disk, and notifies its page and the other tabs. Changes are made one at a time.
import { byAge, type Gone, type OutboxItem, type OutboxNews } from "../api/outbox";
import type { OutboxStore } from "./outbox-store";

export interface OutboxOptions {
  store: OutboxStore;
  /** The current identity. Items of another identity of this browser are not sent. */
  clientId: string;
  /** Notifies the page. `here` is true when this tab made the change. */
  tell: (news: OutboxNews, here: boolean) => void;
  /** Called when there may be something to send. `elsewhere` is true when another tab made the change. */
  changed: (elsewhere: boolean) => void;
  /** The channel between all tabs; null if there is none. */
  tabs: Pick<BroadcastChannel, "postMessage" | "onmessage" | "close"> | null;
}

export class Outbox {
  readonly #options: OutboxOptions;
  #items = new Map<string, OutboxItem>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: OutboxOptions) {
    this.#options = options;
    if (options.tabs) {
      options.tabs.onmessage = ({ data }: MessageEvent<OutboxNews>) => this.#applyNews(data);
    }
  }

  /** The items, oldest first. */
  get items(): OutboxItem[] {
    return [...this.#items.values()].sort(byAge);
  }

  /** Loads the stored items. */
  load(): Promise<void> {
    return this.#inTurn(async () => {
      const { store, clientId, tell, changed } = this.#options;
      const kept = await store.all().catch(() => []);
      const mine = kept.filter((item) => item.clientId === undefined || item.clientId === clientId);
      this.#items = new Map(mine.map((item) => [item.clientKey, item]));
      tell({ changed: mine, gone: [] }, true);
      changed(false);
    });
  }

  /** Adds an item. Resolves when it is on disk, or when storing it has failed. */
  add(item: OutboxItem): Promise<void> {
    return this.#inTurn(async () => {
      const { store, clientId } = this.#options;
      const own = { ...item, clientId };
      const stored = await store.put(own).then(
        () => true,
        () => false,
      );
      this.#publish({ changed: [stored ? own : { ...own, unstored: true }], gone: [] });
    });
  }

  /** Returns the item as it is on disk, where another tab may have changed it; null if it was removed. */
  async current(clientKey: string): Promise<OutboxItem | null> {
    return this.update(clientKey, (item) => item);
  }

  /** Changes an item. Resolves with the changed item, or with null if it was removed. */
  update(clientKey: string, change: (item: OutboxItem) => OutboxItem): Promise<OutboxItem | null> {
    return this.#change(clientKey, change, "discarded");
  }

  /** Removes an item; `outcome` is reported for it. */
  async remove(clientKey: string, outcome: Gone["outcome"]): Promise<void> {
    await this.#change(clientKey, () => null, outcome);
  }

  /** Retries an item that the host rejected. */
  async retry(clientKey: string): Promise<void> {
    await this.update(clientKey, (item) => (item.error === null ? item : { ...item, error: null }));
  }

  /**
   * Discards an item. A session that the host was asked to create for it is deleted as soon as the host can be reached.
   */
  async discard(clientKey: string): Promise<void> {
    const change = (item: OutboxItem) => (item.asked ? { ...item, discarded: true, error: null } : null);
    await this.#change(clientKey, change, "discarded");
  }

  /** Removes all items for a device. */
  async wipe(deviceId: string): Promise<void> {
    for (const { clientKey } of this.items.filter((item) => item.deviceId === deviceId)) {
      await this.remove(clientKey, "discarded");
    }
  }

  progress(clientKey: string, done: number): void {
    this.#publish({ changed: [], gone: [], progress: { clientKey, done } });
  }

  close(): void {
    this.#options.tabs?.close();
  }

  #change(
    clientKey: string,
    change: (item: OutboxItem) => OutboxItem | null,
    outcome: Gone["outcome"],
  ): Promise<OutboxItem | null> {
    return this.#inTurn(async () => {
      const before = this.#items.get(clientKey);
      const inMemory = () => before && change(before);
      // An item that could not be stored, because the disk is full or unavailable, is sent all the same, by any tab.
      const after = before?.unstored ? inMemory() : await this.#options.store.update(clientKey, change).catch(inMemory);
      if (!after) {
        if (before) {
          this.#publish({ changed: [], gone: [{ clientKey, outcome }] });
        }
        return null;
      }
      if (JSON.stringify(after) !== JSON.stringify(before)) {
        this.#publish({ changed: [after], gone: [] });
      }
      return after;
    });
  }

  #publish(news: OutboxNews): void {
    this.#take(news);
    this.#options.tell(news, true);
    this.#options.tabs?.postMessage(news);
    if (news.changed.length > 0) {
      this.#options.changed(false);
    }
  }

  #applyNews(news: OutboxNews): void {
    this.#take(news);
    this.#options.tell(news, false);
    if (news.changed.length > 0) {
      this.#options.changed(true);
    }
  }

  #take({ changed, gone }: OutboxNews): void {
    for (const item of changed) {
      this.#items.set(item.clientKey, item);
    }
    for (const { clientKey } of gone) {
      this.#items.delete(clientKey);
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => {});
    return result;
  }
}
