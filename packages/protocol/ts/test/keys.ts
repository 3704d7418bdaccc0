// Private keys from the fixed secrets of the vectors. Only tests read keys from
// bytes: real ones never leave WebCrypto.

import { type Bytes, concat, fromBase64url } from "../src/base64.ts";
import { type Identity, type Kind, loadIdentity } from "../src/ident.ts";
import type { DhKeys } from "../src/noise.ts";

export function hex(text: string): Bytes {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

/** One party of a vector file. */
export interface VectorParty {
  kind: string;
  secret: string;
  signKey: string;
  sealKey: string;
  id: string;
}

// A PKCS #8 header for a 32-byte key; the byte that differs names the curve.
function pkcs8(curve: number, seed: Bytes): Bytes {
  return concat(hex("302e020100300506032b65"), Uint8Array.of(curve), hex("04220420"), seed);
}

function importX25519(scalar: Bytes): Promise<CryptoKey> {
  return crypto.subtle.importKey("pkcs8", pkcs8(0x6e, scalar), "X25519", false, ["deriveBits"]);
}

export async function identityOf(p: VectorParty): Promise<Identity> {
  const secret = hex(p.secret);
  return loadIdentity({
    kind: p.kind as Kind,
    signKey: fromBase64url(p.signKey),
    sealKey: fromBase64url(p.sealKey),
    signPrivate: await crypto.subtle.importKey("pkcs8", pkcs8(0x70, secret.subarray(0, 32)), "Ed25519", false, [
      "sign",
    ]),
    sealPrivate: await importX25519(secret.slice(32)),
  });
}

export async function dhKeys(scalar: string, publicKey: string): Promise<DhKeys> {
  return { privateKey: await importX25519(hex(scalar)), publicKey: hex(publicKey) };
}
