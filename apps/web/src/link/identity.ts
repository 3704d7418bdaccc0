// The identity of this browser: keys that script cannot read, made on the first
// run and kept in IndexedDB.
import { generateKeys, type Identity, loadIdentity, type StoredKeys } from "@scorel/protocol";
import { STORES, transact } from "../api/db";

const SELF = "self";

/**
 * Loads the identity, or makes it. Two tabs that start at once end with the same
 * one: both make keys, and the database lets only the first be stored.
 */
export async function loadOrMakeIdentity(db: IDBDatabase): Promise<Identity> {
  const stored = await transact<StoredKeys | undefined>(db, STORES.identity, "readonly", (s) => s.get(SELF));
  if (stored) {
    return loadIdentity(stored);
  }
  const { kind, signKey, sealKey, signPrivate, sealPrivate } = await generateKeys("cli");
  const made: StoredKeys = { kind, signKey, sealKey, signPrivate, sealPrivate };
  return loadIdentity(await keepFirst(db, made));
}

function keepFirst(db: IDBDatabase, made: StoredKeys): Promise<StoredKeys> {
  let winner = made;
  return transact(db, STORES.identity, "readwrite", (store) => {
    const request: IDBRequest<StoredKeys | undefined> = store.get(SELF);
    request.onsuccess = () => {
      if (request.result) {
        winner = request.result;
      } else {
        store.put(made, SELF);
      }
    };
    return request;
  }).then(() => winner);
}
