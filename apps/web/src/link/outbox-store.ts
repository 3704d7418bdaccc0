// The outbox on this browser's disk, so that neither a reload nor a crash loses a prompt.
import { STORES, transact } from "../api/db";
import type { OutboxItem } from "../api/outbox";

export interface OutboxStore {
  all(): Promise<OutboxItem[]>;
  put(item: OutboxItem): Promise<void>;
  /**
   * Changes an item in one transaction, so that no other tab interferes. `change` returns the new item, or null to
   * remove it. Resolves with that, or with undefined if there is no such item.
   */
  update(clientKey: string, change: (item: OutboxItem) => OutboxItem | null): Promise<OutboxItem | null | undefined>;
}

export class IdbOutbox implements OutboxStore {
  readonly #db: IDBDatabase;

  constructor(db: IDBDatabase) {
    this.#db = db;
  }

  all(): Promise<OutboxItem[]> {
    return transact<OutboxItem[]>(this.#db, STORES.outbox, "readonly", (store) => store.getAll());
  }

  async put(item: OutboxItem): Promise<void> {
    await transact(this.#db, STORES.outbox, "readwrite", (store) => store.put(item));
  }

  async update(
    clientKey: string,
    change: (item: OutboxItem) => OutboxItem | null,
  ): Promise<OutboxItem | null | undefined> {
    let after: OutboxItem | null | undefined;
    await transact<OutboxItem | undefined>(this.#db, STORES.outbox, "readwrite", (store) => {
      const request: IDBRequest<OutboxItem | undefined> = store.get(clientKey);
      request.onsuccess = () => {
        const before = request.result;
        after = before && change(before);
        if (after === null) {
          store.delete(clientKey);
        } else if (after && after !== before) {
          store.put(after);
        }
      };
      return request;
    });
    return after;
  }
}
