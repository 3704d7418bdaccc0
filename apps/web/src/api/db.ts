// The IndexedDB of keys, pins and the outbox. Drafts and the copies of sessions have their own databases.

export const STORES = { identity: "identity", pins: "pins", outbox: "outbox" } as const;
export type StoreName = keyof typeof STORES;

const NAME = "scorel";
const VERSION = 1;

/** Opens the database and creates its stores on the first run. */
export function openDb(factory: IDBFactory = indexedDB): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = factory.open(NAME, VERSION);
    request.onupgradeneeded = () => {
      const db = request.result;
      db.createObjectStore(STORES.identity);
      db.createObjectStore(STORES.pins, { keyPath: ["authority", "id"] });
      db.createObjectStore(STORES.outbox, { keyPath: "clientKey" }).createIndex("session", ["deviceId", "sessionId"]);
    };
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      const db = request.result;
      // A newer page in another tab would wait for this connection to close.
      db.onversionchange = () => db.close();
      resolve(db);
    };
  });
}

/**
 * Runs one transaction over one store and resolves with the result of the request that `work` returned, once the
 * transaction is on disk.
 */
export function transact<T>(
  db: IDBDatabase,
  name: StoreName,
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    // Chromium's default does not wait for the disk.
    const tx = db.transaction(name, mode, { durability: "strict" });
    const request = work(tx.objectStore(name));
    tx.oncomplete = () => resolve(request.result);
    tx.onabort = () => reject(tx.error ?? new Error("the browser's database gave up a transaction"));
    tx.onerror = () => reject(tx.error);
  });
}
