// Loads the images of open sessions that no page has shown, so that they can be seen offline too: one part of one image
// at a time, newest first, and only as many as are kept for a session.
import { RefusedError } from "../../api/messages";
import type { ImageBlock, Requests, SessionEntry } from "../../api/types";
import { imageId } from "./images";

export interface UnseenImagesOptions {
  /** Returns the ids of a device's copies. */
  stored: (deviceId: string) => Promise<readonly string[]>;
  /** Requests a part of an image; its answer is recorded like one to a page. */
  part: (deviceId: string, fields: Requests["get_blob"]["request"]) => Promise<Requests["get_blob"]["response"]>;
  /** How many bytes of images are kept for a session, in base64. */
  bytes: number;
  /** How long it waits after the first change of a session, in milliseconds: what a page shows comes first. */
  delay: number;
  /** Reports whether people pay for data or asked to save it. */
  saveData?: () => boolean;
}

interface Wanted {
  deviceId: string;
  sessionId: string;
  /** Returns the entries to look through; null while the host cannot be asked. */
  entries: () => readonly SessionEntry[] | null;
}

/** How many images are remembered as settled. */
const MOST = 1000;

export class UnseenImages {
  readonly #options: UnseenImagesOptions;
  #wanted = new Map<string, Wanted>();
  /** The images that were loaded or that their host does not have. */
  #settled = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running = false;
  #stopped = false;

  constructor(options: UnseenImagesOptions) {
    this.#options = options;
  }

  /** Loads the images of a session soon. */
  want(wanted: Wanted): void {
    this.#wanted.set(`${wanted.deviceId} ${wanted.sessionId}`, wanted);
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (!this.#running && !this.#stopped && this.#wanted.size > 0) {
      this.#timer ??= setTimeout(() => void this.#run(), this.#options.delay);
    }
  }

  async #run(): Promise<void> {
    this.#timer = undefined;
    this.#running = true;
    const due = [...this.#wanted.values()];
    this.#wanted.clear();
    for (const wanted of due) {
      await this.#load(wanted).catch(() => {}); // the connection was lost; the next resync asks for them again
    }
    this.#running = false;
    this.#schedule();
  }

  async #load({ deviceId, sessionId, entries }: Wanted): Promise<void> {
    const { stored, bytes, saveData = savesData } = this.#options;
    const images = saveData() ? [] : newestImages(entries() ?? [], bytes);
    const wanted = images.filter((sha256) => !this.#settled.has(imageId({ sessionId, sha256 })));
    if (wanted.length === 0) {
      return;
    }
    const kept = new Set(await stored(deviceId));
    for (const sha256 of wanted) {
      const id = imageId({ sessionId, sha256 });
      if (this.#stopped || !entries()) {
        return;
      }
      if (!kept.has(id)) {
        await this.#fetch(deviceId, { sessionId, sha256 });
        this.#settle(id);
      }
    }
  }

  async #fetch(deviceId: string, fields: { sessionId: string; sha256: string }): Promise<void> {
    try {
      for (let offset = 0; ; ) {
        const { next } = await this.#options.part(deviceId, { ...fields, ...(offset ? { offset } : {}) });
        if (!next || next <= offset) {
          return;
        }
        offset = next;
      }
    } catch (err) {
      if (!(err instanceof RefusedError)) {
        throw err;
      }
    }
  }

  #settle(id: string): void {
    this.#settled.add(id);
    const oldest = this.#settled.values().next().value;
    if (this.#settled.size > MOST && oldest !== undefined) {
      this.#settled.delete(oldest);
    }
  }
}

/** Returns the hashes of the newest images that fit `bytes` in base64, newest first. */
export function newestImages(entries: readonly SessionEntry[], bytes: number): string[] {
  const found = new Set<string>();
  let room = bytes;
  for (const entry of entries.toReversed()) {
    for (const { sha256 = "", size = 0 } of imagesOf(entry)) {
      if (found.has(sha256)) {
        continue;
      }
      room -= Math.ceil(size / 3) * 4;
      if (room < 0) {
        return [...found];
      }
      found.add(sha256);
    }
  }
  return [...found];
}

function imagesOf(entry: SessionEntry): ImageBlock[] {
  const content = entry.type === "message" ? entry.message.content : [];
  return typeof content === "string"
    ? []
    : content.filter((block): block is ImageBlock => block.type === "image" && Boolean(block.sha256));
}

function savesData(): boolean {
  const { navigator } = globalThis as { navigator?: { connection?: { saveData?: boolean } } };
  return navigator?.connection?.saveData === true;
}
