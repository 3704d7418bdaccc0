// The end-to-end channel between an entry and a host: messages in, records out,
// and back. A relay carries the records and cannot read them. The Go package
// seal is the same and holds the record format.

import { type Bytes, concat, utf8 } from './base64.ts';
import { deflateRaw, inflateRaw } from './deflate.ts';
import { type Identity, isId } from './ident.ts';
import {
  type CipherState,
  DH_LEN,
  type DhKeys,
  generateDh,
  SymmetricState,
  TAG_LEN,
} from './noise.ts';

/** Bytes of both handshake records. */
export const HANDSHAKE_LEN = 48;
/** Bytes of the largest record. */
export const MAX_RECORD = 65535;
/** Bytes of the largest message. */
export const MAX_MESSAGE = 16 * 1024 * 1024;

const MAX_PLAIN = MAX_RECORD - TAG_LEN;
const COMPRESS_FROM = 1024;
const KIND_JSON = 0x01;
const KIND_DEFLATED = 0x02;
const KIND_CHUNK = 0x03;
const KIND_LAST = 0x04;

/** A record did not open. The channel is dead: close it with seal_broken and open a new one. */
export class SealBroken extends Error {
  override name = 'SealBroken';
  constructor(options?: ErrorOptions) {
    super('seal broken: a record was dropped, repeated, reordered or forged', options);
  }
}

/** The pinned identity of the other end. */
export interface SealPeer {
  readonly id: string;
  readonly sealKey: Bytes;
}

/**
 * One end of a handshake. The client calls start and finish, the device answer.
 * Each is called once.
 */
export class Handshake {
  readonly #self: Identity;
  readonly #peer: SealPeer;
  readonly #initiator: boolean;
  readonly #ephemeral: () => Promise<DhKeys>;
  #state: SymmetricState | null = null;
  #e: DhKeys | null = null;

  /** `ephemeral` is set by tests only. Throws unless one is a device and the other a client. */
  constructor(self: Identity, peer: SealPeer, ephemeral: () => Promise<DhKeys> = generateDh) {
    this.#initiator = isId(self.id, 'cli');
    if (!isId(peer.id, this.#initiator ? 'dev' : 'cli') || !isId(self.id)) {
      throw new Error('seal: a channel runs between one device and one client');
    }
    this.#self = self;
    this.#peer = peer;
    this.#ephemeral = ephemeral;
  }

  /** The initiator's first record. */
  async start(): Promise<Bytes> {
    if (!this.#initiator || this.#e) {
      throw new Error('seal: only the client starts, and once');
    }
    const e = await this.#ephemeral();
    const s = await this.#begin();
    this.#e = e;
    this.#state = s;
    await s.mixHash(e.publicKey);
    await s.mixDh(e.privateKey, this.#peer.sealKey);
    await s.mixDh(this.#self.sealPrivate, this.#peer.sealKey);
    return concat(e.publicKey, await s.encryptAndHash(new Uint8Array(0)));
  }

  /** Takes the responder's record and opens the channel. */
  async finish(record: Uint8Array): Promise<Channel> {
    const s = this.#state;
    const e = this.#e;
    this.#state = null;
    if (!s || !e || record.length !== HANDSHAKE_LEN) {
      throw new SealBroken();
    }
    const re = new Uint8Array(record.subarray(0, DH_LEN));
    try {
      await s.mixHash(re);
      await s.mixDh(e.privateKey, re);
      await s.mixDh(this.#self.sealPrivate, re);
      await s.decryptAndHash(new Uint8Array(record.subarray(DH_LEN)));
    } catch (cause) {
      throw new SealBroken({ cause });
    }
    const [toResponder, fromResponder] = await s.split();
    return new Channel(toResponder, fromResponder);
  }

  /** Takes the initiator's record; returns the second record and the open channel. */
  async answer(record: Uint8Array): Promise<{ reply: Bytes; channel: Channel }> {
    if (this.#initiator || this.#e || record.length !== HANDSHAKE_LEN) {
      throw new SealBroken();
    }
    const e = await this.#ephemeral();
    const s = await this.#begin();
    this.#e = e;
    const re = new Uint8Array(record.subarray(0, DH_LEN));
    try {
      await s.mixHash(re);
      await s.mixDh(this.#self.sealPrivate, re);
      await s.mixDh(this.#self.sealPrivate, this.#peer.sealKey);
      await s.decryptAndHash(new Uint8Array(record.subarray(DH_LEN)));
      await s.mixHash(e.publicKey);
      await s.mixDh(e.privateKey, re);
      await s.mixDh(e.privateKey, this.#peer.sealKey);
    } catch (cause) {
      throw new SealBroken({ cause });
    }
    const reply = concat(e.publicKey, await s.encryptAndHash(new Uint8Array(0)));
    const [fromInitiator, toInitiator] = await s.split();
    return { reply, channel: new Channel(toInitiator, fromInitiator) };
  }

  async #begin(): Promise<SymmetricState> {
    const [client, device] = this.#initiator ? [this.#self, this.#peer] : [this.#peer, this.#self];
    const s = await SymmetricState.start(utf8(`scorel seal v1\0${device.id}\0${client.id}`));
    await s.mixHash(client.sealKey);
    await s.mixHash(device.sealKey);
    return s;
  }
}

/**
 * An open sealed channel. Calls may overlap: each direction works through its
 * calls one after the other, and the promises settle in that order.
 */
export class Channel {
  readonly #send: CipherState;
  readonly #receive: CipherState;
  #sending: Promise<unknown> = Promise.resolve();
  #receiving: Promise<unknown> = Promise.resolve();
  #chunks: Bytes[] = [];
  #chunkBytes = 0;
  #chunked = false;
  #broken = false;

  /** Made by Handshake. */
  constructor(send: CipherState, receive: CipherState) {
    this.#send = send;
    this.#receive = receive;
  }

  /** Encrypts one message into one or more records, to be sent in order. */
  seal(message: Bytes): Promise<Bytes[]> {
    if (message.length > MAX_MESSAGE) {
      return Promise.reject(
        new RangeError(
          `seal: message of ${message.length} bytes is over the limit of ${MAX_MESSAGE}`,
        ),
      );
    }
    const run = this.#sending.then(() => this.#seal(message));
    this.#sending = run.catch(() => {});
    return run;
  }

  /** Decrypts the next record; null while a chunked message is not complete. Any error is SealBroken and final. */
  open(record: Uint8Array): Promise<Bytes | null> {
    const run = this.#receiving.then(() => this.#openOrBreak(record));
    this.#receiving = run.catch(() => {});
    return run;
  }

  async #seal(message: Bytes): Promise<Bytes[]> {
    const plain = await pack(message);
    if (plain.length <= MAX_PLAIN) {
      return [await this.#send.encrypt(plain)];
    }
    const records: Bytes[] = [];
    for (let at = 0; at < plain.length; at += MAX_PLAIN - 1) {
      const body = plain.subarray(at, at + MAX_PLAIN - 1);
      const kind = at + body.length === plain.length ? KIND_LAST : KIND_CHUNK;
      records.push(await this.#send.encrypt(concat(Uint8Array.of(kind), body)));
    }
    return records;
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
    if (this.#chunked) {
      throw new Error('a message inside a chunked message');
    }
    return unpack(plain);
  }

  async #collect(kind: number, body: Bytes): Promise<Bytes | null> {
    if (this.#chunkBytes + body.length > MAX_MESSAGE + 1) {
      throw new RangeError('chunked message over the limit');
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
      throw new Error('unknown kind of message');
  }
}
