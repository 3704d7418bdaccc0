// The images shown in sessions: assembled from their parts and stored under ids of their own, so that they have
// separate limits and are deleted with their session.
import { fromBase64, toBase64 } from "@scorel/protocol/base64";
import { MAX_IMAGE_BYTES, type Requests } from "../../api/types";

type Asked = Requests["get_blob"]["request"];
type Answer = Requests["get_blob"]["response"];

const IMAGE = "image ";

/** Returns the id of an image's copy. It contains the hash of the content, so a copy never changes. */
export function imageId({ sessionId, sha256 }: Pick<Asked, "sessionId" | "sha256">): string {
  return `${IMAGE}${sessionId} ${sha256}`;
}

/** Returns the id prefix of all images of a session. */
export function imagesOf(sessionId: string): string {
  return `${IMAGE}${sessionId} `;
}

export type KindOfCopy = "sessions" | "lists" | "images";

export function kindOf(id: string): KindOfCopy {
  return id.startsWith("list ") ? "lists" : id.startsWith(IMAGE) ? "images" : "sessions";
}

/** Returns the session that a copy belongs to; null for a list. */
export function sessionOf(id: string): string | null {
  const kind = kindOf(id);
  return kind === "lists" ? null : kind === "images" ? (id.split(" ")[1] ?? "") : id;
}

interface Begun {
  bytes: number;
  parts: Uint8Array<ArrayBuffer>[];
}

/** How many images are assembled at once; the oldest is discarded. */
const MOST = 8;

/** Images with missing parts, in the order in which pages requested them. */
export class ImageParts {
  #begun = new Map<string, Begun>();

  /** Adds a part and returns the whole image after the last one. Two tabs may request the same image at once. */
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

/**
 * Returns the copy of an image, in the form of a host's answer with all its bytes; null if the bytes do not match the
 * hash.
 */
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
