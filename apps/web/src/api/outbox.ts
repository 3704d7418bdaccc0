// The prompts that are not in a session's log yet, kept in IndexedDB so that no
// reload and no crash of the browser loses one.
import { openDb, STORES, transact } from "./db";

/** One prompt on its way. Its clientKey makes every retry safe: the host takes it once. */
export interface OutboxItem {
  clientKey: string;
  deviceId: string;
  sessionId: string;
  text: string;
  createdAt: number;
  /** It is for the turn that runs, not for its end. */
  steer?: boolean;
  /** The host's refusal; null while it is still to be sent. */
  error: string | null;
}

export interface OutboxStore {
  /** The prompts of one session in the order they were written. */
  load(deviceId: string, sessionId: string): Promise<OutboxItem[]>;
  has(clientKey: string): Promise<boolean>;
  put(item: OutboxItem): Promise<void>;
  remove(clientKey: string): Promise<void>;
}

/** The outbox of this browser. Every call opens the database at most once. */
export class IdbOutbox implements OutboxStore {
  #db: Promise<IDBDatabase> | null = null;

  async load(deviceId: string, sessionId: string): Promise<OutboxItem[]> {
    const items = await transact<OutboxItem[]>(await this.#open(), STORES.outbox, "readonly", (store) =>
      store.index("session").getAll([deviceId, sessionId]),
    );
    return items.sort((a, b) => a.createdAt - b.createdAt);
  }

  async has(clientKey: string): Promise<boolean> {
    const count = await transact(await this.#open(), STORES.outbox, "readonly", (store) => store.count(clientKey));
    return count > 0;
  }

  async put(item: OutboxItem): Promise<void> {
    await transact(await this.#open(), STORES.outbox, "readwrite", (store) => store.put(item));
  }

  async remove(clientKey: string): Promise<void> {
    await transact(await this.#open(), STORES.outbox, "readwrite", (store) => store.delete(clientKey));
  }

  #open(): Promise<IDBDatabase> {
    this.#db ??= openDb().then((db) => {
      db.onclose = () => {
        this.#db = null;
      };
      return db;
    });
    return this.#db;
  }
}
