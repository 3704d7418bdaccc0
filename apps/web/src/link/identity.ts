// The identity of this browser: non-extractable keys, created on the first run and stored in IndexedDB.
import { generateKeys, type Identity, loadIdentity, type StoredKeys } from "@scorel/protocol";
import { STORES, transact } from "../api/db";

const SELF = "self";

/**
 * Loads the identity or creates it. Two tabs that start at once get the same one: both generate keys, and the database
 * stores only the first.
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
