// One running pairing, started or redeemed here. PairMachine implements the ceremony; this class transports its
// messages and reports its state.

import {
  type Code,
  CodeError,
  fromBase64,
  type Identity,
  newCode,
  PairError,
  PairMachine,
  parseCode,
  toBase64,
} from "@scorel/protocol";
import { type Frame, Kind, type PairJoined, type PairSession, type Peer } from "@scorel/protocol/wire";
import type { PairingState } from "../api/contract";
import { UnreachableError } from "../api/messages";
import { t } from "../i18n/pairing";
import { RelayError } from "./asks";
import type { DeviceBook } from "./devices";
import { pinOf } from "./pins";

/** The parts of the link that a pairing uses while it is online. */
export interface PairLink {
  readonly identity: Identity;
  readonly book: DeviceBook;
  /** The relay's address in the command that people type. */
  readonly relay: string;
  /** How far this browser's clock is ahead of the relay's, in milliseconds. */
  readonly skew: number;
  ask<T extends Frame>(make: (requestId: string) => Frame): Promise<T>;
  send(frame: Frame): void;
  /** Called when a device was added. */
  changed(): void;
}

export class PairingRun {
  readonly #publish: (state: PairingState) => void;
  readonly #redeem: boolean;
  #code: Code | null = null;
  #link: PairLink | null = null;
  #peer: Peer | null = null;
  #machine: PairMachine | null = null;
  #accepted = false;
  #inbox: Promise<void> = Promise.resolve();
  #expiry: ReturnType<typeof setTimeout> | undefined;
  /** Whether the pairing has ended. */
  over = false;

  /** `code` is null to start a pairing here. */
  constructor(code: string | null, publish: (state: PairingState) => void) {
    this.#publish = publish;
    this.#redeem = code !== null;
    publish({ step: "requesting" });
    try {
      this.#code = code === null ? null : parseCode(code);
    } catch (err) {
      this.#fail(messageOf(err), kindOf(err));
    }
  }

  /** Called once for every connection after its login. */
  online(link: PairLink): void {
    if (this.over) {
      return;
    }
    this.#link = link;
    if (this.#accepted) {
      this.#resume(link);
      return;
    }
    const begin = this.#redeem ? this.#redeemSlot(link) : this.#createSlot(link);
    begin.catch((err: unknown) => {
      // The next connection repeats the request.
      if (!(err instanceof UnreachableError)) {
        this.#fail(messageOf(err), kindOf(err));
      }
    });
  }

  /** Handles the loss of the connection, with which the relay burned the slot. */
  offline(): void {
    this.#link = null;
    clearTimeout(this.#expiry);
    if (this.over || this.#accepted) {
      return;
    }
    if (this.#peer) {
      this.#fail(t("pairing.run.lost"), UNREACHABLE);
    } else {
      this.#publish({ step: "requesting" });
    }
  }

  cancel(): void {
    this.#reject();
    this.#fail(t("pairing.run.canceled"));
  }

  /** Handles a frame of this pairing's slot. */
  onFrame(frame: Frame): void {
    if (this.over || !("slot" in frame) || frame.slot !== this.#code?.slot) {
      return;
    }
    // One at a time: the machine must exist before it gets the first message.
    this.#inbox = this.#inbox
      .then(() => this.#take(frame))
      .catch((err: unknown) => {
        this.#reject();
        this.#fail(messageOf(err), kindOf(err));
      });
  }

  async #createSlot(link: PairLink): Promise<void> {
    const session = await link.ask<PairSession>((requestId) => ({ type: "create_pair_session", requestId }));
    if (this.over) {
      link.send({ type: "pair_reject", slot: session.slot });
      return;
    }
    this.#code = newCode(session.slot);
    const code = this.#code.reveal();
    const expiresAt = session.expiresAt + link.skew;
    this.#expiry = setTimeout(() => this.#expire(), Math.max(0, expiresAt - Date.now()));
    this.#publish({ step: "showing", code, command: `scorel pair ${code} --relay ${link.relay}`, expiresAt });
  }

  async #redeemSlot(link: PairLink): Promise<void> {
    const slot = this.#code?.slot ?? "";
    // onFrame gets the answer too, in its place among the frames of the slot.
    await link.ask<PairJoined>((requestId) => ({ type: "redeem_pair", requestId, slot }));
  }

  async #take(frame: Frame): Promise<void> {
    if (this.over) {
      return;
    }
    switch (frame.type) {
      case "pair_joined":
        return this.#join(frame.peer);
      case "pair_message":
        return this.#converse(fromBase64(frame.body));
      case "pair_complete":
        return this.#complete(frame.peer);
      case "pair_closed":
        return this.#fail(closedSentence(frame.kind, this.#accepted), nameOf(frame.kind));
    }
  }

  async #join(peer: Peer): Promise<void> {
    const { identity } = this.#need();
    if (this.#peer || !this.#code) {
      throw new PairError("order");
    }
    clearTimeout(this.#expiry);
    this.#peer = peer;
    this.#publish({ step: "confirming", label: peer.label });
    this.#machine = await PairMachine.create({
      code: this.#code,
      self: identity,
      peer: pinOf("", peer, "pending"),
      creator: !this.#redeem,
    });
    this.#sendMessage(this.#machine.start());
  }

  async #converse(message: Uint8Array): Promise<void> {
    const machine = this.#machine;
    if (!machine) {
      throw new PairError("order");
    }
    const reply = await machine.handle(message);
    if (reply) {
      this.#sendMessage(reply);
    }
    if (machine.done && !this.over) {
      await this.#accept();
    }
  }

  async #accept(): Promise<void> {
    const { book } = this.#need();
    const peer = this.#provenPeer();
    // Stored before the relay is notified: a lost answer must not leave a binding whose keys are unknown here.
    await book.propose(pinOf(book.authority, peer, "pending"));
    this.#accepted = true;
    this.#need().send({ type: "pair_accept", slot: this.#code?.slot ?? "" });
    this.#publish({ step: "accepting", label: peer.label });
  }

  async #complete(named: Peer): Promise<void> {
    const { book, changed } = this.#need();
    const peer = this.#provenPeer();
    if (!this.#accepted || named.id !== peer.id) {
      throw new PairError("order");
    }
    await book.bind(pinOf(book.authority, peer, "bound"), named.online || book.isOnline(peer.id));
    changed();
    this.#finish({ step: "done", deviceId: peer.id, label: peer.label });
  }

  // Resumes after the connection was lost once this side had accepted: the welcome shows the result.
  #resume(link: PairLink): void {
    const peer = this.#provenPeer();
    if (link.book.usable(peer.id)) {
      this.#finish({ step: "done", deviceId: peer.id, label: peer.label });
    } else {
      this.#fail(t("pairing.run.lost"), UNREACHABLE);
    }
  }

  #provenPeer(): Peer {
    if (!this.#peer || !this.#machine?.done) {
      throw new PairError("order");
    }
    return this.#peer;
  }

  #need(): PairLink {
    if (!this.#link) {
      throw new UnreachableError(t("pairing.run.lost"));
    }
    return this.#link;
  }

  #sendMessage(body: Uint8Array): void {
    this.#link?.send({ type: "pair_message", slot: this.#code?.slot ?? "", body: toBase64(body) });
  }

  #expire(): void {
    this.#reject();
    this.#fail(t("pairing.run.expired"), nameOf(Kind.pair_unknown));
  }

  #reject(): void {
    if (!this.over && this.#code && (this.#peer || !this.#redeem)) {
      this.#link?.send({ type: "pair_reject", slot: this.#code.slot });
    }
  }

  /** Ends it. `kind` names the section of the troubleshooting page about it, if there is one. */
  #fail(message: string, kind?: string): void {
    const peer = this.#peer;
    if (this.#accepted && peer) {
      this.#link?.book.withdraw(peer.id).catch(() => {});
    }
    this.#finish({ step: "failed", message, ...(kind ? { kind } : {}) });
  }

  #finish(state: PairingState): void {
    if (this.over) {
      return;
    }
    this.over = true;
    clearTimeout(this.#expiry);
    this.#publish(state);
  }
}

function closedSentence(kind: number, accepted: boolean): string {
  switch (kind) {
    case Kind.pair_unknown:
      return t("pairing.run.expired");
    case Kind.bad_proof:
      return t("pairing.run.differentCodes");
    default:
      return accepted ? t("pairing.run.notAccepted") : t("pairing.run.canceledThere");
  }
}

/** The section about a lost connection. */
const UNREACHABLE = "unreachable";

/** Returns the name of a kind of error of the relay. */
function nameOf(kind: number): string {
  return Object.entries(Kind).find(([, number]) => number === kind)?.[0] ?? "unknown";
}

/** Returns the name of the kind of an error; undefined for one whose message is all there is to say. */
function kindOf(err: unknown): string | undefined {
  if (err instanceof RelayError) {
    return nameOf(err.kind);
  }
  return err instanceof PairError && err.why === "confirm" ? nameOf(Kind.bad_proof) : undefined;
}

function messageOf(err: unknown): string {
  if (err instanceof CodeError) {
    return t("pairing.run.notACode");
  }
  if (err instanceof PairError) {
    return err.why === "confirm" ? t("pairing.run.differentCodes") : t("pairing.run.canceledThere");
  }
  if (!(err instanceof RelayError)) {
    return err instanceof Error ? err.message : t("pairing.run.lost");
  }
  switch (err.kind) {
    case Kind.pair_unknown:
      return t("pairing.run.unknownCode");
    case Kind.pair_self:
      return t("pairing.run.madeByABrowser");
    case Kind.pair_busy:
      return t("pairing.run.inUse");
    case Kind.rate_limited:
      return t("pairing.run.tooManyAttempts");
    default:
      return err.message;
  }
}
