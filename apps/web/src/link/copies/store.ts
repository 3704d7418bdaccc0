// The copies on the disk of this browser, encrypted. It is a database of its own, so that pages of an older version that
// are still open keep theirs. Each device has a key that script cannot read; deleting a device's copies deletes its key.
import { utf8 } from "@scorel/protocol";
import { kindOf, sessionOf } from "./images";

const NAME = "scorel-copies";
const KEYS = "keys";
const ROWS = "rows";
const BODIES = "bodies";

export const LIMITS = {
  /** Of one copy, as JSON. */
  copyBytes: 2 * 1024 * 1024,
  /** Of all copies without images. */
  bytes: 32 * 1024 * 1024,
  /** Of all images, in base64 as they are kept. */
  imageBytes: 32 * 1024 * 1024,
  /** Of the images of one session. */
  sessionImageBytes: 12 * 1024 * 1024,
  /** Sessions of all devices. */
  sessions: 100,
  /** Lists of all devices. */
  lists: 200,
};

/** What a copy belongs to. It opens for nothing else. */
export interface Scope {
  deviceId: string;
  /** "" for what belongs to no project. */
  projectId: string;
  /** Names it on its device: the id of a session, "list " and what was asked for, or "image ", session and hash. */
  id: string;
}

/** What is known of a copy without opening it. */
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
  /** Of this browser: what another identity of it left behind does not open. */
  clientId: string;
  limits?: typeof LIMITS;
  now?: () => number;
}

/** Everything in it may fail: a browser may refuse storage, or be out of it. Then there are no copies. */
export class CopyStore {
  readonly #options: CopyStoreOptions;
  #db: Promise<IDBDatabase> | null = null;

  constructor(options: CopyStoreOptions) {
    this.#options = options;
  }

  /** Opens a copy. One that cannot be opened is deleted. */
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

  /** Seals and keeps a copy in the place of an older one; the ones that were not used for the longest time go. */
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
      // Perhaps the disk is full: room is made for the next time.
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

  /** The devices that there are copies of, with the ids of these. */
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
      // A copy that is open counts, whatever becomes of its time.
      tx.oncomplete = () => resolve();
      tx.onabort = () => resolve();
    });
  }

  /** The key of a device. Two tabs that make one at once end with the same. */
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

  /** Deletes the copies that are over `share` of a limit, the ones that were not used for the longest time first. */
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

/** The copies that are over `share` of a limit. Images have limits of their own, so that they take no text's place. */
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
      // One that is too much for its session takes no room from those of others.
      return (
        isOver(`${deviceId} ${sessionOf(id)}`, bytes, limits.sessionImageBytes) ||
        isOver("images", bytes, limits.imageBytes)
      );
    });
}

/** Rejects where a part is missing, was changed, or belongs to another copy. */
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

/** Puts a copy, unless the key that it was sealed with was deleted meanwhile. */
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

/** What a copy is bound to: the identity that kept it, where it belongs, and when it was kept. */
function scopeBytes(clientId: string, { deviceId, projectId, id, savedAt }: Row): Uint8Array<ArrayBuffer> {
  return utf8(JSON.stringify(["scorel-copy-1", clientId, deviceId, projectId, id, savedAt]));
}

type Results<T extends IDBRequest[]> = { [K in keyof T]: T[K] extends IDBRequest<infer R> ? R : never };

/** Runs one transaction over all stores, and resolves with the results of the requests once it is done. */
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
