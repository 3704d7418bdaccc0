// Ids and keys of devices and clients. The id commits to both public keys, so it
// cannot be claimed, only proven. It corresponds to the Go package ident.

import { type Bytes, concat, utf8 } from "./base64.ts";
import { sha256 } from "./sha256.ts";

/** 'dev' names a machine that runs a host, 'cli' an entry. */
export type Kind = "dev" | "cli";

/** Length of every printed id. */
export const ID_LEN = 36;
/** Bytes of every public key. */
export const KEY_LEN = 32;

const SUM_LEN = 20;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const FORM = /^(dev|cli)_[a-z2-7]{32}$/;

/** One party whose private keys can be used but not read. */
export interface Identity {
  readonly id: string;
  readonly kind: Kind;
  /** Ed25519 public key, 32 bytes. */
  readonly signKey: Bytes;
  /** X25519 public key, 32 bytes. */
  readonly sealKey: Bytes;
  /** X25519 private key, for the handshake. */
  readonly sealPrivate: CryptoKey;
  /** Ed25519 signature, 64 bytes. The caller puts a domain tag in front. */
  sign(message: Bytes): Promise<Bytes>;
}

/** The form stored in IndexedDB: plain data and CryptoKeys, which survive structured cloning. */
export interface StoredKeys {
  readonly kind: Kind;
  readonly signKey: Bytes;
  readonly sealKey: Bytes;
  readonly signPrivate: CryptoKey;
  readonly sealPrivate: CryptoKey;
}

/** Derives the id that commits to both public keys. Throws unless both keys have 32 bytes. */
export async function newId(kind: Kind, signKey: Uint8Array, sealKey: Uint8Array): Promise<string> {
  return idOf(kind, signKey, sealKey);
}

/** The synchronous form of idOf, for decoders. */
export function idOf(kind: Kind, signKey: Uint8Array, sealKey: Uint8Array): string {
  if (signKey.length !== KEY_LEN || sealKey.length !== KEY_LEN) {
    throw new RangeError("ident: a public key must have 32 bytes");
  }
  const sum = sha256(concat(utf8("scorel id v1\0"), signKey, sealKey));
  return `${kind}_${base32(sum.subarray(0, SUM_LEN))}`;
}

/** Parses an id in its one exact form; throws with a sentence for people. */
export function parseId(text: string): { kind: Kind; sum: Bytes } {
  if (!isId(text)) {
    throw new TypeError(
      `ident: ${JSON.stringify(text.slice(0, 2 * ID_LEN))} is not an id: want dev_ or cli_ and 32 base32 digits`,
    );
  }
  return { kind: text.slice(0, 3) as Kind, sum: unbase32(text.slice(4)) };
}

/** Reports whether the text is an id, of the given kind if there is one. */
export function isId(text: string, kind?: Kind): boolean {
  return FORM.test(text) && (kind === undefined || text.startsWith(`${kind}_`));
}

/**
 * Generates keys. Private keys are not extractable by default, so a script injected
 * into the page cannot steal them.
 */
export async function generateKeys(kind: Kind, extractable = false): Promise<Identity & { signPrivate: CryptoKey }> {
  const sign = (await crypto.subtle.generateKey("Ed25519", extractable, ["sign", "verify"])) as CryptoKeyPair;
  const seal = (await crypto.subtle.generateKey("X25519", extractable, ["deriveBits"])) as CryptoKeyPair;
  return loadIdentity({
    kind,
    signKey: await exportPublic(sign.publicKey),
    sealKey: await exportPublic(seal.publicKey),
    signPrivate: sign.privateKey,
    sealPrivate: seal.privateKey,
  });
}

/** Restores an identity from stored keys. */
export async function loadIdentity(keys: StoredKeys): Promise<Identity & { signPrivate: CryptoKey }> {
  const { kind, signKey, sealKey, signPrivate, sealPrivate } = keys;
  return {
    id: await newId(kind, signKey, sealKey),
    kind,
    signKey,
    sealKey,
    signPrivate,
    sealPrivate,
    sign: async (message) => new Uint8Array(await crypto.subtle.sign("Ed25519", signPrivate, message)),
  };
}

/** Verifies an Ed25519 signature. A key that is not a point on the curve verifies nothing. */
export async function verifySignature(signKey: Bytes, message: Bytes, signature: Bytes): Promise<boolean> {
  try {
    const key = await crypto.subtle.importKey("raw", signKey, "Ed25519", false, ["verify"]);
    return await crypto.subtle.verify("Ed25519", key, signature, message);
  } catch {
    return false;
  }
}

async function exportPublic(key: CryptoKey): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.exportKey("raw", key));
}

// 20 bytes are exactly 32 digits: there is no padding and there are no spare bits.
function base32(bytes: Uint8Array): string {
  let out = "";
  let bits = 0;
  let held = 0;
  for (const b of bytes) {
    held = (held << 8) | b;
    for (bits += 8; bits >= 5; bits -= 5) {
      out += ALPHABET.charAt((held >> (bits - 5)) & 31);
    }
    held &= (1 << bits) - 1;
  }
  return out;
}

function unbase32(digits: string): Bytes {
  const out = new Uint8Array(SUM_LEN);
  let at = 0;
  let bits = 0;
  let held = 0;
  for (const digit of digits) {
    held = (held << 5) | ALPHABET.indexOf(digit);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      out[at++] = held >> bits;
      held &= (1 << bits) - 1;
    }
  }
  return out;
}
