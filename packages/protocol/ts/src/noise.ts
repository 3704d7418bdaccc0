// Noise_KK_25519_AESGCM_SHA256 over WebCrypto, without the rest of Noise.
// Handshake:  -> s  <- s  ...  -> e, es, ss  <- e, ee, se

import { type Bytes, concat, utf8 } from "./base64.ts";

/** Bytes of an X25519 public key, and of an AES-GCM tag. */
export const DH_LEN = 32;
export const TAG_LEN = 16;

const NAME = "Noise_KK_25519_AESGCM_SHA256";
const MAX_NONCE = 2n ** 64n - 1n;
const EMPTY = new Uint8Array(0);

export interface DhKeys {
  readonly privateKey: CryptoKey;
  readonly publicKey: Bytes;
}

/** AES-256-GCM with a counter as the nonce: 4 zero bytes, then 64 bits big endian. */
export class CipherState {
  #n = 0n;
  readonly #key: CryptoKey;

  private constructor(key: CryptoKey) {
    this.#key = key;
  }

  static async of(key: Bytes): Promise<CipherState> {
    return new CipherState(await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt", "decrypt"]));
  }

  async encrypt(plain: Bytes, ad: Bytes = EMPTY): Promise<Bytes> {
    return new Uint8Array(await crypto.subtle.encrypt(this.#next(ad), this.#key, plain));
  }

  async decrypt(sealed: Bytes, ad: Bytes = EMPTY): Promise<Bytes> {
    return new Uint8Array(await crypto.subtle.decrypt(this.#next(ad), this.#key, sealed));
  }

  // The counter is incremented before the first await, so that two calls never share
  // a nonce.
  #next(additionalData: Bytes): AesGcmParams {
    if (this.#n >= MAX_NONCE) {
      throw new Error("noise: the nonces are used up");
    }
    const iv = new Uint8Array(12);
    new DataView(iv.buffer).setBigUint64(4, this.#n);
    this.#n++;
    return { name: "AES-GCM", iv, additionalData, tagLength: 8 * TAG_LEN };
  }
}

/** The symmetric state of one handshake. Its methods must be awaited one by one. */
export class SymmetricState {
  #ck: Bytes;
  #h: Bytes;
  #cipher: CipherState | null = null;

  private constructor(start: Bytes) {
    this.#ck = start;
    this.#h = start;
  }

  static async start(prologue: Bytes): Promise<SymmetricState> {
    // The name is shorter than a hash, so it is zero-padded and not hashed.
    const name = new Uint8Array(32);
    name.set(utf8(NAME));
    const state = new SymmetricState(name);
    await state.mixHash(prologue);
    return state;
  }

  async mixHash(data: Bytes): Promise<void> {
    this.#h = new Uint8Array(await crypto.subtle.digest("SHA-256", concat(this.#h, data)));
  }

  /** Mixes in the shared secret of our private key and their public key. */
  async mixDh(ours: CryptoKey, theirs: Bytes): Promise<void> {
    const [ck, k] = await hkdf(this.#ck, await dh(ours, theirs));
    this.#ck = ck;
    this.#cipher = await CipherState.of(k);
  }

  async encryptAndHash(plain: Bytes): Promise<Bytes> {
    const sealed = await this.#keyed().encrypt(plain, this.#h);
    await this.mixHash(sealed);
    return sealed;
  }

  async decryptAndHash(sealed: Bytes): Promise<Bytes> {
    const plain = await this.#keyed().decrypt(sealed, this.#h);
    await this.mixHash(sealed);
    return plain;
  }

  /** The cipher for the initiator's messages, then the one for the responder's messages. */
  async split(): Promise<[CipherState, CipherState]> {
    const [k1, k2] = await hkdf(this.#ck, EMPTY);
    return [await CipherState.of(k1), await CipherState.of(k2)];
  }

  #keyed(): CipherState {
    if (!this.#cipher) {
      throw new Error("noise: no key yet");
    }
    return this.#cipher;
  }
}

/** Generates an ephemeral key pair. */
export async function generateDh(): Promise<DhKeys> {
  const pair = (await crypto.subtle.generateKey("X25519", false, ["deriveBits"])) as CryptoKeyPair;
  return {
    privateKey: pair.privateKey,
    publicKey: new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)),
  };
}

async function dh(ours: CryptoKey, theirs: Bytes): Promise<Bytes> {
  const key = await crypto.subtle.importKey("raw", theirs, "X25519", false, []);
  // A low-order point makes this throw, which ends the handshake.
  return new Uint8Array(await crypto.subtle.deriveBits({ name: "X25519", public: key }, ours, 256));
}

// Written with HMAC: an HKDF key of zero length, which Split needs, is not
// accepted by every WebCrypto.
async function hkdf(ck: Bytes, input: Bytes): Promise<[Bytes, Bytes]> {
  const temp = await hmac(ck, input);
  const first = await hmac(temp, Uint8Array.of(1));
  return [first, await hmac(temp, concat(first, Uint8Array.of(2)))];
}

async function hmac(key: Bytes, data: Bytes): Promise<Bytes> {
  const k = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", k, data));
}
