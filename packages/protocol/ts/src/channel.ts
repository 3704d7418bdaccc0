// The open channel: from messages to pieces to records, acknowledgements, and back.

import { type Bytes, concat } from "./base64.ts";
import { deflateRaw, inflateRaw } from "./deflate.ts";
import { type CipherState, TAG_LEN } from "./noise.ts";

/** Bytes of the largest record. */
export const MAX_RECORD = 65535;
/** Bytes of the largest message. */
export const MAX_MESSAGE = 16 * 1024 * 1024;
/** The most bytes of records that an end may have in flight: sent but not yet acknowledged. */
export const WINDOW = 512 * 1024;
/** Bytes of received records after which an end acknowledges, at the latest. */
export const ACK_EVERY = 128 * 1024;

const MAX_PLAIN = MAX_RECORD - TAG_LEN;
const COMPRESS_FROM = 1024;
const KIND_JSON = 0x01;
const KIND_DEFLATED = 0x02;
const KIND_CHUNK = 0x03;
const KIND_LAST = 0x04;
const KIND_ACK = 0x05;
const ACK_LEN = 8;

/**
 * Thrown when a record did not open. The channel is unusable: close it with seal_broken and
 * open a new one.
 */
export class SealBroken extends Error {
  override name = "SealBroken";
  constructor(options?: ErrorOptions) {
    super("seal broken: a record was dropped, repeated, reordered or forged", options);
  }
}

/** The plaintext of one record. */
export class Piece {
  readonly plain: Bytes;

  /** Created by split. */
  constructor(plain: Bytes) {
    this.plain = plain;
  }

  /** Bytes of the record that the piece is sealed into. */
  get recordLen(): number {
    return this.plain.length + TAG_LEN;
  }
}

/**
 * Splits one message into the pieces that are sealed and sent in order.
 * Acknowledgements may be sent between them, pieces of another message may not.
 * Rejects with a RangeError for a message over MAX_MESSAGE bytes.
 */
export async function split(message: Bytes): Promise<Piece[]> {
  if (message.length > MAX_MESSAGE) {
    throw new RangeError(`seal: message of ${message.length} bytes is over the limit of ${MAX_MESSAGE}`);
  }
  const plain = await pack(message);
  if (plain.length <= MAX_PLAIN) {
    return [new Piece(plain)];
  }
  const pieces: Piece[] = [];
  for (let at = 0; at < plain.length; at += MAX_PLAIN - 1) {
    const body = plain.subarray(at, at + MAX_PLAIN - 1);
    const kind = at + body.length === plain.length ? KIND_LAST : KIND_CHUNK;
    pieces.push(new Piece(concat(Uint8Array.of(kind), body)));
  }
  return pieces;
}

/**
 * An open sealed channel. Calls may overlap: each direction processes its calls in
 * order, and the promises settle in that order.
 */
export class Channel {
  readonly #send: CipherState;
  readonly #receive: CipherState;
  #sending: Promise<unknown> = Promise.resolve();
  #receiving: Promise<unknown> = Promise.resolve();
  #acked = 0n;
  #chunks: Bytes[] = [];
  #chunkBytes = 0;
  #chunked = false;
  #broken = false;

  /** Created by Handshake. */
  constructor(send: CipherState, receive: CipherState) {
    this.#send = send;
    this.#receive = receive;
  }

  /**
   * Bytes of records, excluding the handshake, that the other end has acknowledged. A
   * bigint, because the peer may send any number of 64 bits.
   */
  get acked(): bigint {
    return this.#acked;
  }

  /** Encrypts one message into one or more records, to be sent in order. */
  seal(message: Bytes): Promise<Bytes[]> {
    return this.#inTurn(async () => {
      const records: Bytes[] = [];
      for (const piece of await split(message)) {
        records.push(await this.#send.encrypt(piece.plain));
      }
      return records;
    });
  }

  /** Encrypts one piece. */
  sealPiece(piece: Piece): Promise<Bytes> {
    return this.#inTurn(() => this.#send.encrypt(piece.plain));
  }

  /**
   * Encrypts an acknowledgement: `received` is how many bytes of records, excluding
   * the handshake, this end has opened since the channel began.
   */
  sealAck(received: bigint): Promise<Bytes> {
    const plain = new Uint8Array(1 + ACK_LEN);
    plain[0] = KIND_ACK;
    new DataView(plain.buffer).setBigUint64(1, received);
    return this.#inTurn(() => this.#send.encrypt(plain));
  }

  /**
   * Decrypts the next record; null for an acknowledgement and for all but the last
   * chunk of a message. Any error is SealBroken and final.
   */
  open(record: Uint8Array): Promise<Bytes | null> {
    const run = this.#receiving.then(() => this.#openOrBreak(record));
    this.#receiving = run.catch(() => {});
    return run;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#sending.then(work);
    this.#sending = run.catch(() => {});
    return run;
  }

  async #openOrBreak(record: Uint8Array): Promise<Bytes | null> {
    if (this.#broken) {
      throw new SealBroken();
    }
    try {
      return await this.#open(record);
    } catch (cause) {
      this.#broken = true;
      this.#chunks = [];
      throw new SealBroken({ cause });
    }
  }

  async #open(record: Uint8Array): Promise<Bytes | null> {
    if (record.length > MAX_RECORD || record.length <= TAG_LEN) {
      throw new RangeError(`record of ${record.length} bytes`);
    }
    const plain = await this.#receive.decrypt(new Uint8Array(record));
    const kind = plain[0];
    if (kind === KIND_CHUNK || kind === KIND_LAST) {
      return this.#collect(kind, plain.subarray(1));
    }
    if (kind === KIND_ACK) {
      this.#takeAck(plain.subarray(1));
      return null;
    }
    if (this.#chunked) {
      throw new Error("a message inside a chunked message");
    }
    return unpack(plain);
  }

  // Acknowledgements never go backward.
  #takeAck(body: Bytes): void {
    if (body.length !== ACK_LEN) {
      throw new RangeError(`acknowledgement of ${body.length} bytes`);
    }
    const received = new DataView(body.buffer, body.byteOffset).getBigUint64(0);
    if (received < this.#acked) {
      throw new RangeError("an acknowledgement that goes backward");
    }
    this.#acked = received;
  }

  async #collect(kind: number, body: Bytes): Promise<Bytes | null> {
    if (this.#chunkBytes + body.length > MAX_MESSAGE + 1) {
      throw new RangeError("chunked message over the limit");
    }
    if (body.length > 0) {
      this.#chunks.push(body);
    }
    this.#chunkBytes += body.length;
    this.#chunked = true;
    if (kind === KIND_CHUNK) {
      return null;
    }
    const whole = concat(...this.#chunks);
    this.#chunks = [];
    this.#chunkBytes = 0;
    this.#chunked = false;
    return unpack(whole);
  }
}

async function pack(message: Bytes): Promise<Bytes> {
  if (message.length >= COMPRESS_FROM) {
    const small = await deflateRaw(message);
    if (small.length < message.length) {
      return concat(Uint8Array.of(KIND_DEFLATED), small);
    }
  }
  return concat(Uint8Array.of(KIND_JSON), message);
}

async function unpack(plain: Bytes): Promise<Bytes> {
  const body = plain.subarray(1);
  switch (plain[0]) {
    case KIND_JSON:
      return body;
    case KIND_DEFLATED:
      return inflateRaw(body, MAX_MESSAGE);
    default:
      throw new Error("unknown kind of message");
  }
}
