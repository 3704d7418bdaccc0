// The prompts that wait in this browser, the same in every tab: each tab's worker has them in memory, changes them on
// disk, and tells its page and the other tabs. One change is made after the other.
import { byAge, type Gone, type OutboxItem, type OutboxNews } from "../api/outbox";
import type { OutboxStore } from "./outbox-store";

export interface OutboxOptions {
  store: OutboxStore;
  /** Of this browser: what another identity of it left behind is not sent. */
  clientId: string;
  /** Tells the page; `here`: this tab has done it. */
  tell: (news: OutboxNews, here: boolean) => void;
  /** Something may have to be sent. `elsewhere`: another tab has changed it. */
  changed: (elsewhere: boolean) => void;
  /** Joins all tabs; null where there is nothing to join them. */
  tabs: Pick<BroadcastChannel, "postMessage" | "onmessage" | "close"> | null;
}

export class Outbox {
  readonly #options: OutboxOptions;
  #items = new Map<string, OutboxItem>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: OutboxOptions) {
    this.#options = options;
    if (options.tabs) {
      options.tabs.onmessage = ({ data }: MessageEvent<OutboxNews>) => this.#hear(data);
    }
  }

  /** The items in the order in which they were written. */
  get items(): OutboxItem[] {
    return [...this.#items.values()].sort(byAge);
  }

  /** Reads what was kept. */
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

  /** Keeps a new item. Resolves when it is on disk, or known not to get there. */
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

  /** The item as it is now on disk, which another tab may have changed; null where it is gone. */
  async current(clientKey: string): Promise<OutboxItem | null> {
    return this.update(clientKey, (item) => item);
  }

  /** Changes an item. Resolves with what it has become, or with null where it is gone. */
  update(clientKey: string, change: (item: OutboxItem) => OutboxItem): Promise<OutboxItem | null> {
    return this.#change(clientKey, change, "discarded");
  }

  /** Removes an item; `outcome` is what is said of it. */
  async remove(clientKey: string, outcome: Gone["outcome"]): Promise<void> {
    await this.#change(clientKey, () => null, outcome);
  }

  /** Tries again what the host refused. */
  async retry(clientKey: string): Promise<void> {
    await this.update(clientKey, (item) => (item.error === null ? item : { ...item, error: null }));
  }

  /** Takes an item back. A session that the host was asked for goes with it, as soon as the host can be reached. */
  async discard(clientKey: string): Promise<void> {
    const change = (item: OutboxItem) => (item.asked ? { ...item, discarded: true, error: null } : null);
    await this.#change(clientKey, change, "discarded");
  }

  /** Drops everything that is for a device. */
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
      // One that the disk did not take, because it is full or closed, is sent all the same, by whichever tab.
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

  #hear(news: OutboxNews): void {
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
