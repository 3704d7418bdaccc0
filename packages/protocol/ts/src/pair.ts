// The ceremony that introduces a device and a client to each other through a relay
// that neither trusts: bytes in, bytes out. It corresponds to the Go package pair,
// which documents the formulas.

import { type Bytes, concat, equalBytes, utf8 } from "./base64.ts";
import { isId, newId } from "./ident.ts";
import { CROCKFORD, SLOT_LEN, validSlot } from "./wire.ts";

const SECRET_LEN = 5;
const CODE_DIGITS = SLOT_LEN + 8;
const NONCE_LEN = 32;
const TAG_LEN = 32;
const ROUNDS = 600_000;
const DOMAIN = "scorel pair v1\0";
const MSG_NONCE = 0x01;
const MSG_TAG = 0x02;

/** The text is not a pairing code. */
export class CodeError extends Error {
  override name = "CodeError";
  constructor() {
    super("this is not a pairing code: it looks like 7K3M-9QXR-2BTD (digits and letters, no I, L, O or U)");
  }
}

/**
 * The ceremony failed: 'confirm' for a wrong code or a lying relay, 'order' for an
 * unexpected message.
 */
export class PairError extends Error {
  override name = "PairError";
  constructor(readonly why: "confirm" | "order") {
    super(
      why === "confirm"
        ? "the confirmation failed: the code was mistyped, or the connection between the two devices is intercepted"
        : "unexpected pairing message",
    );
  }
}

/** A slot that the relay knows and a secret of 5 bytes that it never sees. */
export class Code {
  readonly slot: string;
  readonly #secret: Bytes;

  constructor(slot: string, secret: Bytes) {
    if (!validSlot(slot) || secret.length !== SECRET_LEN) {
      throw new CodeError();
    }
    this.slot = slot;
    this.#secret = secret;
  }

  get secret(): Bytes {
    return this.#secret;
  }

  /** The code for a person to read or type: SSSS-XXXX-XXXX. */
  reveal(): string {
    let bits = this.#secret.reduce((n, b) => (n << 8n) | BigInt(b), 0n);
    let digits = "";
    for (let i = 0; i < 8; i++) {
      digits = CROCKFORD.charAt(Number(bits & 31n)) + digits;
      bits >>= 5n;
    }
    return `${this.slot}-${digits.slice(0, 4)}-${digits.slice(4)}`;
  }

  /** Hides the secret: a code in a log line or in JSON shows only its slot. */
  toString(): string {
    return `${this.slot}-****-****`;
  }

  toJSON(): string {
    return this.toString();
  }
}

/** Generates a secret for a slot that the relay assigned. */
export function newCode(slot: string): Code {
  return new Code(slot, crypto.getRandomValues(new Uint8Array(SECRET_LEN)));
}

/**
 * Parses a code as people type it: any case, with or without dashes and blanks, O for
 * 0, I and L for 1.
 */
export function parseCode(text: string): Code {
  let slot = "";
  let bits = 0n;
  let n = 0;
  for (const c of text) {
    if (c === "-" || c === " ") {
      continue;
    }
    const d = digitOf(c);
    if (d < 0 || n === CODE_DIGITS) {
      throw new CodeError();
    }
    if (n < SLOT_LEN) {
      slot += CROCKFORD.charAt(d);
    } else {
      bits = (bits << 5n) | BigInt(d);
    }
    n++;
  }
  if (n !== CODE_DIGITS) {
    throw new CodeError();
  }
  const secret = new Uint8Array(SECRET_LEN);
  for (let i = SECRET_LEN - 1; i >= 0; i--) {
    secret[i] = Number(bits & 255n);
    bits >>= 8n;
  }
  return new Code(slot, secret);
}

// Only ASCII letters are upper-cased: toUpperCase alone would also turn a dotless i
// into I.
function digitOf(c: string): number {
  const up = /^[a-z]$/.test(c) ? c.toUpperCase() : c;
  if (up === "O") {
    return 0;
  }
  return CROCKFORD.indexOf(up === "I" || up === "L" ? "1" : up);
}

/** One side: an id and the public keys that it commits to. */
export interface Party {
  readonly id: string;
  readonly signKey: Bytes;
  readonly sealKey: Bytes;
}

export interface PairConfig {
  readonly code: Code;
  readonly self: Party;
  readonly peer: Party;
  /** This side created the slot; the other redeemed it. */
  readonly creator: boolean;
  /** 32 bytes; only tests set it. */
  readonly nonce?: Bytes;
}

type State = "wantNonce" | "wantTag" | "done" | "failed";

/** One run of the ceremony. After an error it has failed permanently. */
export class PairMachine {
  readonly #cfg: PairConfig;
  readonly #nonce: Bytes;
  #key: CryptoKey | null = null;
  #state: State = "wantNonce";
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(cfg: PairConfig, nonce: Bytes) {
    this.#cfg = cfg;
    this.#nonce = nonce;
  }

  /** Checks that the two parties may pair and generates this side's nonce. */
  static async create(cfg: PairConfig): Promise<PairMachine> {
    for (const p of [cfg.self, cfg.peer]) {
      if (!isId(p.id) || (await newId(kindOf(p), p.signKey, p.sealKey)) !== p.id) {
        throw new Error("pair: an id does not match its keys");
      }
    }
    if (kindOf(cfg.self) === kindOf(cfg.peer)) {
      throw new Error("pair: a device pairs with a client, never with its own kind");
    }
    return new PairMachine(cfg, cfg.nonce ?? crypto.getRandomValues(new Uint8Array(NONCE_LEN)));
  }

  /** Whether the other side has proved that it knows the code. */
  get done(): boolean {
    return this.#state === "done";
  }

  /** The first message to send. */
  start(): Bytes {
    return concat(Uint8Array.of(MSG_NONCE), this.#nonce);
  }

  /**
   * Handles a message from the other side and returns the reply to send, or null.
   * Messages are handled in the order of the calls.
   */
  handle(message: Uint8Array): Promise<Bytes | null> {
    const run = this.#queue.then(() => this.#handle(message));
    this.#queue = run.catch(() => {
      this.#state = "failed";
      this.#key = null;
    });
    return run;
  }

  async #handle(message: Uint8Array): Promise<Bytes | null> {
    const body = new Uint8Array(message.subarray(1));
    if (this.#state === "wantNonce" && message[0] === MSG_NONCE && body.length === NONCE_LEN) {
      this.#key = await this.#deriveKey(body);
      this.#state = "wantTag";
      return this.#cfg.creator ? null : this.#ownTag(this.#key);
    }
    if (this.#state === "wantTag" && message[0] === MSG_TAG && body.length === TAG_LEN) {
      return this.#takeTag(body);
    }
    throw new PairError("order");
  }

  async #takeTag(tag: Bytes): Promise<Bytes | null> {
    const key = this.#key;
    if (!key || !equalBytes(tag, await tagFor(key, this.#cfg.peer))) {
      throw new PairError("confirm");
    }
    this.#state = "done";
    return this.#cfg.creator ? this.#ownTag(key) : null;
  }

  async #ownTag(key: CryptoKey): Promise<Bytes> {
    return concat(Uint8Array.of(MSG_TAG), await tagFor(key, this.#cfg.self));
  }

  async #deriveKey(peerNonce: Bytes): Promise<CryptoKey> {
    const salt = await this.#salt(peerNonce);
    const secret = await crypto.subtle.importKey("raw", this.#cfg.code.secret, "PBKDF2", false, ["deriveBits"]);
    const bits = await crypto.subtle.deriveBits(
      { name: "PBKDF2", hash: "SHA-256", salt, iterations: ROUNDS },
      secret,
      256,
    );
    return crypto.subtle.importKey("raw", bits, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  }

  // The transcript in an order that both sides share: device first.
  async #salt(peerNonce: Bytes): Promise<Bytes> {
    const { self, peer, code } = this.#cfg;
    const first = kindOf(self) === "dev";
    const [device, client] = first ? [self, peer] : [peer, self];
    const nonces = first ? [this.#nonce, peerNonce] : [peerNonce, this.#nonce];
    const transcript = concat(
      utf8(`${DOMAIN}${code.slot}\0${device.id}\0${client.id}\0`),
      device.signKey,
      device.sealKey,
      client.signKey,
      client.sealKey,
      ...nonces,
    );
    return new Uint8Array(await crypto.subtle.digest("SHA-256", transcript));
  }
}

function kindOf(p: Party): "dev" | "cli" {
  return p.id.startsWith("dev_") ? "dev" : "cli";
}

async function tagFor(key: CryptoKey, p: Party): Promise<Bytes> {
  const role = kindOf(p) === "dev" ? "device" : "client";
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, utf8(DOMAIN + role)));
}
