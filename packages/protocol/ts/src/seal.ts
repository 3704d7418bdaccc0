// The end-to-end channel between an entry and a host: messages in, records out, and
// back. A relay carries the records and cannot read them. It corresponds to the Go
// package seal, which documents the record format. This file implements the
// handshake, channel.ts the open channel.

import { type Bytes, concat, utf8 } from "./base64.ts";
import { Channel, SealBroken } from "./channel.ts";
import { type Identity, isId } from "./ident.ts";
import { DH_LEN, type DhKeys, generateDh, SymmetricState } from "./noise.ts";

export * from "./channel.ts";

/** Bytes of both handshake records. */
export const HANDSHAKE_LEN = 48;

/** The pinned identity of the other end. */
export interface SealPeer {
  readonly id: string;
  readonly sealKey: Bytes;
}

/** One end of a handshake. The client calls start and finish, the device answer, each once. */
export class Handshake {
  readonly #self: Identity;
  readonly #peer: SealPeer;
  readonly #initiator: boolean;
  readonly #ephemeral: () => Promise<DhKeys>;
  #state: SymmetricState | null = null;
  #e: DhKeys | null = null;

  /**
   * `ephemeral` is set by tests only. Throws unless one party is a device and the
   * other a client.
   */
  constructor(self: Identity, peer: SealPeer, ephemeral: () => Promise<DhKeys> = generateDh) {
    this.#initiator = isId(self.id, "cli");
    if (!isId(peer.id, this.#initiator ? "dev" : "cli") || !isId(self.id)) {
      throw new Error("seal: a channel runs between one device and one client");
    }
    this.#self = self;
    this.#peer = peer;
    this.#ephemeral = ephemeral;
  }

  /** The initiator's first record. */
  async start(): Promise<Bytes> {
    if (!this.#initiator || this.#e) {
      throw new Error("seal: only the client starts, and once");
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

  /** Processes the responder's record and opens the channel. */
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

  /** Processes the initiator's record; returns the second record and the open channel. */
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
