// Unsent text, stored in IndexedDB until it is sent. It has its own database, so that an open page of an older version
// can keep using its own.
import type { Draft, Unkept } from "./contract";

const NAME = "scorel-drafts";
const TEXTS = "texts";
const IMAGES = "images";

interface Kept<T> {
  key: string;
  value: T;
}

/** The name of the channel between the drafts of all tabs. */
const TABS = "scorel.drafts";

/** Called with a draft that another tab has stored. */
type OnOther = (key: string, draft: Draft) => void;

/** The longest time before typed text is stored, in milliseconds. */
const DELAY = 300;

function openDrafts(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => {
      for (const name of [TEXTS, IMAGES]) {
        request.result.createObjectStore(name, { keyPath: "key" });
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

function change(db: IDBDatabase, work: (texts: IDBObjectStore, images: IDBObjectStore) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const tx = db.transaction([TEXTS, IMAGES], "readwrite");
    work(tx.objectStore(TEXTS), tx.objectStore(IMAGES));
    tx.oncomplete = () => resolve();
    tx.onabort = () => reject(tx.error ?? new Error("the browser's database gave up a transaction"));
    // The page may be about to close, so the transaction does not wait to commit by itself.
    tx.commit();
  });
}

/** Deletes the drafts for a device. Their keys begin with the device id. */
export async function wipeDrafts(deviceId: string): Promise<void> {
  const db = await openDrafts();
  const keys = IDBKeyRange.bound(`${deviceId}/`, `${deviceId}0`, false, true);
  await change(db, (texts, images) => {
    texts.delete(keys);
    images.delete(keys);
  });
  db.close();
}

interface Unsaved {
  draft: Draft;
  /** The stored images are up to date. */
  sameImages: boolean;
  /** The draft must not be overwritten yet: it is the only copy of a prompt that is still being stored. */
  held: boolean;
  /** The text is stored, and storing the images failed and is not retried. */
  textOnly: boolean;
}

/** The drafts of this browser, as one page reads and stores them. */
export class Drafts {
  #db: Promise<IDBDatabase> | null = null;
  #unsaved = new Map<string, Unsaved>();
  /** The text and the image names of each draft, as stored. */
  #texts = new Map<string, string>();
  #images = new Map<string, string>();
  /** The images of a draft that the browser refused to store. */
  #refused = new Map<string, string>();
  /** Called after each attempt to store a draft. */
  onTried: (key: string, unkept: Unkept | null) => void = () => {};
  readonly #tabs = typeof BroadcastChannel === "function" ? new BroadcastChannel(TABS) : null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * Calls the listener with drafts that another tab has stored, when this tab has no unsaved changes to them and
   * `takes` returns true.
   */
  onOther(listener: OnOther, takes: () => boolean): void {
    this.#tabs?.addEventListener("message", ({ data: key }: MessageEvent<string>) => {
      const take = (draft: Draft) => {
        if (takes() && !this.#unsaved.has(key)) {
          listener(key, draft);
        }
      };
      this.#fromDisk(key).then(take, () => {});
    });
  }

  close(): void {
    this.#tabs?.close();
  }

  /** Returns a draft that this page has not stored yet. */
  peek(key: string): Draft | undefined {
    return this.#unsaved.get(key)?.draft;
  }

  /** Returns the draft that was stored last, in whichever tab; an empty one if there is none. */
  async read(key: string): Promise<Draft> {
    try {
      return await this.#fromDisk(key);
    } catch {
      return { text: "", images: [] }; // storage is unavailable: drafts live in the page only
    }
  }

  async #fromDisk(key: string): Promise<Draft> {
    const db = await this.#open();
    const tx = db.transaction([TEXTS, IMAGES]);
    const [text, images] = await Promise.all([
      answerOf<Kept<string> | undefined>(tx.objectStore(TEXTS).get(key)),
      answerOf<Kept<Draft["images"]> | undefined>(tx.objectStore(IMAGES).get(key)),
    ]);
    const draft = { text: text?.value ?? "", images: images?.value ?? [] };
    this.#learn(key, draft);
    return draft;
  }

  /** Stores a draft after a short delay and not before `after` settles. An empty draft is deleted. */
  keep(key: string, draft: Draft, after?: Promise<unknown>): void {
    if (!after && !this.#unsaved.has(key) && this.#texts.get(key) === draft.text && this.#sameImages(key, draft)) {
      return; // it was read from the disk or received from another tab
    }
    const unsaved = { draft, sameImages: this.#sameImages(key, draft), held: after !== undefined, textOnly: false };
    this.#unsaved.set(key, unsaved);
    const release = () => {
      unsaved.held = false;
      this.#schedule();
    };
    if (after) {
      after.then(release, release);
    } else {
      this.#schedule();
    }
  }

  /** Stores all unsaved drafts now, because the page may be closed. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const due = [...this.#unsaved].filter(([, { held, textOnly }]) => !held && !textOnly);
    const refused = due.filter(([key, { draft }]) => this.#refused.get(key) === namesOf(draft));
    const others = due.filter((each) => !refused.includes(each));
    if (!(await this.#write(others))) {
      // A draft that is too large must not prevent the others from being stored.
      for (const each of others) {
        if (others.length === 1 || !(await this.#write([each]))) {
          refused.push(each);
        }
      }
    }
    for (const [key, unsaved] of refused) {
      await this.#writeText(key, unsaved);
    }
  }

  async #write(due: [string, Unsaved][]): Promise<boolean> {
    if (due.length === 0) {
      return true;
    }
    try {
      await change(await this.#open(), (texts, images) => {
        for (const [key, unsaved] of due) {
          write(key, unsaved, texts, images);
        }
      });
    } catch {
      return false; // storage is full or unavailable
    }
    for (const [key, unsaved] of due) {
      this.#learn(key, unsaved.draft);
      this.#refused.delete(key);
      this.#tabs?.postMessage(key);
      this.onTried(key, null);
      if (this.#unsaved.get(key) === unsaved) {
        this.#unsaved.delete(key);
      }
    }
    return true;
  }

  /**
   * Stores the text of a draft whose images could not be stored. The images, or the whole draft, remain in the page
   * only.
   */
  async #writeText(key: string, unsaved: Unsaved): Promise<void> {
    const { draft } = unsaved;
    const textDraft = { ...unsaved, draft: { ...draft, images: [] }, sameImages: false };
    let unkept: Unkept = "all";
    if (draft.images.length > 0) {
      this.#refused.set(key, namesOf(draft));
      try {
        await change(await this.#open(), (texts, images) => write(key, textDraft, texts, images));
        this.#learn(key, textDraft.draft);
        unsaved.textOnly = true;
        unkept = "images";
      } catch {
        // Not even the text fits.
      }
    }
    this.onTried(key, unkept);
  }

  #learn(key: string, draft: Draft): void {
    this.#texts.set(key, draft.text);
    this.#images.set(key, namesOf(draft));
  }

  #sameImages(key: string, draft: Draft): boolean {
    return this.#images.get(key) === namesOf(draft);
  }

  // The delay runs from the first change, so that typing without a pause never leaves more than one delay unsaved.
  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.flush(), DELAY);
  }

  #open(): Promise<IDBDatabase> {
    this.#db ??= openDrafts().catch((err: unknown) => {
      this.#db = null;
      throw err;
    });
    return this.#db;
  }
}

function write(key: string, { draft, sameImages }: Unsaved, texts: IDBObjectStore, images: IDBObjectStore): void {
  if (draft.text) {
    texts.put({ key, value: draft.text });
  } else {
    texts.delete(key);
  }
  if (sameImages) {
    return;
  }
  if (draft.images.length > 0) {
    images.put({ key, value: draft.images });
  } else {
    images.delete(key);
  }
}

function namesOf({ images }: Draft): string {
  return images.map(({ sha256 = "" }) => sha256).join();
}

function answerOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
