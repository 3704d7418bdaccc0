// One channel to a device over one connection: opening, handshake, messages and end.

import { type Bytes, Handshake, type Identity, SealBroken, utf8 } from "@scorel/protocol";
import { Kind, type Reason } from "@scorel/protocol/wire";
import { RelayError } from "./asks";
import type { Pin } from "./pins";
import { Sealed } from "./sealed";

/** The parts of the connection that a channel uses. */
export interface ChannelLink {
  openChannel(deviceId: string): Promise<number>;
  bindChannel(number: number, owner: Run): void;
  closeChannel(number: number, reason: Reason): void;
  sendRecord(number: number, payload: Bytes): void;
}

/** One path to a device that is open now. */
export interface Way {
  link: ChannelLink;
  pin: Pin;
}

/**
 * Why a channel ended: this browser is no longer bound, its access expired, the device is not connected, or any other
 * reason.
 */
export type RunEnd = "revoked" | "expired" | "offline" | "failed";

export interface RunHandler {
  onOpen(run: Run): void;
  /** Called with a whole message and its size. */
  onMessage(run: Run, message: unknown, bytes: number): void;
  /** Called when the channel ended without a call of `end`. */
  onEnd(run: Run, why: RunEnd): void;
}

export class Run {
  readonly way: Way;
  readonly #handler: RunHandler;
  readonly #handshake: Handshake;
  readonly #timer: ReturnType<typeof setTimeout>;
  #number: number | null = null;
  #sealed: Sealed | null = null;
  #inbox: Promise<void> = Promise.resolve();
  #over = false;
  #askedAt = 0;
  openedAt = 0;
  /** How long the device took to answer the handshake, in milliseconds. */
  rtt = 0;

  /** `patience` is the timeout for opening, in milliseconds. */
  constructor(way: Way, identity: Identity, patience: number, handler: RunHandler) {
    this.way = way;
    this.#handler = handler;
    this.#handshake = new Handshake(identity, { id: way.pin.id, sealKey: way.pin.sealKey });
    this.#timer = setTimeout(() => this.#fail("failed", "protocol"), patience);
    this.#begin().catch((err: unknown) => this.#refused(err));
  }

  get isOpen(): boolean {
    return this.#sealed !== null && !this.#over;
  }

  /** Sends a message. Rejects with a RangeError if it is too large. */
  async send(message: object): Promise<void> {
    await this.#sealed?.send(utf8(JSON.stringify(message)));
  }

  /** Ends the channel without calling the handler. */
  end(reason: Reason): void {
    if (this.#over) {
      return;
    }
    this.#over = true;
    this.#sealed?.end();
    clearTimeout(this.#timer);
    if (this.#number !== null) {
      this.way.link.closeChannel(this.#number, reason);
    }
  }

  take(payload: Bytes): void {
    this.#inbox = this.#inbox
      .then(() => this.#take(payload))
      .catch((err: unknown) => this.#fail("failed", err instanceof SealBroken ? "seal_broken" : "protocol"));
  }

  /** Handles a channel closed by the relay. Records received before are still processed. */
  closed(reason: Reason): void {
    this.#inbox = this.#inbox.then(() => {
      this.#number = null;
      const gone = reason === "revoked" || reason === "not_authorized";
      this.#fail(gone ? "revoked" : reason === "expired" ? reason : "failed", "closed");
    });
  }

  async #begin(): Promise<void> {
    const { link, pin } = this.way;
    const number = await link.openChannel(pin.id);
    if (this.#over) {
      link.closeChannel(number, "closed");
      return;
    }
    this.#number = number;
    link.bindChannel(number, this);
    const first = await this.#handshake.start();
    this.#askedAt = performance.now();
    link.sendRecord(number, first);
  }

  #refused(err: unknown): void {
    const kind = err instanceof RelayError ? err.kind : Kind.unknown;
    const why = kind === Kind.unauthorized ? "revoked" : kind === Kind.device_offline ? "offline" : "failed";
    this.#fail(why, "closed");
  }

  async #take(payload: Bytes): Promise<void> {
    if (this.#over) {
      return;
    }
    if (!this.#sealed) {
      await this.#takeHandshake(payload);
      return;
    }
    const message = await this.#sealed.take(payload);
    if (message && !this.#over) {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(message);
      this.#handler.onMessage(this, JSON.parse(text), message.length);
    }
  }

  async #takeHandshake(payload: Bytes): Promise<void> {
    this.rtt = performance.now() - this.#askedAt;
    const channel = await this.#handshake.finish(payload);
    const number = this.#number;
    if (this.#over || number === null) {
      return;
    }
    this.#sealed = new Sealed(channel, (record) => this.way.link.sendRecord(number, record));
    clearTimeout(this.#timer);
    this.openedAt = Date.now();
    this.#handler.onOpen(this);
  }

  #fail(why: RunEnd, reason: Reason): void {
    if (!this.#over) {
      this.end(reason);
      this.#handler.onEnd(this, why);
    }
  }
}
