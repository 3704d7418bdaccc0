// The encrypted copies on this browser's disk. They have their own database, so that open pages of an older version can
// keep using theirs. Each device has a non-extractable key; deleting a device's copies deletes its key.
import { utf8 } from "@scorel/protocol";
import { kindOf, sessionOf } from "./images";

const NAME = "scorel-copies";
const KEYS = "keys";
const ROWS = "rows";
const BODIES = "bodies";

export const LIMITS = {
  /** For one copy, as JSON. */
  copyBytes: 2 * 1024 * 1024,
  /** For all copies except images. */
  bytes: 32 * 1024 * 1024,
  /** For all images, in base64 as stored. */
  imageBytes: 32 * 1024 * 1024,
  /** For the images of one session. */
  sessionImageBytes: 12 * 1024 * 1024,
  /** For all devices. */
  sessions: 100,
  /** For all devices. */
  lists: 200,
};

/** The data that a copy belongs to. A copy opens for this scope only. */
export interface Scope {
  deviceId: string;
  /** "" for data that belongs to no project. */
  projectId: string;
  /** Identifies the copy on its device: the id of a session, "list " and the request, or "image ", session and hash. */
  id: string;
}

/** The metadata of a copy, readable without opening it. */
interface Row extends Scope {
  savedAt: number;
  /** When it was last written or read. */
  usedAt: number;
  bytes: number;
}

interface Body {
  deviceId: string;
  id: string;
  iv: Uint8Array<ArrayBuffer>;
  sealed: ArrayBuffer;
}

export interface Opened {
  projectId: string;
  savedAt: number;
  value: unknown;
}

export interface CopyStoreOptions {
  /** The identity that stored the copy. Copies of another identity of this browser do not open. */
  clientId: string;
  limits?: typeof LIMITS;
  now?: () => number;
}

/** Every operation may fail: a browser may refuse storage or run out of it. Then there are no copies. */
export class CopyStore {
  readonly #options: CopyStoreOptions;
  #db: Promise<IDBDatabase> | null = null;

  constructor(options: CopyStoreOptions) {
    this.#options = options;
  }

  /** Opens a copy. If it cannot be opened, it is deleted, and null returned. */
  async read(deviceId: string, id: string): Promise<Opened | null> {
    const db = await this.#open();
    const [row, body, key] = await inOne(db, "readonly", (store) => [
      store(ROWS).get([deviceId, id]) as IDBRequest<Row | undefined>,
      store(BODIES).get([deviceId, id]) as IDBRequest<Body | undefined>,
      store(KEYS).get(deviceId) as IDBRequest<CryptoKey | undefined>,
    ]);
    if (!row) {
      return null;
    }
    try {
      const value = await opened(this.#options.clientId, row, body, key);
      await this.#used(db, row);
      return { projectId: row.projectId, savedAt: row.savedAt, value };
    } catch {
      await this.delete(deviceId, id);
      return null;
    }
  }

  /** Seals and stores a copy, replacing an older one. The least recently used copies are deleted to make room. */
  async write(scope: Scope, value: unknown): Promise<void> {
    const { clientId, now = Date.now } = this.#options;
    const db = await this.#open();
    const plain = utf8(JSON.stringify(value));
    const time = now();
    const row: Row = { ...scope, savedAt: time, usedAt: time, bytes: plain.length };
    const key = await this.#keyOf(db, scope.deviceId);
    const iv = crypto.getRandomValues(new Uint8Array(12));
    const additionalData = scopeBytes(clientId, row);
    const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData }, key, plain);
    const { deviceId, id } = scope;
    try {
      await putCopy(db, row, { deviceId, id, iv, sealed });
    } catch (err) {
      // The disk may be full: make room for the next write.
      await this.#prune(db, 0.5).catch(() => {});
      throw err;
    }
    await this.#prune(db, 1);
  }

  async delete(deviceId: string, id: string): Promise<void> {
    const db = await this.#open();
    await inOne(db, "readwrite", (store) => [store(ROWS).delete([deviceId, id]), store(BODIES).delete([deviceId, id])]);
  }

  /** Deletes the copies whose ids begin with a prefix. */
  async deleteAll(deviceId: string, prefix: string): Promise<void> {
    const db = await this.#open();
    const range = IDBKeyRange.bound([deviceId, prefix], [deviceId, `${prefix}\uffff`]);
    await inOne(db, "readwrite", (store) => [store(ROWS).delete(range), store(BODIES).delete(range)]);
  }

  /** Deletes the copies of a device, and the key that opens them. */
  async wipe(deviceId: string): Promise<void> {
    const db = await this.#open();
    const range = IDBKeyRange.bound([deviceId], [deviceId, []]);
    await inOne(db, "readwrite", (store) => [
      store(KEYS).delete(deviceId),
      store(ROWS).delete(range),
      store(BODIES).delete(range),
    ]);
  }

  /** Returns the ids of all copies, by device. */
  async all(): Promise<Map<string, string[]>> {
    const db = await this.#open();
    const [rows, keys] = await inOne(db, "readonly", (store) => [
      store(ROWS).getAllKeys() as IDBRequest as IDBRequest<[string, string][]>,
      store(KEYS).getAllKeys() as IDBRequest as IDBRequest<string[]>,
    ]);
    const all = new Map<string, string[]>(keys.map((deviceId) => [deviceId, []]));
    for (const [deviceId, id] of rows) {
      all.set(deviceId, [...(all.get(deviceId) ?? []), id]);
    }
    return all;
  }

  close(): void {
    void this.#db?.then(
      (db) => db.close(),
      () => {},
    );
  }

  async #used(db: IDBDatabase, row: Row): Promise<void> {
    const { now = Date.now } = this.#options;
    await new Promise<void>((resolve) => {
      const tx = db.transaction(ROWS, "readwrite");
      const rows = tx.objectStore(ROWS);
      const found: IDBRequest<Row | undefined> = rows.get([row.deviceId, row.id]);
      found.onsuccess = () => found.result && rows.put({ ...found.result, usedAt: now() });
      // The copy is returned even if updating its time fails.
      tx.oncomplete = () => resolve();
      tx.onabort = () => resolve();
    });
  }

  /** Returns the key of a device. Two tabs that create it at once get the same key. */
  async #keyOf(db: IDBDatabase, deviceId: string): Promise<CryptoKey> {
    const [known] = await inOne(db, "readonly", (store) => [
      store(KEYS).get(deviceId) as IDBRequest<CryptoKey | undefined>,
    ]);
    if (known) {
      return known;
    }
    let key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
    await inOne(db, "readwrite", (store) => {
      const keys = store(KEYS);
      const found: IDBRequest<CryptoKey | undefined> = keys.get(deviceId);
      found.onsuccess = () => {
        if (found.result) {
          key = found.result;
        } else {
          keys.put(key, deviceId);
        }
      };
      return [found];
    });
    return key;
  }

  /** Deletes the copies that exceed `share` of a limit, least recently used first. */
  async #prune(db: IDBDatabase, share: number): Promise<void> {
    const { limits = LIMITS } = this.#options;
    const [rows] = await inOne(db, "readonly", (store) => [store(ROWS).getAll() as IDBRequest<Row[]>]);
    for (const { deviceId, id } of overLimits(rows, limits, share)) {
      await this.delete(deviceId, id);
    }
  }

  #open(): Promise<IDBDatabase> {
    this.#db ??= openCopies();
    return this.#db;
  }
}

/**
 * Returns the copies that exceed `share` of a limit. Images have separate limits, so that they do not displace text.
 */
function overLimits(rows: Row[], limits: typeof LIMITS, share: number): Row[] {
  const used = new Map<string, number>();
  const isOver = (limit: string, more: number, most: number) => {
    const now = (used.get(limit) ?? 0) + more;
    used.set(limit, now);
    return now > most * share;
  };
  return rows
    .sort((a, b) => b.usedAt - a.usedAt)
    .filter(({ deviceId, id, bytes }) => {
      const kind = kindOf(id);
      if (kind !== "images") {
        const checks = [isOver("bytes", bytes, limits.bytes), isOver(kind, 1, limits[kind])];
        return checks.includes(true);
      }
      // An image over its session's limit does not count towards the others.
      return (
        isOver(`${deviceId} ${sessionOf(id)}`, bytes, limits.sessionImageBytes) ||
        isOver("images", bytes, limits.imageBytes)
      );
    });
}

/** Rejects if a part is missing, was changed, or belongs to another copy. */
async function opened(clientId: string, row: Row, body?: Body, key?: CryptoKey): Promise<unknown> {
  const additionalData = scopeBytes(clientId, row);
  const { iv, sealed } = body as Body;
  const plain = await crypto.subtle.decrypt({ name: "AES-GCM", iv, additionalData }, key as CryptoKey, sealed);
  return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(plain));
}

function openCopies(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(KEYS);
      for (const name of [ROWS, BODIES]) {
        request.result.createObjectStore(name, { keyPath: ["deviceId", "id"] });
      }
    };
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      const db = request.result;
      db.onversionchange = () => db.close();
      resolve(db);
    };
  });
}

/** Stores a copy, unless the key that it was sealed with was deleted meanwhile. */
async function putCopy(db: IDBDatabase, row: Row, body: Body): Promise<void> {
  await inOne(db, "readwrite", (store) => {
    const key = store(KEYS).getKey(row.deviceId);
    key.onsuccess = () => {
      if (key.result !== undefined) {
        store(ROWS).put(row);
        store(BODIES).put(body);
      }
    };
    return [key];
  });
}

/** Returns the bytes that bind a copy to the identity that stored it, its scope, and the time of storing. */
function scopeBytes(clientId: string, { deviceId, projectId, id, savedAt }: Row): Uint8Array<ArrayBuffer> {
  return utf8(JSON.stringify(["scorel-copy-1", clientId, deviceId, projectId, id, savedAt]));
}

type Results<T extends IDBRequest[]> = { [K in keyof T]: T[K] extends IDBRequest<infer R> ? R : never };

/** Runs one transaction over all stores and resolves with the results of the requests once it is complete. */
function inOne<T extends IDBRequest[]>(
  db: IDBDatabase,
  mode: IDBTransactionMode,
  work: (store: (name: string) => IDBObjectStore) => [...T],
): Promise<Results<T>> {
  return new Promise((resolve, reject) => {
    const tx = db.transaction([KEYS, ROWS, BODIES], mode);
    const requests = work((name) => tx.objectStore(name));
    tx.oncomplete = () => resolve(requests.map((request) => request.result) as Results<T>);
    tx.onabort = () => reject(tx.error ?? new Error("the browser's database gave up a transaction"));
  });
}
