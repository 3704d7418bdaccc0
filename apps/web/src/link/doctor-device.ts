// The diagnosis steps for one device.

import { Handshake, type Identity, utf8 } from "@scorel/protocol";
import type { Frame, Peer } from "@scorel/protocol/wire";
import { StepFailure, type Verdict } from "../api/diagnosis";
import { t } from "../i18n/doctor";
import { number } from "../i18n/i18n";
import { RelayError } from "./asks";
import { channelFailure, type Line, readAnswer, sealFailure, within } from "./doctor-line";
import { matchesPin, type Pin } from "./pins";
import { Sealed } from "./sealed";

/** The parts of the connection that these steps use. */
export interface DeviceWay {
  identity: Identity;
  /** The timeout of one answer, in milliseconds. */
  patience: number;
  peers: readonly Peer[];
  ask(make: (requestId: string) => Frame): Promise<Frame>;
  send(frame: Frame): void;
  sendRecord(channel: number, payload: Uint8Array<ArrayBuffer>): void;
  line(channel: number): Line | undefined;
}

const REQUEST = "doctor";

/** The steps for one device. Each method is one step and requires the ones before it. */
export class DeviceDoctor {
  readonly #way: DeviceWay;
  readonly #pin: Pin;
  readonly #peer: Peer | undefined;
  readonly #unclaimed: boolean;
  #channel: number | null = null;
  #line: Line | undefined;
  #sealed: Sealed | null = null;

  /** `unclaimed` means that the relay was never notified of the pairing. */
  constructor(way: DeviceWay, pin: Pin, unclaimed = false) {
    this.#unclaimed = unclaimed;
    this.#way = way;
    this.#pin = pin;
    this.#peer = way.peers.find((each) => each.id === pin.id);
  }

  binding(): Verdict {
    if (!this.#peer) {
      throw new StepFailure(this.#unclaimed ? "binding_new" : "binding_missing", t("doctor.link.noPairing"));
    }
    if (!matchesPin(this.#pin, this.#peer)) {
      throw new StepFailure("binding_keys", t("doctor.link.differentKeys"));
    }
    return { detail: t("doctor.link.knownAs", { label: this.#peer.label }) };
  }

  presence(): Verdict {
    if (!this.#peer?.online) {
      throw new StepFailure("presence_offline", t("doctor.link.offline"));
    }
    return { detail: t("doctor.link.online") };
  }

  async channel(): Promise<Verdict> {
    const { id } = this.#pin;
    const opened = this.#way.ask((requestId) => ({ type: "open_channel", requestId, deviceId: id }));
    const late = new StepFailure("channel_failed", t("doctor.link.relaySilent"));
    const frame = await within(this.#way.patience, opened, late).catch((err: unknown) => {
      throw err instanceof RelayError ? channelFailure(err) : err;
    });
    if (frame.type !== "channel_opened" || frame.peerId !== id) {
      throw new StepFailure("channel_failed", t("doctor.link.otherChannel"));
    }
    this.#channel = frame.channel;
    this.#line = this.#way.line(frame.channel);
    return { detail: t("doctor.link.opened") };
  }

  async seal(): Promise<Verdict> {
    const { channel, line } = this.#open();
    const handshake = new Handshake(this.#way.identity, { id: this.#pin.id, sealKey: this.#pin.sealKey });
    this.#way.sendRecord(channel, await handshake.start());
    const late = new StepFailure("seal_silent", t("doctor.link.handshakeSilent"));
    try {
      const reply = await within(this.#way.patience, line.next(), late);
      this.#sealed = new Sealed(await handshake.finish(reply), (record) => this.#way.sendRecord(channel, record));
    } catch (err) {
      throw sealFailure(err);
    }
    return { detail: t("doctor.link.sealed") };
  }

  async api(): Promise<Verdict> {
    const { line } = this.#open();
    const sealed = this.#sealed;
    if (!sealed) {
      throw new StepFailure("seal_lost", t("doctor.link.notSealed"));
    }
    const start = performance.now();
    const late = new StepFailure("api_silent", t("doctor.link.hostSilent"));
    const answer = await sealed
      .send(utf8(JSON.stringify({ type: "get_host", requestId: REQUEST })))
      .then(() => within(this.#way.patience, readAnswer(line, sealed, REQUEST), late))
      .catch((err: unknown) => {
        throw sealFailure(err);
      });
    if (answer.type !== "response") {
      throw new StepFailure("api_refused", t("doctor.link.hostSays", { message: answer.message ?? "" }));
    }
    const time = number(Math.max(0.1, performance.now() - start), 1);
    const version = answer.result?.host?.version ?? "";
    const outages = answer.result?.host?.outages ?? [];
    if (outages.length === 0) {
      return { detail: t("doctor.link.roundTrip", { version, time }) };
    }
    const out = outages.map(({ provider, place, reason }) => t("doctor.link.outage", { provider, place, reason }));
    const detail = t("doctor.link.roundTripOutages", { version, time, outages: out.join("; ") });
    return { status: "warn", detail, finding: "api_store" };
  }

  /** Closes the channel, if one is open. */
  close(): void {
    this.#sealed?.end();
    if (this.#channel !== null) {
      this.#way.send({ type: "close_channel", channel: this.#channel, reason: "closed" });
    }
  }

  #open(): { channel: number; line: Line } {
    if (this.#channel === null || !this.#line) {
      throw new StepFailure("seal_lost", t("doctor.link.channelEnded"));
    }
    return { channel: this.#channel, line: this.#line };
  }
}
