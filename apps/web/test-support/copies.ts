// The copies of sessions and lists, as stored on the browser's disk.

/** Returns the rows of the copies on the browser's disk. */
export async function rows(): Promise<{ deviceId: string; id: string; savedAt: number; projectId: string }[]> {
  return (await all("rows")) as never;
}

/** Returns the sessions among them. */
export const keptSessions = async () => (await rows()).map(({ id }) => id).filter((id) => !/^(list|image) /.test(id));

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open("scorel-copies", 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("keys");
      for (const name of ["rows", "bodies"]) {
        request.result.createObjectStore(name, { keyPath: ["deviceId", "id"] });
      }
    };
    request.onerror = () => reject(request.error);
    request.onsuccess = () => resolve(request.result);
  });
}

/** Returns everything in one store of their database. */
export async function all(name: string): Promise<unknown[]> {
  const db = await open();
  return new Promise((resolve) => {
    const request = db.transaction(name).objectStore(name).getAll();
    request.onsuccess = () => {
      db.close();
      resolve(request.result);
    };
  });
}

export async function put(name: string, value: unknown): Promise<void> {
  const db = await open();
  await new Promise<void>((resolve) => {
    const tx = db.transaction(name, "readwrite");
    tx.objectStore(name).put(value);
    tx.oncomplete = () => resolve();
  });
  db.close();
}
