/**
 * Returns what the disk has of drafts: the "texts", or the "images" with files, of each. Runs in the page. The
 * page stores a draft a moment after it has shown it.
 */
export function drafts(part: string): Promise<unknown[]> {
  return new Promise((resolve) => {
    const opened = indexedDB.open("scorel-drafts", 1);
    // The page creates the stores, and may not have done so yet.
    opened.onerror = () => resolve([]);
    opened.onupgradeneeded = () => opened.transaction?.abort();
    opened.onsuccess = () => {
      const all = opened.result.transaction(part).objectStore(part).getAll();
      all.onsuccess = () => {
        opened.result.close();
        resolve(all.result.map((each: { value: unknown }) => each.value));
      };
    };
  });
}
