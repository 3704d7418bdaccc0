// Byte strings as text: standard base64 for the byte fields of frames, unpadded
// base64url for public keys, hex for tests. `btoa` needs one code unit per byte,
// and Uint8Array.fromBase64 is too new, hence these loops.

/** Bytes in their own buffer, as WebCrypto and WebSocket require. */
export type Bytes = Uint8Array<ArrayBuffer>;

const STANDARD = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const URL_SAFE = /^[A-Za-z0-9_-]*$/;

/** Encodes standard, padded base64. */
export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (const b of bytes) {
    text += String.fromCharCode(b);
  }
  return btoa(text);
}

/** Decodes standard, padded base64; throws a RangeError for anything else. */
export function fromBase64(text: string): Bytes {
  if (!STANDARD.test(text)) {
    throw new RangeError("not standard base64");
  }
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) {
    out[i] = raw.charCodeAt(i);
  }
  return out;
}

/** Encodes unpadded base64url. */
export function toBase64url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Decodes unpadded base64url in its one canonical form; throws a RangeError for anything else. */
export function fromBase64url(text: string): Bytes {
  if (!URL_SAFE.test(text) || text.length % 4 === 1) {
    throw new RangeError("not unpadded base64url");
  }
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  const bytes = fromBase64(standard + "=".repeat((4 - (standard.length % 4)) % 4));
  if (toBase64url(bytes) !== text) {
    throw new RangeError("not canonical base64url");
  }
  return bytes;
}

/** Joins byte strings. */
export function concat(...parts: Uint8Array[]): Bytes {
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}

/** Encodes text as UTF-8. */
export function utf8(text: string): Bytes {
  return new TextEncoder().encode(text);
}

/** Compares two byte strings in constant time. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) {
    return false;
  }
  let diff = 0;
  for (let i = 0; i < a.length; i++) {
    diff |= (a[i] ?? 0) ^ (b[i] ?? 0);
  }
  return diff === 0;
}
