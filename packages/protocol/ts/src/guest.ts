// The fragment of a guest link. It corresponds to the Go package guest.

import { type Bytes, concat, fromBase64url, toBase64url, utf8 } from "./base64.ts";
import { type Identity, idOf, KEY_LEN, loadIdentity } from "./ident.ts";
import { sha256 } from "./sha256.ts";

/** The first byte of a fragment. */
export const GUEST_VERSION = 1;
/** The length of a link's secret, in bytes. */
export const SEED_LEN = 32;
/** The page that shows the session of a link. */
export const GUEST_PATH = "/g";

const PROOF_LEN = 64;
const SUM_LEN = 4;
const FIXED_LEN = 1 + SEED_LEN + 2 * KEY_LEN + 8 + 8 + PROOF_LEN;
const MAX_SESSION_ID = 256;
const MAX_FRAGMENT = 640;

/** The contents of a guest link's fragment. */
export interface GuestLink {
  /** The seed of the keys of the client that the link stands for; secret. */
  seed: Bytes;
  device: { id: string; signKey: Bytes; sealKey: Bytes };
  /** Unix milliseconds. */
  signedAt: number;
  expiresAt: number;
  /** The device's signature that this client may reach it. */
  proof: Bytes;
  sessionId: string;
}

/** Thrown for a link that was truncated or changed, or one of a later version. */
export class GuestLinkError extends Error {
  override name = "GuestLinkError";
  constructor(readonly why: "damaged" | "newer") {
    super(`guest link: ${why}`);
  }
}

/** Parses the text after the "#" of a link; throws GuestLinkError. */
export function parseGuestLink(fragment: string): GuestLink {
  const data = decode(fragment);
  const body = data.slice(0, -SUM_LEN);
  const sum = data.slice(-SUM_LEN);
  if (
    data.length <= SUM_LEN ||
    !sha256(body)
      .slice(0, SUM_LEN)
      .every((byte, i) => byte === sum[i])
  ) {
    throw new GuestLinkError("damaged");
  }
  if ((body[0] ?? 0) > GUEST_VERSION) {
    throw new GuestLinkError("newer");
  }
  if (body[0] !== GUEST_VERSION || body.length < FIXED_LEN) {
    throw new GuestLinkError("damaged");
  }
  return readBody(body);
}

function decode(fragment: string): Bytes {
  try {
    if (fragment.length <= MAX_FRAGMENT) {
      return fromBase64url(fragment);
    }
  } catch {}
  throw new GuestLinkError("damaged");
}

function readBody(body: Bytes): GuestLink {
  let at = 1;
  const take = (n: number): Bytes => {
    at += n;
    return body.slice(at - n, at);
  };
  const seed = take(SEED_LEN);
  const signKey = take(KEY_LEN);
  const sealKey = take(KEY_LEN);
  const signedAt = toNumber(take(8));
  const expiresAt = toNumber(take(8));
  const proof = take(PROOF_LEN);
  const sessionId = toSession(take(MAX_SESSION_ID + 1));
  return {
    seed,
    device: { id: idOf("dev", signKey, sealKey), signKey, sealKey },
    signedAt,
    expiresAt,
    proof,
    sessionId,
  };
}

function toNumber(bytes: Bytes): number {
  const value = new DataView(bytes.buffer).getBigUint64(0);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new GuestLinkError("damaged");
  }
  return Number(value);
}

function toSession(bytes: Bytes): string {
  let text = "";
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {}
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ids contain none of them
  if (text === "" || bytes.length > MAX_SESSION_ID || /[\x00-\x20\x7f]/.test(text)) {
    throw new GuestLinkError("damaged");
  }
  return text;
}

/** Returns the text after the "#" of a link. */
export function guestFragment(
  link: Omit<GuestLink, "device"> & { device: { signKey: Bytes; sealKey: Bytes } },
): string {
  const times = new DataView(new ArrayBuffer(16));
  times.setBigUint64(0, BigInt(link.signedAt));
  times.setBigUint64(8, BigInt(link.expiresAt));
  const body = concat(
    ...[Uint8Array.of(GUEST_VERSION), link.seed, link.device.signKey, link.device.sealKey],
    ...[new Uint8Array(times.buffer), link.proof, utf8(link.sessionId)],
  );
  return toBase64url(concat(body, sha256(body).slice(0, SUM_LEN)));
}

/**
 * Returns the identity of the client that a seed stands for. Its private keys are not
 * extractable.
 */
export async function guestIdentity(seed: Bytes): Promise<Identity> {
  const secret = new Uint8Array(await crypto.subtle.digest("SHA-512", concat(utf8("scorel guest v1\0"), seed)));
  const sign = secret.slice(0, KEY_LEN);
  const seal = secret.slice(KEY_LEN);
  return loadIdentity({
    kind: "cli",
    signKey: await publicOf(ED25519, "Ed25519", sign, ["sign"]),
    sealKey: await publicOf(X25519, "X25519", seal, ["deriveBits"]),
    signPrivate: await importKey(ED25519, "Ed25519", sign, ["sign"], false),
    sealPrivate: await importKey(X25519, "X25519", seal, ["deriveBits"], false),
  });
}

const ED25519 = 0x70;
const X25519 = 0x6e;

// A PKCS #8 header for a 32-byte key; the byte that differs names the curve.
function importKey(curve: number, name: string, key: Bytes, usages: KeyUsage[], readable: boolean): Promise<CryptoKey> {
  const header = Uint8Array.of(0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, curve, 4, 0x22, 4, 0x20);
  return crypto.subtle.importKey("pkcs8", concat(header, key), name, readable, usages);
}

/** WebCrypto computes a public key only when a key is exported. */
async function publicOf(curve: number, name: string, key: Bytes, usages: KeyUsage[]): Promise<Bytes> {
  const { x = "" } = await crypto.subtle.exportKey("jwk", await importKey(curve, name, key, usages, true));
  return fromBase64url(x);
}
