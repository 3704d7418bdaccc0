// Images and files of prompts: their types, the upload to the host, and fetching images from it.

import { fromBase64, toBase64 } from "@scorel/protocol/base64";
import { t } from "../i18n/api";
import { ApiError, type Host, type PromptImage } from "./contract";
import { ApiKind, type ImageBlock, MAX_BLOB_CHUNK, type PromptBlock, type SendPromptRequest } from "./types";

type Asker = Pick<Host, "request">;

/** The image types that a host accepts. SVG is not one: a browser would run its scripts. */
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Returns the type of an image by its first bytes, or null for anything else. */
export function imageType(head: Uint8Array): string | null {
  const starts = (...bytes: number[]) => bytes.every((byte, i) => head[i] === byte);
  if (starts(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) {
    return "image/png";
  }
  if (starts(0xff, 0xd8, 0xff)) {
    return "image/jpeg";
  }
  if (starts(0x47, 0x49, 0x46, 0x38)) {
    return "image/gif";
  }
  const word = (at: number) => String.fromCharCode(...head.subarray(at, at + 4));
  if (word(0) === "RIFF" && word(8) === "WEBP") {
    return "image/webp";
  }
  return null;
}

const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Reports whether a part of a prompt is a file rather than an image. */
export function isFile(part: PromptImage | ImageBlock): part is PromptImage & { name: string } {
  return "name" in part;
}

/** Names an image or a file by the hash of its bytes. */
export async function namedImage(blob: Blob): Promise<PromptImage> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  return { sha256: hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))), blob };
}

/**
 * Uploads an image or a file to the host in parts, starting at the offset that the host reports, so that nothing is
 * sent twice. `progress` is called with the part that the host has, from 0 to 1.
 */
export async function uploadImage(host: Asker, image: PromptImage, progress: (done: number) => void): Promise<void> {
  const { sha256, blob } = image;
  const size = blob.size;
  const whole = { sha256, size, ...(isFile(image) ? { file: true } : {}) };
  let { received, image: described, complete } = await host.request("upload_blob", whole);
  while (!described && !complete) {
    const part = blob.slice(received, received + MAX_BLOB_CHUNK);
    const data = toBase64(new Uint8Array(await part.arrayBuffer()));
    const before = received;
    ({ received, image: described, complete } = await host.request("upload_blob", { ...whole, offset: before, data }));
    if (!described && !complete && received <= before) {
      throw new Error(t("api.images.noParts"));
    }
    progress(received / size);
  }
}

/** Returns the content of send_prompt for a prompt with images and files. */
export function promptContent(
  text: string,
  images: (PromptImage | ImageBlock)[],
): Pick<SendPromptRequest, "text" | "content"> {
  if (images.length === 0) {
    return { text };
  }
  const words = text.trim() === "" ? [] : [{ type: "text" as const, text }];
  return { content: [...words, ...images.map(byHash)] };
}

function byHash(part: PromptImage | ImageBlock): PromptBlock {
  const { sha256 = "" } = part;
  return isFile(part) ? { type: "file", sha256, name: part.name } : { type: "image", sha256 };
}

/**
 * Uploads the images and files that the host lacks, and sends the prompt. If the host has lost them meanwhile, they are
 * uploaded again, once.
 */
export async function withImages<T>(
  host: Asker,
  images: (PromptImage | ImageBlock)[],
  progress: (done: number) => void,
  send: () => Promise<T>,
): Promise<T> {
  const here = images.filter((image): image is PromptImage => "blob" in image);
  const upload = async () => {
    for (const [i, image] of here.entries()) {
      await uploadImage(host, image, (done) => progress((i + done) / here.length));
    }
  };
  await upload();
  try {
    return await send();
  } catch (err) {
    if (here.length === 0 || !(err instanceof ApiError) || err.kind !== ApiKind.not_found) {
      throw err;
    }
    await upload();
    return send();
  }
}

/**
 * Returns an image of a session, from this browser's copies or from the host. Rejects data of a type other than the
 * above, whatever type the log names.
 */
export async function fetchImage(
  host: Pick<Host, "request" | "recall">,
  sessionId: string,
  sha256: string,
): Promise<Blob> {
  const saved = await host.recall("get_blob", { sessionId, sha256 }).catch(() => null);
  return imageBlob(saved ? [fromBase64(saved.value.data)] : await fetchParts(host, sessionId, sha256));
}

async function fetchParts(host: Asker, sessionId: string, sha256: string): Promise<Uint8Array<ArrayBuffer>[]> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (let offset = 0; ; ) {
    const { data, next } = await host.request("get_blob", { sessionId, sha256, ...(offset ? { offset } : {}) });
    parts.push(fromBase64(data));
    if (!next || next <= offset) {
      return parts;
    }
    offset = next;
  }
}

function imageBlob(parts: Uint8Array<ArrayBuffer>[]): Blob {
  const type = parts[0] ? imageType(parts[0]) : null;
  if (!type) {
    throw new Error(t("api.images.cannotBeShown"));
  }
  return new Blob(parts, { type });
}
