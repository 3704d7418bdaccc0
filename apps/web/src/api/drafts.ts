// What is written and not sent, kept in IndexedDB until it is sent. It is a database of its own, so that a page of an
// older version that is still open keeps its own one.
import type { PromptImage } from "./contract";
import type { ImageBlock } from "./types";

/** A prompt that is not sent yet. */
export interface Draft {
  text: string;
  images: (PromptImage | ImageBlock)[];
}

const NAME = "scorel-drafts";
const TEXTS = "texts";
const IMAGES = "images";

interface Kept<T> {
  key: string;
  value: T;
}

/** Joins the drafts of all tabs. */
const TABS = "scorel.drafts";

/** What of a draft is not on disk, because the browser does not store it: its images and files, or all of it. */
export type Unkept = "images" | "all";

/** What another tab has kept. */
type OnOther = (key: string, draft: Draft) => void;

/** How long what is typed may wait to be kept, in milliseconds. */
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
    // The page may be about to go: it cannot wait for this to happen by itself.
    tx.commit();
  });
}

/** Deletes the drafts for a device. Their keys begin with its id. */
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
  /** Its images are on disk as they are. */
  sameImages: boolean;
  /** It is not to be kept before this: the draft on disk is all that there is of a prompt that is being stored. */
  held: boolean;
  /** Its text is on disk, and its images are not to be tried again. */
  textOnly: boolean;
}

/** The drafts of this browser, as one page reads and keeps them. */
export class Drafts {
  #db: Promise<IDBDatabase> | null = null;
  #unsaved = new Map<string, Unsaved>();
  /** The text, and the names of the images, of each draft as they are on disk. */
  #texts = new Map<string, string>();
  #images = new Map<string, string>();
  /** The images of a draft that the browser did not store. */
  #refused = new Map<string, string>();
  /** What is told of a draft after each try to keep it. */
  onTried: (key: string, unkept: Unkept | null) => void = () => {};
  readonly #tabs = typeof BroadcastChannel === "function" ? new BroadcastChannel(TABS) : null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Calls the listener with what another tab has kept, where this one has nothing to keep itself and `takes` it. */
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

  /** What this page has not kept so far. */
  peek(key: string): Draft | undefined {
    return this.#unsaved.get(key)?.draft;
  }

  /** The draft that was kept last, in whichever tab; empty where there is none. */
  async read(key: string): Promise<Draft> {
    try {
      return await this.#fromDisk(key);
    } catch {
      return { text: "", images: [] }; // storage is closed: drafts live in the page alone
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

  /** Keeps a draft a moment later, and not before `after`. An empty one is deleted. */
  keep(key: string, draft: Draft, after?: Promise<unknown>): void {
    if (!after && !this.#unsaved.has(key) && this.#texts.get(key) === draft.text && this.#sameImages(key, draft)) {
      return; // it came from the disk, or from another tab
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

  /** Keeps now what is to be kept: the page may go. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const due = [...this.#unsaved].filter(([, { held, textOnly }]) => !held && !textOnly);
    const refused = due.filter(([key, { draft }]) => this.#refused.get(key) === namesOf(draft));
    const others = due.filter((each) => !refused.includes(each));
    if (!(await this.#write(others))) {
      // One that is too large keeps none of the others from the disk.
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
      return false; // storage is full or closed
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

  /** Keeps the text of a draft whose images are not stored: these, or all of it, live in the page alone. */
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

  // From the first change on, so that somebody who never pauses loses no more than what that long took to type.
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
