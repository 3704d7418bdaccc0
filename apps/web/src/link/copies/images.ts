// The images of sessions that were shown: put together from their parts, and kept under an id of their own, so that they
// have limits of their own and go with their session.
import { fromBase64, toBase64 } from "@scorel/protocol/base64";
import { MAX_IMAGE_BYTES, type Requests } from "../../api/types";

type Asked = Requests["get_blob"]["request"];
type Answer = Requests["get_blob"]["response"];

const IMAGE = "image ";

/** The id of the copy of an image. Its hash names its content, so that it never changes. */
export function imageId({ sessionId, sha256 }: Pick<Asked, "sessionId" | "sha256">): string {
  return `${IMAGE}${sessionId} ${sha256}`;
}

/** What the ids of all images of a session begin with. */
export function imagesOf(sessionId: string): string {
  return `${IMAGE}${sessionId} `;
}

export type KindOfCopy = "sessions" | "lists" | "images";

export function kindOf(id: string): KindOfCopy {
  return id.startsWith("list ") ? "lists" : id.startsWith(IMAGE) ? "images" : "sessions";
}

/** The session that a copy belongs to; null for a list. */
export function sessionOf(id: string): string | null {
  const kind = kindOf(id);
  return kind === "lists" ? null : kind === "images" ? (id.split(" ")[1] ?? "") : id;
}

interface Begun {
  bytes: number;
  parts: Uint8Array<ArrayBuffer>[];
}

/** How many images are put together at once; the oldest is given up. */
const MOST = 8;

/** Images whose parts are still coming, in the order in which a page asks for them. */
export class ImageParts {
  #begun = new Map<string, Begun>();

  /** Takes a part; the whole once it is the last one. Two tabs may ask for the same image at once. */
  take(key: string, { offset = 0 }: Asked, { data, next }: Answer): Uint8Array<ArrayBuffer>[] | null {
    const before = offset === 0 ? { bytes: 0, parts: [] } : this.#begun.get(key);
    if (!before || before.bytes !== offset) {
      return null;
    }
    const part = fromBase64(data);
    const now = { bytes: offset + part.length, parts: [...before.parts, part] };
    this.#begun.delete(key);
    if (!next) {
      return now.parts;
    }
    if (now.bytes <= MAX_IMAGE_BYTES) {
      this.#begun.set(key, now);
    }
    const oldest = this.#begun.keys().next().value;
    if (this.#begun.size > MOST && oldest !== undefined) {
      this.#begun.delete(oldest);
    }
    return null;
  }
}

/** The copy of an image, as if a host had answered with all of it; null where the bytes are those of another. */
export async function imageCopy(
  parts: Uint8Array<ArrayBuffer>[],
  sha256: string,
  mimeType: string,
): Promise<Answer | null> {
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const name = Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return name === sha256 ? { mimeType, size: bytes.length, data: toBase64(bytes) } : null;
}
